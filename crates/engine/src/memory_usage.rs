//! How the memories in the context helped a turn: observed while it runs, counted once when it has ended.
//!
//! Invariants: a turn waits no longer than `Deadlines::usage_counts` for its counts, and never fails because of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::metrics::{MemoryEffectMetric, Metric, SessionMetrics};
use dormouse_conversation::{Block, Message, Role, ToolPurpose, ToolUse};
use dormouse_memory::memory_usage::{
    ContextTiming, MemoryInContext, TurnActivity, TurnUsage, assess_usage,
};
use dormouse_memory::{
    Anchor, GuardRegistry, MemoryEntry, MemoryFile, MemoryUsage, ReachableMemories, RecalledFor,
    Store, UsageUpdate,
};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::event::EngineEvent;
use crate::event_sink::EventSink;
use crate::memory::SessionMemory;
use crate::repeated_correction::RepeatedCorrection;

/// The observations of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnMemoryUsage {
    /// The files that the context had when the turn began.
    before: HashSet<PathBuf>,
    happened: TurnActivity,
    /// Memories that were shown, and the tokens of each.
    shown: Vec<(PathBuf, u32)>,
    /// Memories that were already corrected in it.
    corrected: HashSet<PathBuf>,
    /// Counts that are not finished.
    counting: Vec<JoinHandle<Vec<RepeatedCorrection>>>,
}

impl TurnMemoryUsage {
    /// Records a memory that was shown.
    pub(crate) fn shown(&mut self, path: PathBuf, tokens: u32) {
        self.shown.push((path, tokens));
    }

    /// Observes a message.
    pub(crate) fn see(&mut self, message: &Message, folder: &Path, access: &SessionMemory) {
        if message.role != Role::Assistant {
            return;
        }
        self.happened.answers.extend(message.blocks.iter().filter_map(Block::as_text));
        for call in message.blocks.iter().filter_map(Block::as_tool_use) {
            // Other calls say nothing about what a memory is about.
            if traits_of(call.name).purpose == ToolPurpose::Work {
                self.see_call(&call, folder, access);
            }
        }
    }

    fn see_call(&mut self, call: &ToolUse<'_>, folder: &Path, access: &SessionMemory) {
        // Only an object has arguments.
        let Ok(input) = serde_json::from_str::<BTreeMap<String, Value>>(call.input.get()) else {
            return;
        };
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let path = text("file_path").or_else(|| text("path"));
        // Reading a memory is not following it.
        if path.is_some_and(|path| access.memories().memory_at(&folder.join(path)).is_some()) {
            return;
        }
        for (key, value) in &input {
            let Some(value) = value.as_str().map(str::to_owned) else { continue };
            match key.as_str() {
                "file_path" | "path" => self.happened.paths.push(value),
                "command" => self.happened.commands.push(value),
                "description" => {}
                _ => self.happened.words.push(value),
            }
        }
    }
}

/// The input of a count.
struct UsageOfTurn {
    before: HashSet<PathBuf>,
    present: BTreeSet<PathBuf>,
    happened: TurnActivity,
    shown: Vec<(PathBuf, u32)>,
    updated: HashSet<PathBuf>,
}

impl TurnMemoryUsage {
    /// Begins a turn, with the files that the context has from before.
    pub(crate) fn begin_turn(&mut self, before: HashSet<PathBuf>) {
        self.before = before;
        self.happened = TurnActivity::default();
        self.corrected.clear();
    }

    /// Counts a turn that has ended, with the files that the context has now.
    pub(crate) async fn count_turn(
        &mut self,
        access: Arc<SessionMemory>,
        seen: HashSet<PathBuf>,
        figures: &SessionMetrics,
        patience: Duration,
        sink: &mut EventSink<'_>,
    ) {
        let updated = access.take_changed();
        self.corrected.extend(updated.iter().cloned());
        let gathered = UsageOfTurn {
            before: self.before.clone(),
            present: seen.into_iter().chain(self.before.clone()).collect(),
            happened: std::mem::take(&mut self.happened),
            shown: std::mem::take(&mut self.shown),
            updated,
        };
        if gathered.present.is_empty() && gathered.shown.is_empty() {
            return;
        }
        self.begin_counting(access, gathered, figures);
        self.finish_counting(patience, sink).await;
    }

    /// Counts memories that were changed after the turn they were corrected in.
    pub(crate) fn count_late_corrections(
        &mut self,
        access: &Arc<SessionMemory>,
        figures: &SessionMetrics,
    ) {
        let mut updated = access.take_changed();
        updated.retain(|path| !self.corrected.contains(path));
        if updated.is_empty() {
            return;
        }
        let before = self.before.clone();
        let present = updated.iter().filter(|path| before.contains(*path)).cloned().collect();
        let happened = TurnActivity::default();
        let gathered = UsageOfTurn { before, present, happened, shown: Vec::new(), updated };
        self.begin_counting(Arc::clone(access), gathered, figures);
    }

    fn begin_counting(
        &mut self,
        access: Arc<SessionMemory>,
        gathered: UsageOfTurn,
        figures: &SessionMetrics,
    ) {
        let figures = figures.clone();
        let count = move || count(access.memories(), gathered, &figures);
        self.counting.push(tokio::task::spawn_blocking(count));
    }

    /// Waits for counts; those that take longer than `patience` are waited for again later.
    async fn finish_counting(&mut self, patience: Duration, sink: &mut EventSink<'_>) {
        for mut counting in std::mem::take(&mut self.counting) {
            match tokio::time::timeout(patience, &mut counting).await {
                Ok(corrected) => {
                    let corrected = corrected.unwrap_or_default().into_iter();
                    corrected.for_each(|corrected| sink(EngineEvent::Corrected(corrected)));
                }
                Err(_) => self.counting.push(counting),
            }
        }
    }

