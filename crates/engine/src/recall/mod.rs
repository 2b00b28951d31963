//! Memories that match the user's message, attached to it.
//!
//! Steps that do not delay a turn. The local ranking (`search`) runs while the request is being built; its sure matches go
//! with the user's message, its likely ones are named. While the request runs, a server may make a vector of the message,
//! and a small model chooses from the list of memories (`selection`); what they add goes with the next message.
//!
//! Invariants: nothing is added to a message that was sent; a memory that the conversation has seen is not shown again;
//! recalled text is never attributed to the user.

mod receipt;
mod result;
mod search;
mod seen_memories;
mod selection;
mod selector;
mod setup;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_context::{Fragment, RecalledMemories};
use dormouse_conversation::metrics::{MemoryAction, MemoryMetric, Metric, SessionMetrics};
use dormouse_conversation::{Block, Message, RecallForm, RecallReason, RecallStep, estimate_text};
use dormouse_hooks::HookRunner;
use dormouse_memory::{
    RecallMessage, RecalledMemoryLine, RecalledTexts, UnaskedMemory, is_substantial,
};
use tokio::task::JoinSet;

use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::event::EngineEvent;
use crate::event_sink::EventSink;
use crate::hook_wiring::notify_recall;
use crate::memory::SessionMemory;
use crate::memory_usage::TurnMemoryUsage;
use crate::spending::Spending;
pub use receipt::{RecallReceipt, RecallReceiptEntry, SkippedMemory};
use result::{LoadedMemory, RecallResult};
use search::{
    LocalPatience, LocalStep, ranking, refresh_index, search_later, search_to_the_end,
    search_within, why,
};
use seen_memories::{SeenMemories, SessionFiles};
use selection::select;
pub use selector::SmallModel;
use selector::{PURPOSE, SelectorRequest};
pub use setup::{MentionedAgentMemory, RecallSetup};

/// After this many failures in a row, the small model is not asked again in this session.
const MOST_FAILURES: u32 = 3;
/// Tools that were called in this many recent messages are in use.
const RECENT_MESSAGES: usize = 12;
/// Open files that count for a message at most.
const MOST_OPEN_FILES: usize = 8;

/// The state of recall in a conversation.
#[derive(Debug, Default)]
pub(crate) struct RecallState {
    seen: SeenMemories,
    /// Steps that run beside the request.
    pending: Vec<PendingStep>,
    /// Selections in a row that failed.
    failures: u32,
}

/// A step that runs beside the request, or is done and not yet shown.
#[derive(Debug)]
struct PendingStep {
    step: RecallStep,
    /// Dropping it ends the request.
    task: JoinSet<RecallResult>,
    query: String,
}

/// Memories for the model, and why they were recalled, for the transcript.
#[derive(Debug)]
pub(crate) struct RecalledBlock {
    pub(crate) block: Block,
    pub(crate) reasons: Vec<RecallReason>,
}

/// The parts of a session that recall uses.
pub(crate) struct RecallContext<'a> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) conversation: &'a Conversation,
    pub(crate) hooks: Option<&'a Arc<HookRunner>>,
    pub(crate) figures: &'a SessionMetrics,
    pub(crate) spending: &'a mut Spending,
    pub(crate) usage: &'a mut TurnMemoryUsage,
    /// How many memories the index lists that a conversation begins with; none later in it.
    pub(crate) listed: Option<usize>,
}

impl RecallState {
    /// The files that the conversation has seen, memories among them.
    pub(crate) fn seen_files(&self) -> HashSet<PathBuf> {
        self.seen.files().into_iter().collect()
    }

    /// The blocks that go with the user's message: the result of the last selection if it came too late for the last
    /// message, and the sure matches of the local ranking. Then the selection for this message starts.
    pub(crate) async fn recall(
        &mut self,
        prompt: &str,
        context: &mut RecallContext<'_>,
        sink: &mut EventSink<'_>,
    ) -> Vec<RecalledBlock> {
        let late = self.take_finished(context, sink).await;
        // A search by words stays until it has ended: what it is sure of is still wanted.
        self.pending.retain(|pending| pending.step == RecallStep::Local);
        let now = self.recall_now(prompt, context, sink).await;
        late.into_iter().chain(now).collect()
    }

