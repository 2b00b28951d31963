//! Asking the user before a memory is changed (M-21), where a terminal or an editor is attached.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use dormouse_conversation::known_tools::{MEMORY_DELETE, MEMORY_SAVE};
use dormouse_memory::{Proposal, ProposedFile, Store};
use dormouse_tools::{ConfirmationReply, ConfirmationRequest, Confirmer, FileChangePreview, Grant};
use serde_json::value::RawValue;

/// The user's decision about a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChangeDecision {
    Accept,
    Reject { reason: Option<String> },
}

/// Asks about changes, until the user accepts all of this session.
#[derive(Default)]
pub(super) struct ChangeConfirmation {
    confirmer: OnceLock<Arc<dyn Confirmer>>,
    accept_all: AtomicBool,
}

impl ChangeConfirmation {
    /// Only the first confirmer counts.
    pub(super) fn set_confirmer(&self, confirmer: Arc<dyn Confirmer>) {
        self.confirmer.get_or_init(|| confirmer);
    }

    /// A new session: the user has accepted nothing in advance.
    pub(super) fn reset(&self) {
        self.accept_all.store(false, Ordering::Relaxed);
    }

    /// Asks, and blocks until the answer comes. None if there is no way to ask.
    pub(super) fn decide(&self, store: &Store, proposal: &Proposal) -> Option<ChangeDecision> {
        if self.accept_all.load(Ordering::Relaxed) {
            return Some(ChangeDecision::Accept);
        }
        let confirmer = self.confirmer.get()?;
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        for file in &proposal.files {
            match runtime.block_on(confirmer.ask(question(store, proposal, file))) {
                ConfirmationReply::Once | ConfirmationReply::Rule(_) => {}
                ConfirmationReply::Always => {
                    self.accept_all.store(true, Ordering::Relaxed);
                    break;
                }
                ConfirmationReply::No { said } => {
                    return Some(ChangeDecision::Reject { reason: said });
                }
            }
        }
        Some(ChangeDecision::Accept)
    }
}

fn question(store: &Store, proposal: &Proposal, file: &ProposedFile) -> ConfirmationRequest {
    let path = store.dir().path().join(file.file.as_str());
    let tool = if file.after.is_some() { MEMORY_SAVE.name } else { MEMORY_DELETE.name };
    let (scope, reason) = (store.scope(), &proposal.by.reason);
    let why = if proposal.by.is_concluded() {
        format!("the model concluded this; no message of yours says it ({reason})")
    } else {
        format!("your settings ask for confirmation before {scope} memory is changed ({reason})")
    };
    ConfirmationRequest {
        call: None,
        tool: tool.to_owned(),
        input: file_input(&path.display().to_string()),
        why,
        change: Some(FileChangePreview {
            path,
            before: file.before.clone().unwrap_or_default(),
            after: file.after.clone().unwrap_or_default(),
        }),
        grant: Grant::MemoryChanges,
    }
}

/// The arguments of a tool call that names this file.
fn file_input(path: &str) -> Box<RawValue> {
    let input = serde_json::json!({ "file_path": path }).to_string();
    RawValue::from_string(input).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
