//! Everything that goes to the model with a prompt or with tool results, besides their own text.
//!
//! The order in which the model reads it is the order of the three lists below; nothing else decides it.

use std::path::PathBuf;

use dormouse_context::{ContextAttachment, EnvironmentChanges, Fragment};
use dormouse_conversation::transcript::MessageHeader;
use dormouse_conversation::{Block, BlockKind, EnvironmentFacts, MessageFlags, Role, ToolUse};
use futures_util::future::{BoxFuture, ready};

use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::plan::PlanState;
use crate::recall::RecallContext;
use crate::session_hooks::notes_block;
use crate::session_messages::{IncomingMessage, IncomingQueue};
use crate::startup_context::StartupContext;
use crate::surroundings::Surroundings;
use crate::turn_context::EventSink;

/// In front of a prompt, each in a message of its own.
const BEFORE_PROMPT: [&dyn ContextSource; 4] =
    [&SurroundingChanges, &PlanModeChange, &HookNotes, &IncomingMessages];

/// In the message of the prompt, after its text.
const WITH_PROMPT: [&dyn ContextSource; 2] = [&RecalledMemories, &CalledSkill];

/// In the message of tool results, after the results.
const WITH_RESULTS: [&dyn ContextSource; 5] =
    [&FileInstructions, &HookNotes, &RecalledMemories, &AnnouncedChanges, &IncomingMessages];

/// Something that may have context attachments for the model.
trait ContextSource: std::fmt::Debug + Send + Sync {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        occasion: &'a ContextOccasion<'_>,
        sink: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>>;
}

/// What attachments go with.
pub(crate) enum ContextOccasion<'a> {
    Prompt {
        prompt: &'a str,
        now: &'a Surroundings,
        /// The skill that the prompt calls.
        skill: Option<&'a Block>,
    },
    Results {
        results: &'a [Block],
        /// What hooks have to say about the calls.
        notes: &'a [String],
    },
    /// A fork continues without a prompt of its own.
    Continuation,
}

/// A block for the model, and what the transcript records with it.
#[derive(Debug)]
pub(crate) enum AttachedContext {
    Plain(Block),
    /// With the facts that the model knows from here on.
    Facts(Block, EnvironmentFacts),
    /// With its id, by which the sender sees that it was delivered.
    Message(IncomingMessage),
}

impl AttachedContext {
    fn block(&self) -> &Block {
        match self {
            Self::Plain(block) | Self::Facts(block, _) => block,
            Self::Message(message) => &message.block,
        }
    }
}

/// Appends everything that goes in front of a prompt.
pub(crate) async fn attach_before_prompt(
    engine: &mut Engine,
    occasion: &ContextOccasion<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), EngineError> {
    for source in BEFORE_PROMPT {
        let attachments = source.collect(engine, occasion, sink).await;
        append_message(&mut engine.conversation, &mut engine.messages, attachments)?;
    }
    Ok(())
}

/// The blocks that go into the message of the prompt.
pub(crate) async fn blocks_with_prompt(
    engine: &mut Engine,
    occasion: &ContextOccasion<'_>,
    sink: &mut EventSink<'_>,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    for source in WITH_PROMPT {
        let attachments = source.collect(engine, occasion, sink).await;
        blocks.extend(attachments.iter().map(|attachment| attachment.block().clone()));
    }
    blocks
}

/// Adds everything that goes after tool results, written down when it is first sent.
pub(crate) async fn attach_to_results(
    engine: &mut Engine,
    author: MessageHeader<'_>,
    mut blocks: Vec<Block>,
    notes: &[String],
    sink: &mut EventSink<'_>,
) -> Result<Vec<Block>, EngineError> {
    let results = blocks.clone();
    let occasion = ContextOccasion::Results { results: &results, notes };
    for source in WITH_RESULTS {
        for attachment in source.collect(engine, &occasion, sink).await {
            let block = attachment.block().clone();
            record(&mut engine.conversation, author, attachment)?;
            blocks.push(block);
        }
    }
    Ok(blocks)
}

/// Delivers messages from outside in a message of their own. Whether there were any.
pub(crate) async fn deliver_messages(
    engine: &mut Engine,
    sink: &mut EventSink<'_>,
) -> Result<bool, EngineError> {
    let occasion = ContextOccasion::Continuation;
    let attachments = IncomingMessages.collect(engine, &occasion, sink).await;
    let any = !attachments.is_empty();
    append_message(&mut engine.conversation, &mut engine.messages, attachments)?;
    Ok(any)
}