    async fn recall_now(
        &mut self,
        prompt: &str,
        context: &mut RecallContext<'_>,
        sink: &mut EventSink<'_>,
    ) -> Option<RecalledBlock> {
        let setup = context.config.memory.as_ref().filter(|setup| setup.access.switch.is_on())?;
        let recall = setup.recall.clone()?;
        let mentioned = recall.agents.as_ref().and_then(|agents| agents.memory_of(prompt));
        let access = mentioned.unwrap_or_else(|| Arc::clone(&setup.access));
        let query = prompt.trim().to_owned();
        if !is_substantial(&query) {
            // A first message says what the index lists, whatever it asks.
            if context.listed.is_some_and(|listed| listed > 0) {
                self.show(context, RecallResult::default(), RecallStep::Local, &query, sink);
            }
            return None;
        }
        self.catch_up(context.config, context.conversation);
        if self.bytes_left(context.config) == 0 {
            return None;
        }
        let since = context.config.services.clock.elapsed();
        let seen_by_now = self.seen.files();
        let message = RecallMessage { text: query, files: open_files(context) };
        let patience = patience(&recall, context);
        let LocalStep { result: mut gathered, late_search, late_vector } =
            search_within(patience, &access, &message, &seen_by_now).await;
        let query = &message.text;
        gathered.took = context.config.services.clock.elapsed().saturating_sub(since);
        let shown: Vec<PathBuf> =
            gathered.memories.iter().map(|memory| memory.found.path()).collect();
        if gathered.is_old {
            refresh_index(&access);
        }
        let block = self.show(context, gathered, RecallStep::Local, query, sink);
        if let Some(searching) = late_search {
            self.begin(RecallStep::Local, search_to_the_end(searching), query);
        }
        if let Some(vector) = late_vector {
            let seen = seen_by_now.iter().chain(&shown).cloned().collect();
            let later = search_later(vector, Arc::clone(&access), message.clone(), seen);
            self.begin(RecallStep::Vectors, later, query);
        }
        if let Some(small) = recall.small.filter(|_| self.failures < MOST_FAILURES) {
            let passed = seen_by_now.into_iter().chain(shown).collect();
            self.begin_selection(context, small, access, query, passed);
        }
        block
    }

    fn begin_selection(
        &mut self,
        context: &RecallContext<'_>,
        small: SmallModel,
        access: Arc<SessionMemory>,
        query: &str,
        passed: Vec<PathBuf>,
    ) {
        let selection = SelectorRequest {
            small,
            message: context.conversation.new_id(),
            query: query.to_owned(),
            manifest: Vec::new(),
            offered: Vec::new(),
            tools_in_use: tools_in_use(context.conversation.messages()),
            clock: Arc::clone(&context.config.services.clock),
            figures: context.figures.clone(),
            prices: context.config.cost.prices.clone(),
            timeout: context.config.services.deadlines.selector,
        };
        self.begin(RecallStep::Selector, select(selection, access, passed), query);
    }

    fn begin(
        &mut self,
        step: RecallStep,
        run: impl Future<Output = RecallResult> + Send + 'static,
        query: &str,
    ) {
        let mut task = JoinSet::new();
        task.spawn(run);
        self.pending.push(PendingStep { step, task, query: query.to_owned() });
    }

    /// The results of the steps that are done.
    pub(crate) async fn take_finished(
        &mut self,
        context: &mut RecallContext<'_>,
        sink: &mut EventSink<'_>,
    ) -> Vec<RecalledBlock> {
        let mut blocks = Vec::new();
        let patience = context.config.services.deadlines.recall_beside;
        for mut pending in std::mem::take(&mut self.pending) {
            let done = match pending.task.try_join_next() {
                None if !patience.is_zero() => {
                    let joined = tokio::time::timeout(patience, pending.task.join_next()).await;
                    joined.ok().flatten()
                }
                done => done,
            };
            let Some(done) = done else {
                self.pending.push(pending);
                continue;
            };
            let gathered = done.unwrap_or_else(|_| RecallResult::empty("the search failed"));
            context.spending.add(gathered.spent);
            if pending.step == RecallStep::Selector {
                self.failures = if gathered.note.is_some() { self.failures + 1 } else { 0 };
            }
            self.catch_up(context.config, context.conversation);
            blocks.extend(self.show(context, gathered, pending.step, &pending.query, sink));
        }
        blocks
    }

    /// Stops all steps: the turn was interrupted.
    pub(crate) fn stop(&mut self) {
        self.pending.clear();
    }

