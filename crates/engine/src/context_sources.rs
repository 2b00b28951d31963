//! Everything that goes to the model with a prompt or with tool results, besides their own text.
//!
//! The order in which the model reads it is the order of the three lists below; nothing else decides it.

use std::path::PathBuf;

use dormouse_context::{ContextAttachment, EnvironmentChanges, Fragment, NothingNew};
use dormouse_conversation::transcript::{LineNotes, MessageHeader};
use dormouse_conversation::{
    Block, BlockKind, EnvironmentFacts, Message, MessageFlags, PromptSize, RecallReason, Role,
    ToolUse,
};
use tokio_util::sync::CancellationToken;

use crate::attached_files::attach;
use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::event_sink::EventSink;
use crate::known_results::{are_repeated, are_shown_memories};
use crate::plan::PlanState;
use crate::recall::{RecallContext, RecalledBlock};
use crate::session_hooks::notes_block;
use crate::session_messages::{IncomingMessage, IncomingQueue};
use crate::surroundings::Surroundings;

/// Something that may have context attachments for the model.
#[derive(Debug, Clone, Copy)]
enum ContextSource {
    /// Changes in the surroundings since the model was last told of them.
    SurroundingChanges,
    /// That plan mode is on, or no longer, where the model does not know it.
    PlanModeChange,
    /// Notes of hooks: those of the session with a prompt, those of calls with their results.
    HookNotes,
    /// Messages from outside: results of subagents, messages of other sessions, hooks that ran in the background.
    IncomingMessages,
    /// Files that the prompt names with `@path`.
    AttachedFiles,
    /// Memories that match the prompt, or that a selection has found since.
    RecalledMemories,
    /// The skill, or the prompt of an MCP server, that the prompt calls with `/name`.
    Called,
    /// Instruction files that belong to the files that calls have just read or written.
    FileInstructions,
    /// Facts of announcers that have changed during the turn.
    AnnouncedChanges,
    /// That the calls brought nothing that the model did not have.
    NothingNew,
}

/// In front of a prompt, each in a message of its own.
const BEFORE_PROMPT: [ContextSource; 4] = [
    ContextSource::SurroundingChanges,
    ContextSource::PlanModeChange,
    ContextSource::HookNotes,
    ContextSource::IncomingMessages,
];

/// In the message of the prompt, after its text.
const WITH_PROMPT: [ContextSource; 3] =
    [ContextSource::AttachedFiles, ContextSource::RecalledMemories, ContextSource::Called];

/// In the message of tool results, after the results.
const WITH_RESULTS: [ContextSource; 6] = [
    ContextSource::FileInstructions,
    ContextSource::HookNotes,
    ContextSource::RecalledMemories,
    ContextSource::AnnouncedChanges,
    ContextSource::IncomingMessages,
    ContextSource::NothingNew,
];

/// What attachments go with.
pub(crate) enum ContextOccasion<'a> {
    Prompt {
        prompt: &'a str,
        now: &'a Surroundings,
        /// What the skill, or the prompt of an MCP server, says that the prompt calls.
        called: &'a [Block],
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
    /// With the reasons why these memories were recalled.
    Recalled(RecalledBlock),
    /// With its id, by which the sender sees that it was delivered.
    Message(IncomingMessage),
}