/// Appends the attachments of one source as one message.
fn append_message(
    conversation: &mut Conversation,
    queue: &mut IncomingQueue,
    attachments: Vec<AttachedContext>,
) -> Result<(), EngineError> {
    if attachments.is_empty() {
        return Ok(());
    }
    let blocks = attachments.iter().map(|attachment| attachment.block().clone()).collect();
    let flags = MessageFlags { meta: true, ..MessageFlags::default() };
    let message = conversation.new_user_message(blocks, flags);
    let ids: Vec<String> = attachments
        .iter()
        .filter_map(|attachment| match attachment {
            AttachedContext::Message(message) => Some(message.id.clone()),
            AttachedContext::Plain(_) | AttachedContext::Facts(..) => None,
        })
        .collect();
    let transcript = &mut conversation.transcript;
    let recorded = if ids.is_empty() {
        transcript.record_message(&message)
    } else {
        transcript.record_incoming(MessageHeader::of(&message), &message.blocks, &ids)
    };
    if recorded.is_err() {
        queue.requeue();
    }
    recorded?;
    queue.confirm();
    conversation.push(message)?;
    for attachment in attachments {
        if let AttachedContext::Facts(_, facts) = attachment {
            conversation.record_announced(facts)?;
        }
    }
    Ok(())
}

/// Writes one attachment as a line of a message that is not complete yet.
fn record(
    conversation: &mut Conversation,
    author: MessageHeader<'_>,
    attachment: AttachedContext,
) -> Result<(), EngineError> {
    match attachment {
        AttachedContext::Plain(block) => {
            conversation.transcript.record_blocks(author, &[block])?;
        }
        AttachedContext::Facts(block, facts) => {
            conversation.transcript.record_blocks(author, &[block])?;
            conversation.record_announced(facts)?;
        }
        AttachedContext::Message(IncomingMessage { id, block, .. }) => {
            conversation.transcript.record_incoming(author, &[block], &[id])?;
        }
    }
    Ok(())
}

fn one(attachment: Option<AttachedContext>) -> BoxFuture<'static, Vec<AttachedContext>> {
    Box::pin(ready(attachment.into_iter().collect()))
}

fn plain(block: Option<Block>) -> BoxFuture<'static, Vec<AttachedContext>> {
    one(block.map(AttachedContext::Plain))
}

/// The differences between what the model was told and these facts.
fn changes(
    announced: &EnvironmentFacts,
    facts: EnvironmentFacts,
    room: u32,
    startup: &StartupContext,
) -> Option<AttachedContext> {
    let text = |name: &str| startup.text_of(name);
    let changes = EnvironmentChanges::between(announced, &facts, room, text)?;
    Some(AttachedContext::Facts(changes.to_block(), facts))
}

/// Changes in the surroundings since the model was last told of them.
#[derive(Debug)]
struct SurroundingChanges;

impl ContextSource for SurroundingChanges {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        occasion: &'a ContextOccasion<'_>,
        _: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        let ContextOccasion::Prompt { now, .. } = occasion else { return one(None) };
        engine.surroundings = (*now).clone();
        engine.startup.refresh(&engine.config);
        let facts = engine.startup.add_to(now.facts(engine.config.tools.set.names()));
        // Plan mode is announced by its own source.
        let facts = crate::plan::keep_announced_mode(facts, engine.conversation.announced());
        let room = engine.config.model.budget.prompt.changes_tokens;
        one(changes(engine.conversation.announced(), facts, room, &engine.startup))
    }
}

/// That plan mode is on, or no longer, where the model does not know it.
#[derive(Debug)]
struct PlanModeChange;

impl ContextSource for PlanModeChange {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        _: &'a ContextOccasion<'_>,
        _: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        let announced = engine.conversation.announced();
        one(plan_mode_change(&engine.config, &engine.session_tools.plan, announced))
    }
}

/// Announces plan mode again after a compaction, which removed the message that announced it.
pub(crate) fn announce_plan_mode(
    config: &EngineConfig,
    plan: &PlanState,
    conversation: &mut Conversation,
    queue: &mut IncomingQueue,
) -> Result<(), EngineError> {
    let change = plan_mode_change(config, plan, conversation.announced());
    append_message(conversation, queue, change.into_iter().collect())
}

fn plan_mode_change(
    config: &EngineConfig,
    plan: &PlanState,
    announced: &EnvironmentFacts,
) -> Option<AttachedContext> {
    // A subagent submits no plan; its gate tells it what it may do.
    if config.is_subagent() {
        return None;
    }
    let change = plan.mode_change(announced);
    change.map(|(block, facts)| AttachedContext::Facts(block, facts))
}

/// Notes of hooks: those of the session with a prompt, those of calls with their results.
#[derive(Debug)]
struct HookNotes;

impl ContextSource for HookNotes {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        occasion: &'a ContextOccasion<'_>,
        _: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        plain(match occasion {
            ContextOccasion::Results { notes, .. } => notes_block(notes.to_vec()),
            ContextOccasion::Prompt { .. } | ContextOccasion::Continuation => {
                engine.hooks.take_notes()
            }
        })
    }
}