    /// Makes a block of the memories that fit the budget, and sends a receipt.
    fn show(
        &mut self,
        context: &mut RecallContext<'_>,
        gathered: RecallResult,
        step: RecallStep,
        query: &str,
        sink: &mut EventSink<'_>,
    ) -> Option<RecalledBlock> {
        let mut left = self.bytes_left(context.config);
        let (mut shown, mut recalled, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for LoadedMemory { found, shown: memory, why, ranking } in gathered.memories {
            let (file, text) = (found.memory.file.to_string(), memory.render());
            if self.seen.has(&found.path()) {
                continue;
            }
            if text.len() > left {
                let why = "the memory budget of this session is used up".to_owned();
                skipped.push(SkippedMemory { file, why });
                continue;
            }
            left -= text.len();
            self.seen.announce(found.path(), text.len());
            let (path, scope) = (memory.path.clone(), found.store.scope().to_string());
            let tokens = estimate_text(&text);
            context.usage.shown(found.path(), tokens);
            let form = RecallForm::Body;
            recalled.push(RecallReceiptEntry { path, file, scope, form, tokens, why, ranking });
            shown.push(memory);
        }
        let lines =
            self.name(gathered.likely, context.conversation, left, &mut recalled, &mut skipped);
        skipped.extend(gathered.skipped);
        let receipt = RecallReceipt {
            step,
            query: query.to_owned(),
            recalled,
            skipped,
            considered: gathered.considered,
            is_late: gathered.is_late,
            listed: context.listed,
            note: gathered.note,
            took: gathered.took,
        };
        record(context.figures, &receipt);
        if let Some(hooks) = context.hooks {
            notify_recall(hooks, &receipt);
        }
        let reasons = receipt.reasons();
        sink(EngineEvent::Recalled(receipt));
        let texts = RecalledTexts { memories: shown, lines };
        (!texts.is_empty()).then(|| {
            let block = RecalledMemories { text: texts.render() }.to_block();
            RecalledBlock { block, reasons }
        })
    }

    /// The lines of likely memories that fit into `left` bytes and that the conversation does not know yet.
    fn name(
        &mut self,
        likely: Vec<UnaskedMemory>,
        conversation: &Conversation,
        mut left: usize,
        recalled: &mut Vec<RecallReceiptEntry>,
        skipped: &mut Vec<SkippedMemory>,
    ) -> Vec<RecalledMemoryLine> {
        let mut lines = Vec::new();
        let opening: Vec<String> = match likely.as_slice() {
            [] => Vec::new(),
            _ => conversation.prefix().opening_blocks().iter().filter_map(Block::as_text).collect(),
        };
        for memory in likely {
            let (why, ranking) = (why(&memory), ranking(&memory.hit));
            let found = memory.found;
            let (file, path) = (found.memory.file.to_string(), found.path());
            let line = RecalledMemoryLine::of(&found);
            let text = line.render();
            if self.seen.has_or_names(&path) || text.len() > left {
                continue;
            }
            // The index that the conversation began with may name it.
            if opening.iter().any(|text| text.contains(&format!("]({file})"))) {
                let why = format!("{why}; the model knows it from the index");
                skipped.push(SkippedMemory { file, why });
                continue;
            }
            left -= text.len();
            self.seen.announce_line(path.clone(), text.len());
            recalled.push(RecallReceiptEntry {
                path: path.display().to_string(),
                file,
                scope: found.store.scope().to_string(),
                form: RecallForm::Line,
                tokens: estimate_text(&text),
                why,
                ranking: Some(ranking),
            });
            lines.push(line);
        }
        lines
    }

    fn bytes_left(&self, config: &EngineConfig) -> usize {
        let most = usize::try_from(config.model.budget.prompt.recall_bytes).unwrap_or(usize::MAX);
        most.saturating_sub(self.seen.bytes())
    }

    /// Reads the messages since the last call.
    pub(crate) fn catch_up(&mut self, config: &EngineConfig, conversation: &Conversation) {
        if let Some(memory) = &config.memory {
            let session = SessionFiles {
                tools: &config.tools.set,
                folder: &config.project.folder,
                memory: &memory.access,
            };
            self.seen.catch_up(conversation.messages(), &session);
        }
    }
}

/// How long a request waits: the first one of a conversation finds the index still closed, and may be the only one.
fn patience(recall: &RecallSetup, context: &RecallContext<'_>) -> LocalPatience {
    let deadlines = &context.config.services.deadlines;
    let search = match context.conversation.messages() {
        [] if recall.may_be_only_request => deadlines.only_recall,
        [] => deadlines.first_recall,
        _ => deadlines.recall,
    };
    LocalPatience { search, vector: deadlines.recall }
}

/// Writes what was put into the conversation to the log of figures.
fn record(figures: &SessionMetrics, receipt: &RecallReceipt) {
    if receipt.recalled.is_empty() {
        return;
    }
    figures.record(&Metric::Memory(MemoryMetric {
        action: MemoryAction::Recalled,
        count: u64::try_from(receipt.recalled.len()).unwrap_or(u64::MAX),
        by: Some(PURPOSE.to_owned()),
        tokens: receipt.recalled.iter().map(|entry| u64::from(entry.tokens)).sum(),
    }));
}

/// The files of the project that the model has read or changed recently, the latest first: memories about them are likely
/// to help with the next message.
fn open_files(context: &RecallContext<'_>) -> Vec<String> {
    let config = context.config;
    let calls = recent_blocks(context.conversation.messages()).filter_map(Block::as_tool_use);
    let mut files: Vec<String> = Vec::new();
    for call in calls {
        let file = config.tools.set.file_of(call).map(|file| config.project.folder.join(file));
        let relative = file
            .as_deref()
            .and_then(|file| file.strip_prefix(&config.project.checkout).ok()?.to_str());
        if let Some(relative) = relative.filter(|file| !files.iter().any(|known| known == file)) {
            files.push(relative.to_owned());
        }
    }
    files.truncate(MOST_OPEN_FILES);
    files
}

/// The tools that the model has called recently.
fn tools_in_use(messages: &[Arc<Message>]) -> Vec<String> {
    let calls = recent_blocks(messages).filter_map(Block::as_tool_use);
    let mut names: Vec<String> = calls.map(|call| call.name.to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// The blocks of recent messages, the latest message first.
fn recent_blocks(messages: &[Arc<Message>]) -> impl Iterator<Item = &Block> {
    messages.iter().rev().take(RECENT_MESSAGES).flat_map(|message| &message.blocks)
}
