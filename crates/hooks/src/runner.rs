//! One method per event: what the engine calls when something happens.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::SettingsSource;
use dormouse_conversation::Effort;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_instructions::InstructionFile;

use crate::config::Hooks;
use crate::dispatch::{HookDispatcher, HookRunnerParts, HookVerdict, lock};
use crate::event::HookEvent;
use crate::input::{
    BatchCall, DreamEndEvent, EventInput, MemoryRecalledEvent, MemorySavedEvent, PromptExpansion,
    PromptSource, SessionEndReason, SessionSource, SetupTrigger, TeamSyncedEvent,
};
use crate::origin::HookLayer;
use crate::pending::HookNotice;
use crate::watch::source_name;

/// Runs the hooks of one conversation. A hook that fails, hangs or prints garbage never fails a turn; the user gets a
/// notice.
#[derive(Debug)]
pub struct HookRunner {
    pub(crate) dispatcher: HookDispatcher,
}

impl HookRunner {
    /// A runner for these hooks.
    pub fn new(hooks: Arc<Hooks>, parts: HookRunnerParts) -> Self {
        Self { dispatcher: HookDispatcher::new(hooks, parts) }
    }

    /// Whether the conversation is a subagent's.
    pub fn is_subagent(&self) -> bool {
        self.dispatcher.session.subagent.is_some()
    }

    /// The hooks that currently apply: the configured ones and those of skills in use.
    pub fn hooks(&self) -> Arc<Hooks> {
        self.dispatcher.hooks()
    }

    /// Adds the hooks of a skill until [`Self::remove_skill_hooks`].
    pub fn add_skill_hooks(&self, layer: HookLayer) {
        self.dispatcher.add_skill_hooks(layer);
    }

    /// Removes the hooks of all skills.
    pub fn remove_skill_hooks(&self) {
        self.dispatcher.remove_skill_hooks();
    }

    /// Waits for `work` and passes on the notices of hooks meanwhile.
    pub async fn run_with_notices<T, E: From<HookNotice>>(
        &self,
        work: impl Future<Output = T>,
        sink: &mut (dyn FnMut(E) + Send),
    ) -> T {
        let mut work = std::pin::pin!(work);
        let output = loop {
            tokio::select! {
                biased;
                output = &mut work => break output,
                () = self.notice_ready() => self.pass_on_notices(sink),
            }
        };
        self.pass_on_notices(sink);
        output
    }

    fn pass_on_notices<E: From<HookNotice>>(&self, sink: &mut (dyn FnMut(E) + Send)) {
        self.take_notices().into_iter().for_each(|notice| sink(notice.into()));
    }

    /// Waits until there is a notice for the user.
    pub async fn notice_ready(&self) {
        self.dispatcher.pending.notice_ready().await;
    }

    /// The notices for the user since the last call.
    pub fn take_notices(&self) -> Vec<HookNotice> {
        self.dispatcher.pending.take_notices()
    }

    /// Output of background hooks for the model since the last call, with an id; `None` if there is none.
    pub fn take_background_notes(&self) -> Option<(String, Vec<String>)> {
        self.dispatcher.pending.take_notes()
    }

    /// Waits while a background hook runs that may wake the model and nothing has arrived yet.
    pub async fn wait_for_background_notes(&self) {
        self.dispatcher.pending.wait_for_notes().await;
    }

    /// `SessionStart`, or `SubagentStart` for a subagent.
    pub async fn session_start(&self, source: SessionSource, model: &str) -> HookVerdict {
        let mut verdict = match (&self.dispatcher.session.subagent, source) {
            (None, source) => {
                let details = EventInput::Start { source, model };
                self.dispatcher.fire(HookEvent::SessionStart, details).await
            }
            (Some(subagent), SessionSource::Startup | SessionSource::Resume) => {
                let details = EventInput::SubagentStart { agent_type: &subagent.agent_type };
                self.dispatcher.fire(HookEvent::SubagentStart, details).await
            }
            (Some(_), SessionSource::Clear | SessionSource::Compact) => HookVerdict::default(),
        };
        let messages = std::mem::take(&mut verdict.initial_messages);
        verdict.notes.extend(messages.into_iter().map(|text| {
            format!("The session is to begin with this, as if the user had said it:\n{text}")
        }));
        verdict
    }

    /// `SessionEnd`, with one timeout for all of its hooks and for those that run in the background, of subagents too. Those
    /// that take longer are stopped, and the user is told which. Not for subagents.
    pub async fn session_end(&self, reason: SessionEndReason) {
        if self.is_subagent() {
            return;
        }
        let hooks = self.hooks();
        let set = hooks.of(HookEvent::SessionEnd).filter(|hook| hook.handler.timeout_is_set);
        let longest = set.map(|hook| hook.handler.timeout).max();
        let end_hooks = async {
            self.dispatcher.fire(HookEvent::SessionEnd, EventInput::End { reason }).await;
        };
        let HookDispatcher { background, deadlines, .. } = &self.dispatcher;
        if let Some(late) = background.finish(deadlines.end_hooks, longest, end_hooks).await {
            self.dispatcher.notice(late);
        }
    }

    /// `PreCompact`: why the compaction is blocked, if it is.
    pub async fn before_compaction(
        &self,
        trigger: CompactionTrigger,
        custom_instructions: Option<&str>,
    ) -> Option<String> {
        let details = EventInput::PreCompact { trigger, custom_instructions };
        self.dispatcher.fire(HookEvent::PreCompact, details).await.block
    }

    /// `PostCompact`.
    pub async fn after_compaction(&self, trigger: CompactionTrigger, compact_summary: &str) {
        let details = EventInput::PostCompact { trigger, compact_summary };
        self.dispatcher.fire(HookEvent::PostCompact, details).await;
    }

