//! What a fork may call (B-3): reading as the parent may, and writing only where it is allowed to.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use dormouse_permissions::{Access, PermissionGate, PermissionMode};
use dormouse_tools::{FileGuard, FileRoute, Tool};
use serde_json::value::RawValue;

/// Where a fork may write with Write and Edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    /// Nowhere.
    Nowhere,
    /// This file.
    File(PathBuf),
    /// In this folder, and in those below it.
    Below(PathBuf),
}

impl Writes {
    /// Whether this path, unresolved, may be written.
    fn covers(&self, path: &Path) -> bool {
        if path.components().any(|part| part == Component::ParentDir) {
            return false;
        }
        match self {
            Self::Nowhere => false,
            Self::File(file) => path == file,
            Self::Below(folder) => path.starts_with(folder) && path != folder,
        }
    }
}

/// The gate of a fork. The tools stay defined, or the prefix would differ; most of them are denied.
#[derive(Debug, Clone)]
pub struct ForkGate {
    /// Whether it may read and search at all.
    pub reads: bool,
    /// Where it may write.
    pub writes: Writes,
    /// Further tools that it may call, by name: they check permissions themselves.
    pub tools: &'static [&'static str],
}

/// Why a fork may not make a call, in words for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForkDenial {
    #[error(
        "{tool} may not be called here, and no other tool either: answer in text, with what you know already"
    )]
    NoTools { tool: String },
    #[error("{tool} may not be called here: this is work beside the conversation. {offers}")]
    Tool { tool: String, offers: String },
    #[error("{} may not be written here. {offers}", path.display())]
    Path { path: PathBuf, offers: String },
}

impl ForkGate {
    /// Denies every call: the fork only answers.
    pub fn nothing() -> Self {
        Self { reads: false, writes: Writes::Nowhere, tools: &[] }
    }

    /// The gate that a call goes through, or why it may not run.
    pub(super) fn admit(
        &self,
        tool: &dyn Tool,
        input: &RawValue,
        folder: &Path,
        parent: &PermissionGate,
    ) -> Result<PermissionGate, ForkDenial> {
        let name = tool.name();
        if self.tools.contains(&name) {
            return Ok(parent.detached(PermissionMode::Bypass));
        }
        // They only read but change the parent: a skill adds its rules to the parent's gate, subagents report to it.
        if tool.spec().traits.session_bound {
            return Err(self.deny_tool(name));
        }
        match tool.access(input, folder) {
            Access::Writes(path) if self.writes != Writes::Nowhere => {
                if !self.writes.covers(&path) {
                    return Err(ForkDenial::Path { path, offers: self.offers() });
                }
                Ok(parent.detached(PermissionMode::Bypass))
            }
            // Plan mode allows what only reads, and nothing else.
            Access::Reads | Access::Runs(_) if self.reads => {
                Ok(parent.detached(PermissionMode::Plan))
            }
            Access::Writes(_)
            | Access::Reads
            | Access::Runs(_)
            | Access::Fetches(_)
            | Access::Internal(_)
            | Access::Other => Err(self.deny_tool(name)),
        }
    }

    fn deny_tool(&self, tool: &str) -> ForkDenial {
        let tool = tool.to_owned();
        if !self.reads && self.writes == Writes::Nowhere && self.tools.is_empty() {
            return ForkDenial::NoTools { tool };
        }
        ForkDenial::Tool { tool, offers: self.offers() }
    }

    /// What it may do instead.
    fn offers(&self) -> String {
        let mut offers = Vec::new();
        if self.reads {
            offers.push("read and search (commands that only read, too)".to_owned());
        }
        match &self.writes {
            Writes::Nowhere => {}
            Writes::File(file) => offers.push(format!("change the file {}", file.display())),
            Writes::Below(folder) => offers.push(format!("write files in {}", folder.display())),
        }
        if !self.tools.is_empty() {
            offers.push(format!("call {}", self.tools.join(", ")));
        }
        format!("You can {}", offers.join("; "))
    }
}

/// Checks the resolved path when a file is about to be written, so that a link made in the meantime does not get around
/// the gate.
pub(super) struct ForkGuard {
    pub(super) writes: Writes,
    pub(super) parent: Option<Arc<dyn FileGuard>>,
}

impl FileGuard for ForkGuard {
    fn route(&self, path: &Path) -> FileRoute {
        if !self.writes.covers(path) {
            return FileRoute::Refused(format!(
                "{} may not be written by work beside the conversation",
                path.display()
            ));
        }
        match &self.parent {
            Some(parent) => parent.route(path),
            None => FileRoute::Plain,
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
