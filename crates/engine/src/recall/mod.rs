//! Memories that match the user's message, attached to it.
//!
//! Two steps, neither of which delays a turn. The local ranking runs while the request is being built; its sure matches
//! go with the user's message. While the request runs, a small model chooses from the list of memories; its choice
//! goes with the next message.
//!
//! Invariants: nothing is added to a message that was sent; a memory that the conversation has seen is not shown again;
//! recalled text is never attributed to the user.

mod content;
mod local;
mod receipt;
mod seen_memories;
mod selector;
mod setup;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::FileError;
use dormouse_context::{Fragment, RecalledMemories, RecalledMemoryText as Shown};
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::{Block, Message, estimate_text};
use dormouse_hooks::HookRunner;
use dormouse_memory::{FoundMemory, ReachableMemories, is_substantial};
use jiff::Timestamp;
use tokio::task::JoinSet;

use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::event::EngineEvent;
use crate::event_sink::EventSink;
use crate::hook_wiring::notify_recall;
use crate::memory::SessionMemory;
use crate::memory_usage::TurnMemoryUsage;
use crate::spending::Spending;
use local::{LocalHit, LocalRanking};
pub use receipt::{RecallReceipt, RecallReceiptEntry, RecallStep, SkippedMemory};
use seen_memories::{SeenMemories, SessionFiles};
pub use selector::SmallModel;
use selector::{MOST_CHOSEN, SelectorAnswer, SelectorRequest};
pub use setup::{MentionedAgentMemory, RecallSetup};

/// Skipped memories that a receipt names.
const NAMED_SKIPPED: usize = 5;
/// After this many failures in a row, the small model is not asked again in this session.
const MOST_FAILURES: u32 = 3;
/// Tools that were called in this many recent messages are in use.
const RECENT_MESSAGES: usize = 12;

/// The state of recall in a conversation.
#[derive(Debug, Default)]
pub(crate) struct RecallState {
    seen: SeenMemories,
    selecting: Option<PendingSelection>,
    /// Selections in a row that failed.
    failures: u32,
}

/// A selection that runs, or is done and not yet shown.
#[derive(Debug)]
struct PendingSelection {
    /// Dropping it ends the request.
    task: JoinSet<RecallResult>,
    query: String,
}

/// A memory that is ready to be shown.
#[derive(Debug)]
struct LoadedMemory {
    found: FoundMemory,
    shown: Shown,
    why: String,
}

/// The result of a step.
#[derive(Debug, Default)]
struct RecallResult {
    memories: Vec<LoadedMemory>,
    skipped: Vec<SkippedMemory>,
    considered: usize,
    note: Option<String>,
    took: Duration,
    cost_usd: f64,
    /// The index is due to be refreshed.
    is_old: bool,
}

impl RecallResult {
    fn empty(why: impl Into<String>) -> Self {
        Self { note: Some(why.into()), ..Self::default() }
    }
}

