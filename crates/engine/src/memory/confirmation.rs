//! Asking about a change of memory before it is made (M-21), where somebody is there to be asked.

use std::sync::Arc;

use dormouse_memory::{Proposal, ProposedFile, Store};
use dormouse_tools::{Asker, FileChange, Question, Reply};
use serde_json::value::RawValue;

/// What the person says to a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChangeDecision {
    /// It is to be made.
    Make,
    /// So are the others of this session.
    MakeAll,
    /// It is not.
    Refuse {
        /// What the model is told besides.
        said: Option<String>,
    },
}

/// Asks, and waits. Called where blocking is no harm; without a runtime around it nobody can be asked.
pub(super) fn ask(
    asker: &Arc<dyn Asker>,
    store: &Store,
    proposal: &Proposal,
) -> Option<ChangeDecision> {
    let runtime = tokio::runtime::Handle::try_current().ok()?;
    for file in &proposal.files {
        match runtime.block_on(asker.ask(question(store, proposal, file))) {
            Reply::Once => {}
            Reply::Always => return Some(ChangeDecision::MakeAll),
            Reply::No { said } => return Some(ChangeDecision::Refuse { said }),
        }
    }
    Some(ChangeDecision::Make)
}

fn question(store: &Store, proposal: &Proposal, file: &ProposedFile) -> Question {
    let path = store.dir().path().join(file.file.as_str());
    let tool = if file.after.is_some() { "MemorySave" } else { "MemoryDelete" };
    let why = format!(
        "you want to be asked before {} memory is changed ({})",
        store.scope(),
        proposal.by.reason
    );
    Question {
        tool: tool.to_owned(),
        input: named(&path.display().to_string()),
        why,
        change: Some(FileChange {
            path,
            before: file.before.clone().unwrap_or_default(),
            after: file.after.clone().unwrap_or_default(),
        }),
        rule: "changes of memory in this session".to_owned(),
    }
}

/// The file, as arguments of a call name it.
fn named(path: &str) -> Box<RawValue> {
    let input = serde_json::json!({ "file_path": path }).to_string();
    RawValue::from_string(input).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