    /// Waits for the last counts: the session ends.
    pub(crate) async fn finish(&mut self, patience: Duration, sink: &mut EventSink<'_>) {
        self.finish_counting(patience, sink).await;
        if !self.counting.is_empty() {
            let seconds = patience.as_secs_f32();
            let text = format!(
                "Whether memories helped in the last turn was not counted: the memory folder was busy for {seconds} s."
            );
            sink(EngineEvent::Notice(text.into()));
        }
    }
}

/// Counts a turn. Returns the memories that were corrected often enough.
fn count(
    reachable: &ReachableMemories,
    gathered: UsageOfTurn,
    figures: &SessionMetrics,
) -> Vec<RepeatedCorrection> {
    let UsageOfTurn { before, present, happened, shown, updated } = gathered;
    let arrival = |path: &PathBuf| {
        if before.contains(path) { ContextTiming::BeforeTurn } else { ContextTiming::DuringTurn }
    };
    let mut places: Vec<(Arc<Store>, MemoryFile)> = Vec::new();
    let mut memories = Vec::new();
    for path in &present {
        let Some((store, file)) = reachable.memory_at(path) else { continue };
        // A memory that was deleted meanwhile is not counted.
        let Some(memory) = in_context(&store, &file, arrival(path), updated.contains(path)) else {
            continue;
        };
        places.push((store, file));
        memories.push(memory);
    }
    let effects = assess_usage(&memories, &happened);
    record(&effects, figures);
    let mut counts: Vec<(Arc<Store>, UsageUpdate)> = Vec::new();
    for ((store, file), effect) in places.into_iter().zip(effects) {
        add(&mut counts, &store, file, |count| UsageUpdate { effect, ..count });
    }
    for (path, tokens) in shown {
        if let Some((store, file)) = reachable.memory_at(&path) {
            add(&mut counts, &store, file, |count| count.recalled(RecalledFor::Us, tokens));
        }
    }
    reachable.stores().iter().flat_map(|store| written(store, &counts)).collect()
}

/// Writes the sums of a turn to the log of figures, which knows the day.
fn record(effects: &[TurnUsage], figures: &SessionMetrics) {
    let sum = |is: fn(TurnUsage) -> bool| {
        u64::try_from(effects.iter().filter(|effect| is(**effect)).count()).unwrap_or(u64::MAX)
    };
    let effect = MemoryEffectMetric {
        cited: sum(|effect| effect.cited),
        helpful: sum(TurnUsage::helped),
        violated: sum(|effect| effect.violated),
    };
    if effect != MemoryEffectMetric::default() {
        figures.record(&Metric::MemoryEffect(effect));
    }
}

/// Adds to the count of a memory, or begins one.
fn add(
    counts: &mut Vec<(Arc<Store>, UsageUpdate)>,
    store: &Arc<Store>,
    file: MemoryFile,
    more: impl Fn(UsageUpdate) -> UsageUpdate,
) {
    let same =
        |(of, count): &&mut (Arc<Store>, UsageUpdate)| Arc::ptr_eq(of, store) && count.file == file;
    match counts.iter_mut().find(same) {
        Some((_, count)) => *count = more(count.clone()),
        None => counts.push((Arc::clone(store), more(UsageUpdate::of(file)))),
    }
}

fn in_context(
    store: &Store,
    file: &MemoryFile,
    arrival: ContextTiming,
    updated: bool,
) -> Option<MemoryInContext> {
    let (bytes, _) = store.read(file).ok()?;
    let MemoryEntry { header, body, .. } = MemoryEntry::read(&bytes, bytes.len() as u64);
    Some(MemoryInContext {
        file: file.to_string(),
        name: header.name.unwrap_or_else(|| file.stem().to_owned()),
        description: header.description.unwrap_or_default(),
        kind: header.kind,
        body,
        anchors: header.anchors.iter().filter_map(|anchor| Anchor::parse(anchor)).collect(),
        arrival,
        updated,
    })
}

/// Writes the counts of one store. Returns the memories for which a guard is offered.
fn written(store: &Arc<Store>, counts: &[(Arc<Store>, UsageUpdate)]) -> Vec<RepeatedCorrection> {
    let mine: Vec<UsageUpdate> = counts
        .iter()
        .filter(|(of, _)| Arc::ptr_eq(of, store))
        .map(|(_, count)| count.clone())
        .collect();
    // A lost count only affects the ranking, or delays an offer.
    let counted = store.usage().record(&mine).unwrap_or_default();
    let violated =
        |file: &MemoryFile| mine.iter().any(|count| count.file == *file && count.effect.violated);
    let corrected = counted.into_iter().filter(|(file, _)| violated(file));
    corrected.filter_map(|(file, uses)| offered(store, &file, uses)).collect()
}

fn offered(store: &Store, file: &MemoryFile, uses: MemoryUsage) -> Option<RepeatedCorrection> {
    // If the registry cannot be read, the commands for guards report it.
    let registry = GuardRegistry::read(store.state_root()?).ok()?;
    let path = store.dir().path().join(file.as_str());
    let memory = in_context(store, file, ContextTiming::BeforeTurn, true)?;
    registry.is_due(&path, uses.violated).then(|| RepeatedCorrection {
        name: memory.name,
        file: file.to_string(),
        times: uses.violated,
    })
}

#[cfg(test)]
#[path = "memory_usage_tests.rs"]
mod tests;
