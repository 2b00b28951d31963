//! A turn from the user's prompt to the end of the model's work on it: context attachments, the loop, and the hooks
//! around both.

use std::sync::Arc;

use dormouse_base::Dir;
use dormouse_conversation::transcript::{LineNotes, MessageHeader};
use dormouse_conversation::{Block, MessageFlags, PromptSize};
use dormouse_extensions::skills::SkillCall;
use dormouse_hooks::{HookNotice, Hooks, PromptSource, SessionEndReason, SetupTrigger};
use dormouse_mcp_client::PromptError;
use dormouse_memory::Trust;
use futures_util::future::{BoxFuture, join_all};

use crate::called_prompt::called_prompt;
use crate::compact::CompactionState;
use crate::config::{EngineConfig, Extensions};
use crate::context_sources::{
    ContextOccasion, PromptAttachments, attach_before_prompt, context_with_prompt, deliver_messages,
};
use crate::conversation::Conversation;
use crate::driver;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::{EngineEvent, TurnEnd, TurnReport};
use crate::event_sink::{EventSink, TurnContext};
use crate::notice::EngineNotice;
use crate::rewind::{end_checkpoint, remove_unneeded_checkpoints};
use crate::session_hooks::{SessionHooks, notes_block, write_title};
use crate::session_messages::{IncomingMessage, IncomingMessageSource};
use crate::surroundings::Surroundings;

