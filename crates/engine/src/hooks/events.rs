//! The events, one method each: what the engine calls when something happens.

use std::path::Path;
use std::time::Duration;

use dormouse_base::SettingsSource;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_instructions::InstructionFile;
use serde_json::value::RawValue;

use super::bell::DreamNews;
use super::input::{BatchCall, Details, RecalledView, SavedMemory};
use super::runner::{HookRunner, Verdict, locked};
use super::watch::source_name;
use super::{HookEvent, SessionEndReason, SessionSource, SetupTrigger};
use crate::recall::{RecallReceipt, RecallStep};
use crate::{EngineEvent, MessageSource};

/// All that hooks get when the program is about to end.
const END_PATIENCE: Duration = Duration::from_millis(1_500);
/// The most that they can be given by their own settings.
const LONGEST_END: Duration = Duration::from_mins(1);

/// What a memory was written by, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saved<'a> {
    pub(crate) scope: &'a str,
    pub(crate) author: &'a str,
    pub(crate) memories: &'a [SavedMemory],
    pub(crate) proposal: Option<&'a str>,
}

impl HookRunner {
    /// Waits for hooks; what they have to say to the person is passed on meanwhile.
    pub(crate) async fn heard<T>(
        &self,
        work: impl Future<Output = T>,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> T {
        let mut work = std::pin::pin!(work);
        let done = loop {
            tokio::select! {
                biased;
                done = &mut work => break done,
                () = self.late.noticed() => self.pass_on(sink),
            }
        };
        self.pass_on(sink);
        done
    }

    /// Shows the person what hooks have said.
    pub(crate) fn pass_on(&self, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        self.take_notices().into_iter().for_each(|said| sink(EngineEvent::Notice(said)));
    }

    /// Waits until hooks have something to say to the person.
    pub(crate) async fn noticed(&self) {
        self.late.noticed().await;
    }

    /// What hooks that ran beside have to say to the model.
    pub(crate) fn incoming(&self) -> &dyn MessageSource {
        &*self.late
    }

    /// The session begins or goes on; of an agent's, that it begins.
    pub(crate) async fn session_start(&self, source: SessionSource, model: &str) -> Verdict {
        let mut verdict = match (&self.session.agent, source) {
            (None, source) => {
                self.fire(HookEvent::SessionStart, Details::Start { source, model }).await
            }
            (Some(agent), SessionSource::Startup | SessionSource::Resume) => {
                let details = Details::SubagentStart { kind: &agent.kind };
                self.fire(HookEvent::SubagentStart, details).await
            }
            (Some(_), SessionSource::Clear | SessionSource::Compact) => Verdict::default(),
        };
        let opening = std::mem::take(&mut verdict.opening);
        verdict.notes.extend(opening.into_iter().map(|text| {
            format!("The session is to begin with this, as if the person had said it:\n{text}")
        }));
        verdict
    }

    /// At the end there is little time for all of them together.
    pub(crate) async fn session_end(&self, reason: SessionEndReason) {
        // An agent's end is no session's.
        if self.session.agent.is_some() {
            return;
        }
        let mut beside = std::mem::take(&mut *locked(&self.beside));
        let all = async {
            self.fire(HookEvent::SessionEnd, Details::End { reason }).await;
            while beside.join_next().await.is_some() {}
        };
        if tokio::time::timeout(self.end_patience(), all).await.is_err() {
            self.note("hooks took too long at the end of the session and were ended".to_owned());
        }
    }

    /// An agent is done, and its conversation may be gone in a snapshot: those beside it get a little time to end.
    pub(crate) async fn agent_is_done(&self) {
        if !self.is_of_agent() {
            return;
        }
        let mut beside = std::mem::take(&mut *locked(&self.beside));
        let all = async { while beside.join_next().await.is_some() {} };
        let ended = tokio::time::timeout(END_PATIENCE, all).await;
        if ended.is_err() {
            *locked(&self.beside) = beside;
        }
    }

    /// A hook that says how long it takes is given that long.
    fn end_patience(&self) -> Duration {
        let hooks = self.hooks();
        let set = hooks.of(HookEvent::SessionEnd).filter(|hook| hook.handler.timeout_is_set);
        let longest = set.map(|hook| hook.handler.timeout).max().unwrap_or_default();
        longest.clamp(END_PATIENCE, LONGEST_END)
    }

    /// Why a compaction is not to be, if a hook says so.
    pub(crate) async fn before_compaction(
        &self,
        trigger: CompactionTrigger,
        custom_instructions: Option<&str>,
    ) -> Option<String> {
        let details = Details::PreCompact { trigger, custom_instructions };
        self.fire(HookEvent::PreCompact, details).await.block
    }

    pub(crate) async fn after_compaction(&self, trigger: CompactionTrigger, compact_summary: &str) {
        let details = Details::PostCompact { trigger, compact_summary };
        self.fire(HookEvent::PostCompact, details).await;
    }

    pub(crate) async fn prompt(&self, prompt: &str) -> Verdict {
        self.late.person_speaks();
        self.fire(HookEvent::UserPromptSubmit, Details::Prompt { prompt }).await
    }

    /// The person has called a skill.
    pub(crate) async fn expansion(
        &self,
        (command_name, command_args): (&str, &str),
        command_source: &'static str,
        prompt: &str,
    ) -> Verdict {
        let expansion_type = "slash_command";
        let details = Details::Expansion {
            expansion_type,
            command_name,
            command_args,
            command_source,
            prompt,
        };
        self.fire(HookEvent::UserPromptExpansion, details).await
    }

    /// The model is done.
    pub(crate) async fn stop(&self, last_assistant_message: &str, again: bool) -> Verdict {
        let stop_hook_active = again;
        match &self.session.agent {
            None => {
                let details = Details::Stop { stop_hook_active, last_assistant_message };
                self.fire(HookEvent::Stop, details).await
            }
            Some(agent) => {
                let details = Details::SubagentStop {
                    kind: &agent.kind,
                    stop_hook_active,
                    agent_transcript_path: &agent.transcript,
                    last_assistant_message,
                };
                self.fire(HookEvent::SubagentStop, details).await
            }
        }
    }

    pub(crate) async fn stop_failure(&self, error: &str) {
        self.fire(HookEvent::StopFailure, Details::StopFailure { error }).await;
    }

    /// All calls of an answer have their results.
    pub(crate) async fn batch(&self, tool_calls: &[BatchCall<'_>]) -> Verdict {
        self.fire(HookEvent::PostToolBatch, Details::Batch { tool_calls }).await
    }

    /// Instruction files were loaded: told, not waited for.
    pub(crate) fn instructions(&self, loaded: &[InstructionFile]) {
        for file in loaded {
            let details = Details::Instructions {
                file_path: &file.path,
                memory_type: file.kind.as_str(),
                load_reason: file.reason.as_str(),
                globs: &file.globs,
                trigger_file_path: file.trigger.as_deref(),
                parent_file_path: file.parent.as_deref(),
            };
            self.fire_beside(HookEvent::InstructionsLoaded, &details);
        }
    }

    /// Looks whether settings have changed on disk, and says so. Those of a running session stay as they are.
    pub(crate) async fn look_at_settings(&self) {
        if self.session.agent.is_some() {
            return;
        }
        let changed = locked(&self.watch).settings_changed();
        for (source, path) in changed {
            let details = Details::Config { source: source_name(source), file_path: &path };
            let verdict = self.fire(HookEvent::ConfigChange, details).await;
            if let Some(why) = verdict.block.filter(|_| source != SettingsSource::Managed) {
                self.note(format!("a hook refuses the change of {}: {why}", path.display()));
            }
        }
    }

    /// Looks whether watched files have changed, and tells hooks, without waiting for them.
    pub(crate) fn look_at_files(&self) {
        if self.session.agent.is_some() {
            return;
        }
        let changed = locked(&self.watch).files_changed();
        for file in changed {
            let details = Details::File { file_path: &file.path, event: file.event };
            self.fire_beside(HookEvent::FileChanged, &details);
        }
    }

    /// The session goes on in another folder than it was in.
    pub(crate) async fn moved(&self, old_cwd: &str, new_cwd: &Path) -> Vec<String> {
        self.fire(HookEvent::CwdChanged, Details::Cwd { old_cwd, new_cwd }).await.notes
    }

    /// A memory was written, or waits for the person.
    pub(crate) fn saved(&self, saved: Saved<'_>) {
        let Saved { scope, author, memories, proposal } = saved;
        let proposal = proposal.map(str::to_owned);
        let details = Details::Saved { scope, author, memories, proposal };
        self.fire_beside(HookEvent::MemorySaved, &details);
    }

    /// Memories were put beside a message.
    pub(crate) fn recalled(&self, receipt: &RecallReceipt) {
        if receipt.recalled.is_empty() {
            return;
        }
        let memories = receipt.recalled.iter().map(|memory| RecalledView {
            memory: &memory.file,
            file_path: &memory.path,
            scope: &memory.scope,
            tokens: memory.tokens,
            why: &memory.why,
        });
        let details = Details::Recalled {
            step: match receipt.step {
                RecallStep::Local => "local",
                RecallStep::Selector => "selector",
            },
            query: &receipt.query,
            tokens: receipt.tokens(),
            considered: receipt.considered,
            memories: memories.collect(),
        };
        self.fire_beside(HookEvent::MemoryRecalled, &details);
    }

    pub(super) async fn dream_starts(&self, dream_id: &str, sessions: usize, scopes: &[String]) {
        let details = Details::Dreams { dream_id, sessions, scopes };
        self.fire(HookEvent::DreamStart, details).await;
    }

    pub(super) async fn dream_ends(
        &self,
        (dream_id, status): (&str, &str),
        (improved, headline): (usize, &str),
        report: &RawValue,
    ) {
        let details = Details::Dreamt { dream_id, status, improved, headline, report };
        self.fire(HookEvent::DreamEnd, details).await;
    }

    pub(super) fn dream_is_ended(&self, news: DreamNews<'_>) {
        let DreamNews { id, status, improved, headline, report } = news;
        let details = Details::Dreamt { dream_id: id, status, improved, headline, report };
        // Where the program itself is ending there is nobody left to run it.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.fire_beside(HookEvent::DreamEnd, &details);
        }
    }

    pub(crate) async fn set_up(&self, trigger: SetupTrigger) -> Verdict {
        self.fire(HookEvent::Setup, Details::Setup { trigger }).await
    }
}
