//! Configuration of a store.

use std::sync::Arc;

use dormouse_base::{Clock, Dir};

use super::policy::Policy;
use crate::kind::Scope;

/// Finds secrets in a text.
pub type SecretScan = fn(&str) -> Vec<dormouse_secrets::SecretFinding>;

/// Whether the program maintains `MEMORY.md` (M-5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUpkeep {
    /// Keep one line for every memory.
    Keep,
    /// Write the index only where a change contains it.
    Leave,
}

/// The project whose files memories refer to (M-11).
#[derive(Debug, Clone)]
pub struct AnchoredProject {
    /// Root directory.
    pub root: Dir,
    /// Current commit.
    pub commit: Option<String>,
}

/// Configuration of a store.
#[derive(Clone)]
pub struct StoreOptions {
    /// Who the memories are for.
    pub scope: Scope,
    /// Top-level folders that belong to other stores, such as `team`.
    pub excluded_folders: Vec<String>,
    /// The write policy.
    pub policy: Policy,
    /// Whether `MEMORY.md` is maintained.
    pub index: IndexUpkeep,
    /// The project that memories may refer to.
    pub project: Option<AnchoredProject>,
    /// Finds secrets.
    pub secrets: SecretScan,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
}

impl StoreOptions {
    /// Default options for a scope.
    pub fn new(scope: Scope, secrets: SecretScan, clock: Arc<dyn Clock>) -> Self {
        let excluded_folders =
            if scope == Scope::Project { vec!["team".to_owned()] } else { Vec::new() };
        Self {
            scope,
            excluded_folders,
            policy: Policy::default(),
            index: IndexUpkeep::Keep,
            project: None,
            secrets,
            clock,
        }
    }
}