impl Engine {
    /// Sends a prompt and works until the model is done. Where `now` differs from what the model was told of its
    /// surroundings, the changes go in front of the prompt.
    pub fn run_turn<'a>(
        &'a mut self,
        prompt: &'a str,
        now: &'a Surroundings,
        max_requests: Option<u32>,
        turn: &'a mut TurnContext<'_>,
    ) -> BoxFuture<'a, Result<TurnReport, EngineError>> {
        Box::pin(async move {
            self.start(turn.sink()).await;
            // A subagent's folder is not one that the user moved to.
            let is_main = !self.config.is_subagent();
            let before = self.conversation.announced().get("working directory").filter(|_| is_main);
            self.hooks.look_at_files(before, &now.folder, turn.sink()).await;
            let skill = self.session_tools.load_called_skill(prompt, turn.sink());
            let interrupt = turn.interrupt();
            let session = self.conversation.transcript.session_folder();
            tokio::select! {
                biased;
                () = interrupt.cancelled() => return Ok(TurnReport::not_sent(TurnEnd::Interrupted)),
                blocked = check_prompt(prompt, &mut self.hooks, &self.config, session, turn.sink()) => {
                    if let Some(why) = blocked {
                        return Ok(TurnReport::not_sent(TurnEnd::Blocked(why)));
                    }
                }
            }
            let called = tokio::select! {
                biased;
                () = interrupt.cancelled() => return Ok(TurnReport::not_sent(TurnEnd::Interrupted)),
                called = called_blocks(skill.as_ref(), prompt, &self.config) => match called {
                    Ok(called) => called,
                    Err(error) => {
                        return Ok(TurnReport::not_sent(TurnEnd::NoPrompt(error.to_string())));
                    }
                },
            };
            self.conversation.write_pending()?;
            let occasion = ContextOccasion::Prompt { prompt, now, called: &called };
            attach_before_prompt(self, &occasion, turn.sink()).await?;
            self.memory.begin_turn(&self.config, &self.conversation, &self.figures);
            let attached = context_with_prompt(self, &occasion, turn.sink()).await;
            append_prompt(
                prompt,
                attached,
                &self.config,
                &mut self.conversation,
                &mut self.compaction,
            )?;
            if let Some(call) = &skill {
                self.session_tools.skills.activate(call);
            }
            self.session_tools.record_skills(&mut self.conversation.transcript)?;
            let report = self.run_until_done(max_requests, turn).await;
            end_checkpoint(turn, &self.config).await;
            let report = report?;
            if turn.is_interrupted() {
                self.memory.recall.stop();
            }
            self.spending.finish_turn(report.usage);
            if let Some(problem) = self.config.services.figures.take_problem() {
                turn.notice(format!("metrics for `dormouse stats` are being lost: {problem}"));
            }
            self.conversation.transcript.sync()?;
            let (config, figures) = (&self.config, &self.figures);
            self.memory.count_turn(config, &self.conversation, figures, turn.sink()).await;
            Ok(report)
        })
    }

    /// Works until the model is done on the last message of the conversation: a fork's task.
    pub fn run_on<'a>(
        &'a mut self,
        max_requests: Option<u32>,
        turn: &'a mut TurnContext<'_>,
    ) -> BoxFuture<'a, Result<TurnReport, EngineError>> {
        Box::pin(async move {
            self.start(turn.sink()).await;
            if let Some(notes) = self.hooks.take_notes() {
                self.conversation.append_context(vec![notes])?;
            }
            let report = self.run_until_done(max_requests, turn).await?;
            self.spending.finish_turn(report.usage);
            self.conversation.transcript.sync()?;
            Ok(report)
        })
    }

    /// Runs the hooks of the session's start, once.
    pub fn start<'a>(&'a mut self, sink: &'a mut EventSink<'_>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let warnings = self.startup.take_warnings().into_iter();
            warnings.for_each(|warning| sink(EngineEvent::Notice(warning.into())));
            let Some((runner, source)) = self.hooks.take_pending_start() else { return };
            runner.instructions_loaded(self.startup.loaded());
            // A hook cannot refuse a session: its reason goes to the user.
            let started = runner.session_start(source, &self.config.model.name);
            let verdict = runner.run_with_notices(started, sink).await;
            write_title(self.conversation.transcript.session_folder(), verdict.title, sink);
            self.hooks.add_notes(verdict.notes);
        })
    }

    /// Runs the hooks of a project's set-up or maintenance. Their notes go with the first prompt.
    pub async fn set_up(&mut self, trigger: SetupTrigger, sink: &mut EventSink<'_>) {
        self.hooks.set_up(trigger, sink).await;
    }

    /// Runs the hooks of the session's end.
    pub fn end<'a>(
        &'a mut self,
        reason: SessionEndReason,
        sink: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.memory.end(&self.config, &self.figures, sink).await;
            self.hooks.end(reason, &self.config, sink).await;
            remove_unneeded_checkpoints(sink, &self.config, &self.conversation);
        })
    }

    /// The hooks of the session, with those of skills in use.
    pub fn hooks(&self) -> Arc<Hooks> {
        let runner = self.hooks.runner();
        runner.map_or_else(|| Arc::clone(&self.config.extensions.hooks), |runner| runner.hooks())
    }

    /// Receives messages from outside for later delivery; returns the lines the user has not seen yet.
    pub fn receive(&mut self) -> Vec<EngineNotice> {
        let new: Vec<IncomingMessage> = message_sources(&self.config.extensions, &self.hooks)
            .flat_map(IncomingMessageSource::take)
            .collect();
        let shown = new.iter().filter_map(|message| message.shown.clone());
        let notices = self.hooks.runner().into_iter().flat_map(|runner| runner.take_notices());
        let notices = notices.filter_map(|notice| match notice {
            HookNotice::Text(text) => Some(text.into()),
            HookNotice::TerminalSequence(_) => None,
        });
        let shown = shown.chain(notices).collect();
        self.messages.add(new);
        shown
    }

    /// Runs the loop, repeating while a Stop hook asks to continue or messages have come.
    async fn run_until_done(
        &mut self,
        max_requests: Option<u32>,
        turn: &mut TurnContext<'_>,
    ) -> Result<TurnReport, EngineError> {
        let mut total = TurnReport::not_sent(TurnEnd::Completed);
        let mut continuations = 0;
        let interrupt = turn.interrupt();
        loop {
            let left = max_requests.map(|most| most.saturating_sub(total.requests));
            let report = match driver::run(self, left, turn).await {
                Ok(report) => report,
                Err(error) => {
                    self.conversation.close_after_error();
                    return Err(error);
                }
            };
            self.spending.finish_run(report.cost_usd);
            let report = self.session_tools.plan.settle(report, &mut self.conversation, turn)?;
            total = total.plus(report);
            let why = tokio::select! {
                biased;
                () = interrupt.cancelled() => None,
                why = self.hooks.check_stop(&total, continuations, turn.sink()) => why,
            };
            if let Some(why) = why {
                continuations += 1;
                self.conversation.append_context(notes_block(vec![why]).into_iter().collect())?;
            } else if total.end != TurnEnd::Completed || !self.more_has_come(turn).await? {
                return Ok(total);
            }
        }
    }

    /// Whether messages have come that the model has to read before it stops.
    async fn more_has_come(&mut self, turn: &mut TurnContext<'_>) -> Result<bool, EngineError> {
        if deliver_messages(self, turn.sink()).await? {
            return Ok(true);
        }
        // In a headless run and in a subagent nothing else would wait for them.
        if self.config.tools.confirmer.is_none() || self.config.is_subagent() {
            tokio::select! {
                biased;
                () = turn.interrupt().cancelled() => return Ok(false),
                _ = join_all(message_sources(&self.config.extensions, &self.hooks).map(IncomingMessageSource::under_way)) => {}
            }
        }
        Ok(!turn.is_interrupted() && deliver_messages(self, turn.sink()).await?)
    }
}