    /// The user has sent a prompt, which has an id from here on; the model is to think this hard.
    pub fn begin_prompt(&self, effort: Option<Effort>) {
        self.dispatcher.begin_prompt(effort);
    }

    /// `UserPromptSubmit`.
    pub async fn user_prompt(&self, prompt: &str, source: PromptSource) -> HookVerdict {
        let details = EventInput::Prompt { prompt, source };
        self.dispatcher.fire(HookEvent::UserPromptSubmit, details).await
    }

    /// `UserPromptExpansion`: the user has called something with `/name`.
    pub async fn prompt_expansion(&self, expansion: PromptExpansion<'_>) -> HookVerdict {
        let details = EventInput::Expansion(expansion);
        self.dispatcher.fire(HookEvent::UserPromptExpansion, details).await
    }

    /// `Stop`, or `SubagentStop` for a subagent. `stop_hook_active`: an earlier `Stop` hook kept the model going.
    pub async fn stop(&self, last_assistant_message: &str, stop_hook_active: bool) -> HookVerdict {
        match &self.dispatcher.session.subagent {
            None => {
                let details = EventInput::Stop { stop_hook_active, last_assistant_message };
                self.dispatcher.fire(HookEvent::Stop, details).await
            }
            Some(subagent) => {
                let details = EventInput::SubagentStop {
                    agent_type: &subagent.agent_type,
                    stop_hook_active,
                    agent_transcript_path: &subagent.transcript,
                    last_assistant_message,
                };
                self.dispatcher.fire(HookEvent::SubagentStop, details).await
            }
        }
    }

    /// `StopFailure`: the request to the model failed.
    pub async fn stop_failure(&self, error: &str) {
        self.dispatcher.fire(HookEvent::StopFailure, EventInput::StopFailure { error }).await;
    }

    /// `PostToolBatch`: all calls of a response have their results.
    pub async fn tool_batch(&self, tool_calls: &[BatchCall<'_>]) -> HookVerdict {
        self.dispatcher.fire(HookEvent::PostToolBatch, EventInput::Batch { tool_calls }).await
    }

    /// `InstructionsLoaded`, in the background.
    pub fn instructions_loaded(&self, loaded: &[InstructionFile]) {
        for file in loaded {
            let details = EventInput::Instructions {
                file_path: &file.path,
                memory_type: file.kind.as_str(),
                load_reason: file.reason.as_str(),
                globs: &file.globs,
                trigger_file_path: file.trigger.as_deref(),
                parent_file_path: file.parent.as_deref(),
            };
            self.dispatcher.fire_in_background(HookEvent::InstructionsLoaded, &details);
        }
    }

    /// `ConfigChange` for each settings file that has changed on disk. The running session keeps its settings.
    pub async fn check_settings(&self) {
        if self.is_subagent() {
            return;
        }
        let changed = lock(&self.dispatcher.watch).settings_changed();
        for (source, path) in changed {
            let details = EventInput::Config { source: source_name(source), file_path: &path };
            let verdict = self.dispatcher.fire(HookEvent::ConfigChange, details).await;
            if let Some(reason) = verdict.block.filter(|_| source != SettingsSource::Managed) {
                let path = path.display();
                self.dispatcher.notice(format!("a hook rejects the change of {path}: {reason}"));
            }
        }
    }

    /// `FileChanged` for each watched file that has changed, in the background.
    pub fn check_files(&self) {
        if self.is_subagent() {
            return;
        }
        let changed = lock(&self.dispatcher.watch).files_changed();
        for file in changed {
            let details = EventInput::File { file_path: &file.path, event: file.event };
            self.dispatcher.fire_in_background(HookEvent::FileChanged, &details);
        }
    }

    /// `CwdChanged`: the session continues in another folder. Returns text for the model.
    pub async fn cwd_changed(&self, old_cwd: &str, new_cwd: &Path) -> Vec<String> {
        let details = EventInput::Cwd { old_cwd, new_cwd };
        self.dispatcher.fire(HookEvent::CwdChanged, details).await.notes
    }

    /// `MemorySaved`, in the background.
    pub fn memory_saved(&self, event: &MemorySavedEvent<'_>) {
        self.dispatcher.fire_in_background(HookEvent::MemorySaved, &EventInput::Saved(event));
    }

    /// `MemoryRecalled`, in the background.
    pub fn memory_recalled(&self, event: &MemoryRecalledEvent<'_>) {
        self.dispatcher.fire_in_background(HookEvent::MemoryRecalled, &EventInput::Recalled(event));
    }

    /// `Setup`: the program was started with `--init` or `--maintenance`.
    pub async fn setup(&self, trigger: SetupTrigger) -> HookVerdict {
        self.dispatcher.fire(HookEvent::Setup, EventInput::Setup { trigger }).await
    }

    pub(crate) async fn dream_start(&self, dream_id: &str, sessions: usize, scopes: &[String]) {
        let details = EventInput::DreamStart { dream_id, sessions, scopes };
        self.dispatcher.fire(HookEvent::DreamStart, details).await;
    }

    pub(crate) fn team_synced(&self, event: &TeamSyncedEvent) {
        self.dispatcher.fire_in_background(HookEvent::TeamSynced, &EventInput::Synced(event));
    }

    pub(crate) async fn dream_end(&self, event: &DreamEndEvent<'_>) {
        self.dispatcher.fire(HookEvent::DreamEnd, EventInput::DreamEnd(event)).await;
    }

    pub(crate) fn dream_end_in_background(&self, event: &DreamEndEvent<'_>) {
        // While the program is ending there is no runtime left.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.dispatcher.fire_in_background(HookEvent::DreamEnd, &EventInput::DreamEnd(event));
        }
    }
}