/// Messages from outside: results of subagents, messages of other sessions, hooks that ran in the background.
#[derive(Debug)]
struct IncomingMessages;

impl ContextSource for IncomingMessages {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        _: &'a ContextOccasion<'_>,
        sink: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        engine.receive().into_iter().for_each(|notice| sink(EngineEvent::Notice(notice)));
        let messages = engine.messages.take().into_iter().map(AttachedContext::Message);
        Box::pin(ready(messages.collect()))
    }
}

/// Memories that bear on the prompt, or that a selection has found since.
#[derive(Debug)]
struct RecalledMemories;

impl ContextSource for RecalledMemories {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        occasion: &'a ContextOccasion<'_>,
        sink: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        let recall = &mut engine.memory.recall;
        let mut context = RecallContext {
            config: &engine.config,
            conversation: &engine.conversation,
            hooks: engine.hooks.runner(),
            figures: &engine.figures,
            spending: &mut engine.spending,
            usage: &mut engine.memory.usage,
        };
        match occasion {
            ContextOccasion::Prompt { prompt, .. } => Box::pin(async move {
                let blocks = recall.recall(prompt, &mut context, sink).await;
                blocks.into_iter().map(AttachedContext::Plain).collect()
            }),
            ContextOccasion::Results { .. } => plain(recall.take_selected(&mut context, sink)),
            ContextOccasion::Continuation => one(None),
        }
    }
}

/// The skill that the prompt calls with `/name`.
#[derive(Debug)]
struct CalledSkill;

impl ContextSource for CalledSkill {
    fn collect<'a>(
        &'a self,
        _: &'a mut Engine,
        occasion: &'a ContextOccasion<'_>,
        _: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        let ContextOccasion::Prompt { skill, .. } = occasion else { return one(None) };
        plain(skill.cloned())
    }
}

/// Instruction files that belong to the files that calls have just read or written.
#[derive(Debug)]
struct FileInstructions;

impl ContextSource for FileInstructions {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        occasion: &'a ContextOccasion<'_>,
        sink: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        let ContextOccasion::Results { results, .. } = occasion else { return one(None) };
        let succeeded = |call: &ToolUse<'_>| {
            results.iter().any(|result| {
                !result.is_error()
                    && matches!(result.kind(), BlockKind::ToolResult { id } if id == call.id)
            })
        };
        let last = engine.conversation.history().last();
        let files: Vec<PathBuf> = last
            .iter()
            .flat_map(|last| &last.blocks)
            .filter_map(Block::as_tool_use)
            .filter(succeeded)
            .filter_map(|call| engine.config.tools.set.get(call.name)?.file(call.input))
            .collect();
        let loaded: Vec<_> = files.iter().flat_map(|file| engine.startup.touched(file)).collect();
        let warnings = engine.startup.take_warnings().into_iter();
        warnings.for_each(|warning| sink(EngineEvent::Notice(warning)));
        if loaded.is_empty() {
            return one(None);
        }
        if let Some(runner) = engine.hooks.runner() {
            runner.instructions_loaded(&loaded);
        }
        plain(Some(ContextAttachment { parts: engine.startup.parts_of(&loaded) }.to_block()))
    }
}

/// Facts of announcers that have changed during the turn.
#[derive(Debug)]
struct AnnouncedChanges;

impl ContextSource for AnnouncedChanges {
    fn collect<'a>(
        &'a self,
        engine: &'a mut Engine,
        _: &'a ContextOccasion<'_>,
        _: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Vec<AttachedContext>> {
        if engine.config.extensions.announcers.is_empty() {
            return one(None);
        }
        engine.startup.refresh(&engine.config);
        let facts = engine.startup.announced_over(engine.conversation.announced());
        let room = engine.config.model.budget.prompt.changes_tokens;
        one(changes(engine.conversation.announced(), facts, room, &engine.startup))
    }
}

/// The author of a message of tool results.
pub(crate) fn results_author(message: dormouse_base::MessageId) -> MessageHeader<'static> {
    MessageHeader { message, role: Role::User, flags: MessageFlags::default(), response: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_context_sources() {
        assert_eq!(
            format!("{BEFORE_PROMPT:?}"),
            "[SurroundingChanges, PlanModeChange, HookNotes, IncomingMessages]"
        );
        assert_eq!(format!("{WITH_PROMPT:?}"), "[RecalledMemories, CalledSkill]");
        assert_eq!(
            format!("{WITH_RESULTS:?}"),
            "[FileInstructions, HookNotes, RecalledMemories, AnnouncedChanges, IncomingMessages]"
        );
    }
}