fn message_sources<'a>(
    extensions: &'a Extensions,
    hooks: &'a SessionHooks,
) -> impl Iterator<Item = &'a dyn IncomingMessageSource> {
    let runner = hooks.runner().into_iter().map(|runner| &**runner as &dyn IncomingMessageSource);
    extensions.message_sources.iter().map(|source| &**source).chain(runner)
}

/// What the skill or the prompt of an MCP server says that the prompt calls.
async fn called_blocks(
    skill: Option<&SkillCall>,
    prompt: &str,
    config: &EngineConfig,
) -> Result<Vec<Block>, PromptError> {
    match skill {
        Some(skill) => Ok(vec![skill.block.clone()]),
        None => called_prompt(prompt, config).await,
    }
}

/// The reason not to send the prompt, if a hook blocks it. A subagent's prompt is the model's and is not checked.
async fn check_prompt(
    prompt: &str,
    hooks: &mut SessionHooks,
    config: &EngineConfig,
    session: &Dir,
    sink: &mut EventSink<'_>,
) -> Option<String> {
    if config.is_subagent() {
        return None;
    }
    if let Some(runner) = hooks.runner() {
        runner.begin_prompt(config.model.effort);
    }
    let has_user = config.tools.confirmer.is_some();
    let source = if has_user { PromptSource::User } else { PromptSource::Sdk };
    hooks.check_prompt(prompt, source, &config.extensions, session, sink).await
}

/// Appends the user's prompt and its attachments.
fn append_prompt(
    prompt: &str,
    attached: PromptAttachments,
    config: &EngineConfig,
    conversation: &mut Conversation,
    compaction: &mut CompactionState,
) -> Result<(), EngineError> {
    let prompt_block = std::iter::once(Block::text(prompt));
    // A small model answers what stands last.
    let blocks = match config.model.budget.prompt.size {
        PromptSize::Full => prompt_block.chain(attached.blocks).collect(),
        PromptSize::Short => attached.blocks.into_iter().chain(prompt_block).collect(),
    };
    let message = conversation.new_user_message(blocks, MessageFlags::default());
    // Why memories came is for the transcript only.
    let notes = LineNotes { recalled: &attached.recalled, ..LineNotes::default() };
    let header = MessageHeader::of(&message);
    conversation.transcript.record_noted(header, &message.blocks, notes)?;
    let message = conversation.push(message)?;
    let line = conversation.transcript.lines();
    compaction.user_messages.add(&message, line);
    // A subagent's changes belong to the turn of its session.
    if let (Some(checkpoints), None) = (&config.tools.checkpoints, &config.subagent) {
        checkpoints.begin_turn(message.id, line);
    }
    // Attachments are not the user's words, and a subagent's prompt is the model's.
    if let (Some(memory), None) = (&config.memory, &config.subagent) {
        let provenance = memory.access.provenance();
        provenance.record(message.id, Trust::Typed, prompt);
        provenance.record_attached(message.id, &message.blocks);
    }
    compaction.breaker.on_prompt();
    Ok(())
}