impl AttachedContext {
    fn block(&self) -> &Block {
        match self {
            Self::Plain(block) | Self::Facts(block, _) => block,
            Self::Recalled(recalled) => &recalled.block,
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
        let attachments = Collector { engine, occasion, sink }.collect(source).await;
        append_message(&mut engine.conversation, &mut engine.messages, attachments)?;
    }
    Ok(())
}

/// What goes into the message of the prompt.
#[derive(Debug, Default)]
pub(crate) struct PromptAttachments {
    pub(crate) blocks: Vec<Block>,
    /// Why the memories among them were recalled.
    pub(crate) recalled: Vec<RecallReason>,
}

/// Collects what goes into the message of the prompt.
pub(crate) async fn context_with_prompt(
    engine: &mut Engine,
    occasion: &ContextOccasion<'_>,
    sink: &mut EventSink<'_>,
) -> PromptAttachments {
    let mut context = PromptAttachments::default();
    for source in WITH_PROMPT {
        for attachment in (Collector { engine, occasion, sink }).collect(source).await {
            context.blocks.push(attachment.block().clone());
            if let AttachedContext::Recalled(RecalledBlock { reasons, .. }) = attachment {
                context.recalled.extend(reasons);
            }
        }
    }
    context
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
        let occasion = &occasion;
        for attachment in (Collector { engine, occasion, sink }).collect(source).await {
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
    let occasion = &ContextOccasion::Continuation;
    let attachments = Collector { engine, occasion, sink }.incoming_messages();
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
    let flags = MessageFlags { meta: true, attachment: true, ..MessageFlags::default() };
    let message = conversation.new_user_message(blocks, flags);
    let ids: Vec<String> = attachments
        .iter()
        .filter_map(|attachment| match attachment {
            AttachedContext::Message(message) => Some(message.id.clone()),
            AttachedContext::Plain(_)
            | AttachedContext::Facts(..)
            | AttachedContext::Recalled(_) => None,
        })
        .collect();
    let notes = LineNotes { delivers: &ids, ..LineNotes::default() };
    let header = MessageHeader::of(&message);
    let recorded = conversation.transcript.record_noted(header, &message.blocks, notes);
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
    let flags = MessageFlags { attachment: true, ..author.flags };
    let author = MessageHeader { flags, ..author };
    match attachment {
        AttachedContext::Plain(block) => {
            conversation.transcript.record_blocks(author, &[block])?;
        }
        AttachedContext::Facts(block, facts) => {
            conversation.transcript.record_blocks(author, &[block])?;
            conversation.record_announced(facts)?;
        }
        AttachedContext::Recalled(RecalledBlock { block, reasons }) => {
            let notes = LineNotes { recalled: &reasons, ..LineNotes::default() };
            conversation.transcript.record_noted(author, &[block], notes)?;
        }
        AttachedContext::Message(IncomingMessage { id, block, .. }) => {
            let notes = LineNotes { delivers: &[id], ..LineNotes::default() };
            conversation.transcript.record_noted(author, &[block], notes)?;
        }
    }
    Ok(())
}

/// Collects the attachments of context sources.
struct Collector<'a, 's> {
    engine: &'a mut Engine,
    occasion: &'a ContextOccasion<'a>,
    sink: &'a mut EventSink<'s>,
}

impl Collector<'_, '_> {
    async fn collect(&mut self, source: ContextSource) -> Vec<AttachedContext> {
        match source {
            ContextSource::SurroundingChanges => self.surrounding_changes().into_iter().collect(),
            ContextSource::PlanModeChange => self.plan_mode_change().into_iter().collect(),
            ContextSource::HookNotes => plain(self.hook_notes()),
            ContextSource::IncomingMessages => self.incoming_messages(),
            ContextSource::AttachedFiles => plain(self.attached_files().await),
            ContextSource::RecalledMemories => {
                let recalled = self.recalled_memories().await;
                recalled.into_iter().map(AttachedContext::Recalled).collect()
            }
            ContextSource::Called => plain(self.called()),
            ContextSource::FileInstructions => plain(self.file_instructions()),
            ContextSource::AnnouncedChanges => self.announced_changes().into_iter().collect(),
            ContextSource::NothingNew => plain(self.nothing_new()),
        }
    }

    fn surrounding_changes(&mut self) -> Option<AttachedContext> {
        let ContextOccasion::Prompt { now, .. } = self.occasion else { return None };
        let engine = &mut *self.engine;
        engine.surroundings = (*now).clone();
        engine.startup.refresh(&engine.config);
        let facts = engine.startup.add_to(now.facts(engine.config.tools.set.names()));
        // Plan mode is announced by its own source.
        let facts = crate::plan::keep_announced_mode(facts, engine.conversation.announced());
        self.changes_to(facts)
    }

    fn plan_mode_change(&self) -> Option<AttachedContext> {
        let engine = &self.engine;
        plan_mode_change(&engine.config, &engine.session_tools.plan, &engine.conversation)
    }

    fn hook_notes(&mut self) -> Option<Block> {
        match self.occasion {
            ContextOccasion::Results { notes, .. } => notes_block(notes.to_vec()),
            ContextOccasion::Prompt { .. } | ContextOccasion::Continuation => {
                self.engine.hooks.take_notes()
            }
        }
    }

    fn incoming_messages(&mut self) -> Vec<AttachedContext> {
        for notice in self.engine.receive() {
            (self.sink)(EngineEvent::Notice(notice));
        }
        self.engine.messages.take().into_iter().map(AttachedContext::Message).collect()
    }

    async fn attached_files(&mut self) -> Vec<Block> {
        let ContextOccasion::Prompt { prompt, .. } = self.occasion else { return Vec::new() };
        // A subagent's prompt is the model's: it attaches nothing.
        if !prompt.contains('@') || self.engine.config.is_subagent() {
            return Vec::new();
        }
        let config = &self.engine.config;
        let context = self.engine.tool_state.call_context(config, CancellationToken::new());
        let servers = config.extensions.servers.as_deref();
        let attached = attach(prompt, &context, servers).await;
        for notice in attached.notices {
            (self.sink)(EngineEvent::Notice(notice));
        }
        attached.blocks
    }

    async fn recalled_memories(&mut self) -> Vec<RecalledBlock> {
        let engine = &mut *self.engine;
        let recall = &mut engine.memory.recall;
        let is_first = engine.conversation.messages().is_empty();
        let mut context = RecallContext {
            config: &engine.config,
            conversation: &engine.conversation,
            hooks: engine.hooks.runner(),
            figures: &engine.figures,
            spending: &mut engine.spending,
            usage: &mut engine.memory.usage,
            listed: is_first.then(|| engine.startup.listed_memories()),
        };
        match self.occasion {
            ContextOccasion::Prompt { prompt, .. } => {
                recall.recall(prompt, &mut context, self.sink).await
            }
            ContextOccasion::Results { .. } => recall.take_finished(&mut context, self.sink).await,
            ContextOccasion::Continuation => Vec::new(),
        }
    }

    fn called(&self) -> Vec<Block> {
        match self.occasion {
            ContextOccasion::Prompt { called, .. } => called.to_vec(),
            ContextOccasion::Results { .. } | ContextOccasion::Continuation => Vec::new(),
        }
    }

    fn file_instructions(&mut self) -> Option<Block> {
        let ContextOccasion::Results { results, .. } = self.occasion else { return None };
        let engine = &mut *self.engine;
        let files = files_of_calls(engine.conversation.history().last(), results, &engine.config);
        let loaded: Vec<_> = files.iter().flat_map(|file| engine.startup.touched(file)).collect();
        for warning in engine.startup.take_warnings() {
            (self.sink)(EngineEvent::Notice(warning.into()));
        }
        if loaded.is_empty() {
            return None;
        }
        if let Some(runner) = engine.hooks.runner() {
            runner.instructions_loaded(&loaded);
        }
        Some(ContextAttachment { parts: engine.startup.parts_of(&loaded) }.to_block())
    }

    fn announced_changes(&mut self) -> Option<AttachedContext> {
        let engine = &mut *self.engine;
        if engine.config.extensions.announcers.is_empty() {
            return None;
        }
        engine.startup.refresh(&engine.config);
        let facts = engine.startup.announced_over(engine.conversation.announced());
        self.changes_to(facts)
    }

    fn nothing_new(&self) -> Option<Block> {
        let ContextOccasion::Results { results, .. } = self.occasion else { return None };
        let Engine { config, conversation, .. } = &*self.engine;
        if !config.tools.ends_repetition {
            return None;
        }
        // A larger model reads a memory that it was shown in order to change it.
        let reads_again = config.model.budget.prompt.size == PromptSize::Short && {
            let files = files_of_calls(conversation.history().last(), results, config);
            let files: Vec<PathBuf> =
                files.iter().map(|file| config.project.folder.join(file)).collect();
            are_shown_memories(results, &files, conversation.messages())
        };
        (are_repeated(results) || reads_again).then(|| NothingNew.to_block())
    }

    /// The differences between what the model was told and these facts.
    fn changes_to(&self, facts: EnvironmentFacts) -> Option<AttachedContext> {
        let engine = &*self.engine;
        let room = engine.config.model.budget.prompt.changes_tokens;
        let text = |name: &str| engine.startup.text_of(name);
        let changes =
            EnvironmentChanges::between(engine.conversation.announced(), &facts, room, text)?;
        Some(AttachedContext::Facts(changes.to_block(), facts))
    }
}

fn plain(blocks: impl IntoIterator<Item = Block>) -> Vec<AttachedContext> {
    blocks.into_iter().map(AttachedContext::Plain).collect()
}

/// The files of the calls in a response that have succeeded.
fn files_of_calls(
    response: Option<&Message>,
    results: &[Block],
    config: &EngineConfig,
) -> Vec<PathBuf> {
    let succeeded = |call: &ToolUse<'_>| {
        results.iter().any(|result| {
            !result.is_error()
                && matches!(result.kind(), BlockKind::ToolResult { id } if id == call.id)
        })
    };
    let calls = response.into_iter().flat_map(|response| &response.blocks);
    calls
        .filter_map(Block::as_tool_use)
        .filter(succeeded)
        .filter_map(|call| config.tools.set.file_of(call))
        .collect()
}

/// Announces plan mode again after a compaction, which removed the message that announced it.
pub(crate) fn announce_plan_mode(
    config: &EngineConfig,
    plan: &PlanState,
    conversation: &mut Conversation,
    queue: &mut IncomingQueue,
) -> Result<(), EngineError> {
    let change = plan_mode_change(config, plan, conversation);
    append_message(conversation, queue, change.into_iter().collect())
}

fn plan_mode_change(
    config: &EngineConfig,
    plan: &PlanState,
    conversation: &Conversation,
) -> Option<AttachedContext> {
    // A subagent submits no plan; its gate tells it what it may do.
    if config.is_subagent() {
        return None;
    }
    let change = plan.mode_change(
        conversation.announced(),
        conversation.prefix().tools(),
        &config.tools.set,
    );
    change.map(|(block, facts)| AttachedContext::Facts(block, facts))
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
        assert_eq!(format!("{WITH_PROMPT:?}"), "[AttachedFiles, RecalledMemories, Called]");
        assert_eq!(
            format!("{WITH_RESULTS:?}"),
            "[FileInstructions, HookNotes, RecalledMemories, AnnouncedChanges, IncomingMessages, NothingNew]"
        );
    }
}
