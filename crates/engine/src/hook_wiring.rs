//! Connects a conversation with its hooks: who runs them, which models they ask, and how their output reaches the
//! model.

use std::sync::Arc;

use dormouse_context::{Fragment, HookContext};
use dormouse_conversation::RecallForm;
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::transcript::Transcript;
use dormouse_hooks::{
    HookEnvironment, HookNotice, HookRunner, HookRunnerParts, HookSession, HookSubagent,
    MemoryRecalledEvent, RecalledMemoryInput,
};
use futures_util::future::BoxFuture;

use crate::config::EngineConfig;
use crate::event::EngineEvent;
use crate::hook_model::EngineHookModel;
use crate::hook_servers::ServersOfHooks;
use crate::notice::EngineNotice;
use crate::recall::RecallReceipt;
use crate::session_messages::{IncomingMessage, IncomingMessageSource};
use crate::spending::SharedCost;

impl From<HookNotice> for EngineEvent {
    fn from(notice: HookNotice) -> Self {
        match notice {
            HookNotice::Text(text) => Self::Notice(text.into()),
            HookNotice::TerminalSequence(sequence) => Self::TerminalSequence(sequence),
        }
    }
}

impl IncomingMessageSource for HookRunner {
    fn take(&self) -> Vec<IncomingMessage> {
        let Some((id, notes)) = self.take_background_notes() else { return Vec::new() };
        let shown = EngineNotice::BackgroundHook;
        vec![IncomingMessage { id, block: HookContext { notes }.to_block(), shown: Some(shown) }]
    }

    fn under_way(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.wait_for_background_notes())
    }
}

/// The runner of a conversation's hooks and the model that they ask; `None` if neither it nor its skills have any.
pub(crate) fn hook_runner(
    config: &EngineConfig,
    transcript: &Transcript,
    figures: &SessionMetrics,
    spent: &SharedCost,
) -> Option<(Arc<HookRunner>, Arc<EngineHookModel>)> {
    if config.extensions.hooks.is_empty()
        && config.extensions.skills.all().all(|skill| skill.hooks.is_none())
    {
        return None;
    }
    let project = &config.project;
    let model = Arc::new(EngineHookModel::new(config, figures.clone(), spent.clone()));
    let parts = HookRunnerParts {
        session: hook_session(config, transcript),
        environment: HookEnvironment::new(
            &project.folder,
            &project.checkout,
            &config.tools.environment,
            config.tools.reaper.clone(),
        ),
        model: Arc::<EngineHookModel>::clone(&model),
        servers: config.extensions.servers.clone().map(|hub| Arc::new(ServersOfHooks(hub)) as _),
        tools: Arc::clone(&config.tools.set),
        gate: config.tools.gate.clone(),
        redactor: config.tools.redactor.clone(),
        ids: Arc::clone(&config.services.ids),
        background: config.extensions.background_hooks.clone(),
        deadlines: config.services.deadlines,
    };
    Some((Arc::new(HookRunner::new(Arc::clone(&config.extensions.hooks), parts)), model))
}

/// The session as hooks see it. A subagent's transcript is in the folder of its session.
fn hook_session(config: &EngineConfig, transcript: &Transcript) -> HookSession {
    let own_folder = transcript.session_folder().clone();
    let path = transcript.path().to_owned();
    match &config.subagent {
        None => {
            let id = transcript.session();
            HookSession { id, transcript: path, own_folder, subagent: None }
        }
        Some(side) => HookSession {
            id: side.session,
            transcript: side.session_folder.path().with_extension("jsonl"),
            own_folder,
            subagent: Some(HookSubagent {
                id: side.agent.to_string(),
                agent_type: side.agent_type.clone(),
                transcript: path,
            }),
        },
    }
}

/// Runs `MemoryRecalled` hooks if memories were attached.
pub(crate) fn notify_recall(hooks: &HookRunner, receipt: &RecallReceipt) {
    // Hooks are told of memories, not of lines that name them.
    let bodies = receipt.recalled.iter().filter(|memory| memory.form == RecallForm::Body);
    let memories = bodies.map(|memory| RecalledMemoryInput {
        memory: &memory.file,
        file_path: &memory.path,
        scope: &memory.scope,
        tokens: memory.tokens,
        why: &memory.why,
    });
    let memories: Vec<_> = memories.collect();
    if memories.is_empty() {
        return;
    }
    hooks.memory_recalled(&MemoryRecalledEvent {
        step: receipt.step.name(),
        query: &receipt.query,
        tokens: receipt.tokens(),
        considered: receipt.considered,
        memories,
    });
}