/// The parts of a session that recall uses.
pub(crate) struct RecallContext<'a> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) conversation: &'a Conversation,
    pub(crate) hooks: Option<&'a Arc<HookRunner>>,
    pub(crate) figures: &'a SessionMetrics,
    pub(crate) spending: &'a mut Spending,
    pub(crate) usage: &'a mut TurnMemoryUsage,
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
    ) -> Vec<Block> {
        let late = self.take_selected(context, sink);
        self.selecting = None;
        let now = self.recall_now(prompt, context, sink).await;
        late.into_iter().chain(now).collect()
    }

    async fn recall_now(
        &mut self,
        prompt: &str,
        context: &mut RecallContext<'_>,
        sink: &mut EventSink<'_>,
    ) -> Option<Block> {
        let setup = context.config.memory.as_ref()?;
        let recall = setup.recall.clone()?;
        let mentioned = recall.agents.as_ref().and_then(|agents| agents.memory_of(prompt));
        let access = mentioned.unwrap_or_else(|| Arc::clone(&setup.access));
        let query = Some(prompt.trim().to_owned()).filter(|prompt| is_substantial(prompt))?;
        self.catch_up(context.config, context.conversation);
        if self.bytes_left(context.config) == 0 {
            return None;
        }
        let since = context.config.services.clock.elapsed();
        let seen_by_now = self.seen.files();
        let mut gathered = search_within(recall.patience, &access, &query, &seen_by_now).await;
        gathered.took = context.config.services.clock.elapsed().saturating_sub(since);
        let shown: Vec<PathBuf> =
            gathered.memories.iter().map(|memory| memory.found.path()).collect();
        if gathered.is_old {
            refresh_index(&access);
        }
        let block = self.show(context, gathered, RecallStep::Local, &query, sink);
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
        query: String,
        passed: Vec<PathBuf>,
    ) {
        let selection = SelectorRequest {
            small,
            message: context.conversation.new_id(),
            query: query.clone(),
            manifest: Vec::new(),
            offered: Vec::new(),
            tools_in_use: tools_in_use(context.conversation.messages()),
            clock: Arc::clone(&context.config.services.clock),
            figures: context.figures.clone(),
            prices: context.config.cost.prices.clone(),
        };
        let mut task = JoinSet::new();
        task.spawn(select(selection, access, passed));
        self.selecting = Some(PendingSelection { task, query });
    }

    /// The result of the selection, if it is done.
    pub(crate) fn take_selected(
        &mut self,
        context: &mut RecallContext<'_>,
        sink: &mut EventSink<'_>,
    ) -> Option<Block> {
        let done = self.selecting.as_mut()?.task.try_join_next()?;
        let PendingSelection { query, .. } = self.selecting.take()?;
        let gathered = done.unwrap_or_else(|_| RecallResult::empty("the selection failed"));
        context.spending.add_usd(gathered.cost_usd);
        self.failures = if gathered.note.is_some() { self.failures + 1 } else { 0 };
        self.catch_up(context.config, context.conversation);
        self.show(context, gathered, RecallStep::Selector, &query, sink)
    }

    /// Stops the selection: the turn was interrupted.
    pub(crate) fn stop(&mut self) {
        self.selecting = None;
    }

    /// Makes a block of the memories that fit the budget, and sends a receipt.
    fn show(
        &mut self,
        context: &mut RecallContext<'_>,
        gathered: RecallResult,
        step: RecallStep,
        query: &str,
        sink: &mut EventSink<'_>,
    ) -> Option<Block> {
        let mut left = self.bytes_left(context.config);
        let (mut shown, mut recalled, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for LoadedMemory { found, shown: memory, why } in gathered.memories {
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
            recalled.push(RecallReceiptEntry { path, file, scope, tokens, why });
            shown.push(memory);
        }
        skipped.extend(gathered.skipped);
        let receipt = RecallReceipt {
            step,
            query: query.to_owned(),
            recalled,
            skipped,
            considered: gathered.considered,
            note: gathered.note,
            took: gathered.took,
        };
        if let Some(hooks) = context.hooks {
            notify_recall(hooks, &receipt);
        }
        sink(EngineEvent::Recalled(receipt));
        (!shown.is_empty()).then(|| RecalledMemories { memories: shown }.to_block())
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

/// The tools that the model has called recently.
fn tools_in_use(messages: &[Arc<Message>]) -> Vec<String> {
    let late = messages.iter().rev().take(RECENT_MESSAGES).flat_map(|message| &message.blocks);
    let mut names: Vec<String> =
        late.filter_map(|block| Some(block.as_tool_use()?.name.to_owned())).collect();
    names.sort();
    names.dedup();
    names
}

/// The local step within its time limit.
async fn search_within(
    patience: Duration,
    access: &Arc<SessionMemory>,
    query: &str,
    seen: &[PathBuf],
) -> RecallResult {
    let (access, query, seen) = (Arc::clone(access), query.to_owned(), seen.to_owned());
    let searching = tokio::task::spawn_blocking(move || {
        search(access.memories(), &query, &seen, access.clock().now())
    });
    match tokio::time::timeout(patience, searching).await {
        Ok(Ok(gathered)) => gathered,
        Ok(Err(_)) => RecallResult::empty("the search failed"),
        Err(_) => {
            let patience = patience.as_millis();
            RecallResult::empty(format!("the search took more than {patience} ms and was skipped"))
        }
    }
}

/// The local step: ranks, and reads the sure matches.
fn search(
    memories: &ReachableMemories,
    query: &str,
    seen: &[PathBuf],
    now: Timestamp,
) -> RecallResult {
    let most = MOST_CHOSEN + NAMED_SKIPPED;
    let LocalRanking { ranked, considered, is_old } =
        match local::rank(memories, query, seen, most, now) {
            Ok(local) => local,
            Err(error) => return RecallResult::empty(error.to_string()),
        };
    let mut gathered = RecallResult { considered, is_old, ..RecallResult::default() };
    for LocalHit { found, sure, why } in ranked {
        let ready = if sure && gathered.memories.len() < MOST_CHOSEN {
            content::read(&found, now)
        } else {
            None
        };
        match ready {
            Some(shown) => gathered.memories.push(LoadedMemory { found, shown, why }),
            None => {
                let file = found.memory.file.to_string();
                gathered.skipped.push(SkippedMemory { file, why });
            }
        }
    }
    gathered
}

/// The selector step: the small model gets the list of memories not seen yet; its choice is read.
async fn select(
    mut selection: SelectorRequest,
    access: Arc<SessionMemory>,
    passed: Vec<PathBuf>,
) -> RecallResult {
    let since = selection.clock.elapsed();
    let (clock, query) = (Arc::clone(&selection.clock), selection.query.clone());
    let listing = {
        let access = Arc::clone(&access);
        tokio::task::spawn_blocking(move || {
            list(access.memories(), &query, &passed, access.clock().now())
        })
        .await
    };
    let Ok(Ok(mut listed)) = listing else {
        return RecallResult::empty("the memories could not be listed");
    };
    let considered = listed.len();
    if considered == 0 {
        return RecallResult::default();
    }
    selection.manifest = listed.iter().map(|(_, line)| line.clone()).collect();
    selection.offered = listed.iter().map(|(found, _)| found.memory.file.to_string()).collect();
    let SelectorAnswer { names, error, cost_usd } = selection.ask().await;
    let mut chosen = Vec::new();
    for name in names {
        // Two scopes may have a file of one name: both are meant.
        chosen.extend(listed.extract_if(.., |(found, _)| found.memory.file.as_str() == name));
    }
    chosen.truncate(MOST_CHOSEN);
    let now = clock.now();
    let reading = tokio::task::spawn_blocking(move || {
        let ready = |(found, _): (FoundMemory, String)| {
            let shown = content::read(&found, now)?;
            Some(LoadedMemory { found, shown, why: "chosen by the small model".to_owned() })
        };
        chosen.into_iter().filter_map(ready).collect()
    });
    let memories = reading.await.unwrap_or_default();
    let took = clock.elapsed().saturating_sub(since);
    RecallResult { memories, considered, note: error, took, cost_usd, ..RecallResult::default() }
}

/// The candidates with a line for each.
fn list(
    memories: &ReachableMemories,
    query: &str,
    passed: &[PathBuf],
    now: Timestamp,
) -> Result<Vec<(FoundMemory, String)>, FileError> {
    let line = |found: FoundMemory| {
        let line = found.manifest_line(now);
        (found, line)
    };
    let candidates = local::candidates(memories, query, passed, now)?;
    Ok(candidates.into_iter().map(line).collect())
}

/// Takes up changes by other programs in the background: the next message finds them.
fn refresh_index(access: &Arc<SessionMemory>) {
    let access = Arc::clone(access);
    tokio::task::spawn_blocking(move || access.refresh_index());
}
