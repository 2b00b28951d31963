//! What a turn says about the memories in it: gathered while it runs, counted once when it has ended.
//!
//! Invariants: a turn waits no longer than [`COUNT_TIMEOUT`] for its counts, and never fails for them. What cannot be
//! counted is lost, and nothing else is.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{Block, Message, Role, ToolUse};
use dormouse_memory::memory_usage::{ContextTiming, MemoryInContext, TurnActivity, assess_usage};
use dormouse_memory::{
    Anchor, GuardRegistry, MemoryEntry, MemoryFile, MemoryUsage, RecalledFor, Store, UsageUpdate,
};
use dormouse_provenance::MEMORY_TOOLS;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::memory::SessionMemory;
use crate::{Engine, EngineEvent};

/// How long the end of a turn waits for its counts.
const COUNT_TIMEOUT: Duration = Duration::from_millis(250);
/// How long the end of a session does.
const FINAL_COUNT_TIMEOUT: Duration = Duration::from_secs(2);

/// Tools besides those for memory that say nothing about what a memory is about.
const NOT_WORK: &[&str] = &["TodoWrite", "ExitPlan"];

/// A memory that the person had to say again, often enough for a guard to be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedCorrection {
    /// Its name.
    pub name: String,
    /// Its file's name.
    pub file: String,
    /// How often it was corrected.
    pub times: u64,
}

impl RepeatedCorrection {
    /// In a line; `command` shows a guard when the file's name stands behind it.
    pub fn line(&self, command: &str) -> String {
        let Self { name, file, times } = self;
        format!("{times} times corrected: {name} — `{command} {file}` shows a guard")
    }
}

/// What is seen of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnUsage {
    /// The files that the context had when the person began it.
    before: HashSet<PathBuf>,
    happened: TurnActivity,
    /// Memories that were put in, and what each took.
    shown: Vec<(PathBuf, u32)>,
    /// Those that were corrected in it already.
    corrected: HashSet<PathBuf>,
    /// Counts that nobody has waited for yet, or not long enough.
    counting: Vec<JoinHandle<Vec<RepeatedCorrection>>>,
}

impl TurnUsage {
    /// A memory was put in.
    pub(crate) fn shown(&mut self, path: PathBuf, tokens: u32) {
        self.shown.push((path, tokens));
    }

    /// A message was said.
    pub(crate) fn see(&mut self, message: &Message, folder: &Path, access: &SessionMemory) {
        if message.role != Role::Assistant {
            return;
        }
        self.happened.answers.extend(message.blocks.iter().filter_map(Block::as_text));
        for call in message.blocks.iter().filter_map(Block::as_tool_use) {
            if !NOT_WORK.contains(&call.name) && !MEMORY_TOOLS.contains(&call.name) {
                self.see_call(&call, folder, access);
            }
        }
    }

    fn see_call(&mut self, call: &ToolUse<'_>, folder: &Path, access: &SessionMemory) {
        // What is no object has no words.
        let Ok(input) = serde_json::from_str::<BTreeMap<String, Value>>(call.input.get()) else {
            return;
        };
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let path = text("file_path").or_else(|| text("path"));
        // To read a memory is not to heed it.
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

/// All that a turn leaves to count.
struct UsageOfTurn {
    before: HashSet<PathBuf>,
    present: BTreeSet<PathBuf>,
    happened: TurnActivity,
    shown: Vec<(PathBuf, u32)>,
    updated: HashSet<PathBuf>,
}

impl Engine {
    /// The person begins a turn: what the context has by now, it has from before.
    pub(crate) fn watch_turn(&mut self) {
        self.count_late_corrections();
        self.catch_up();
        self.memory.usage.before = self.memory.recall.seen_files();
        self.memory.usage.happened = TurnActivity::default();
        self.memory.usage.corrected.clear();
    }

    /// What was said is looked at, for the counts at the end.
    pub(crate) fn watch_message(&mut self, message: &Message) {
        if let Some(memory) = &self.config.memory {
            self.memory.usage.see(message, &self.config.project.folder, &memory.access);
        }
    }

    /// The turn has ended: it is counted, beside whatever comes next.
    pub(crate) async fn count_effects(&mut self, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        let Some(memory) = &self.config.memory else { return };
        let access = Arc::clone(&memory.access);
        self.catch_up();
        let updated = access.take_changed();
        self.memory.usage.corrected.extend(updated.iter().cloned());
        let gathered = UsageOfTurn {
            before: self.memory.usage.before.clone(),
            present: self
                .memory
                .recall
                .seen_files()
                .into_iter()
                .chain(self.memory.usage.before.clone())
                .collect(),
            happened: std::mem::take(&mut self.memory.usage.happened),
            shown: std::mem::take(&mut self.memory.usage.shown),
            updated,
        };
        if gathered.present.is_empty() && gathered.shown.is_empty() {
            return;
        }
        self.begin_counting(access, gathered);
        self.finish_counting(COUNT_TIMEOUT, sink).await;
    }

    /// What was written behind the turn, of what was said in it, is a correction in that turn.
    fn count_late_corrections(&mut self) {
        let Some(memory) = &self.config.memory else { return };
        let access = Arc::clone(&memory.access);
        let mut updated = access.take_changed();
        updated.retain(|path| !self.memory.usage.corrected.contains(path));
        if updated.is_empty() {
            return;
        }
        let before = self.memory.usage.before.clone();
        let present = updated.iter().filter(|path| before.contains(*path)).cloned().collect();
        let (happened, shown) = (TurnActivity::default(), Vec::new());
        let gathered = UsageOfTurn { before, present, happened, shown, updated };
        self.begin_counting(access, gathered);
    }

    fn begin_counting(&mut self, access: Arc<SessionMemory>, gathered: UsageOfTurn) {
        let counting = tokio::task::spawn_blocking(move || count(&access, gathered));
        self.memory.usage.counting.push(counting);
    }

    /// Waits for counts, but not long. What takes longer is waited for another time.
    async fn finish_counting(
        &mut self,
        patience: Duration,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) {
        for mut counting in std::mem::take(&mut self.memory.usage.counting) {
            match tokio::time::timeout(patience, &mut counting).await {
                Ok(corrected) => {
                    let corrected = corrected.unwrap_or_default().into_iter();
                    corrected.for_each(|corrected| sink(EngineEvent::Corrected(corrected)));
                }
                Err(_) => self.memory.usage.counting.push(counting),
            }
        }
    }

    /// The session ends: nothing is counted after it.
    pub(crate) async fn end_counting(&mut self, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        self.count_late_corrections();
        self.finish_counting(FINAL_COUNT_TIMEOUT, sink).await;
    }
}

/// Counts a turn. Gives back what was corrected often enough.
fn count(access: &SessionMemory, gathered: UsageOfTurn) -> Vec<RepeatedCorrection> {
    let UsageOfTurn { before, present, happened, shown, updated } = gathered;
    let arrival = |path: &PathBuf| {
        if before.contains(path) { ContextTiming::BeforeTurn } else { ContextTiming::DuringTurn }
    };
    let mut places: Vec<(Arc<Store>, MemoryFile)> = Vec::new();
    let mut memories = Vec::new();
    for path in &present {
        let Some((store, file)) = access.memories().memory_at(path) else { continue };
        // One that is gone meanwhile was good for what it was good for.
        let Some(memory) = in_context(&store, &file, arrival(path), updated.contains(path)) else {
            continue;
        };
        places.push((store, file));
        memories.push(memory);
    }
    let mut counts: Vec<(Arc<Store>, UsageUpdate)> = Vec::new();
    for ((store, file), effect) in places.into_iter().zip(assess_usage(&memories, &happened)) {
        add(&mut counts, &store, file, |count| UsageUpdate { effect, ..count });
    }
    for (path, tokens) in shown {
        if let Some((store, file)) = access.memories().memory_at(&path) {
            add(&mut counts, &store, file, |count| count.recalled(RecalledFor::Us, tokens));
        }
    }
    access.memories().stores().iter().flat_map(|store| written(store, &counts)).collect()
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

/// Writes the counts of one store, and says which of its memories a guard is to be offered for.
fn written(store: &Arc<Store>, counts: &[(Arc<Store>, UsageUpdate)]) -> Vec<RepeatedCorrection> {
    let mine: Vec<UsageUpdate> = counts
        .iter()
        .filter(|(of, _)| Arc::ptr_eq(of, store))
        .map(|(_, count)| count.clone())
        .collect();
    // A count that is lost costs a place in the ranking, or an offer that comes later.
    let counted = store.usage().record(&mine).unwrap_or_default();
    let violated =
        |file: &MemoryFile| mine.iter().any(|count| count.file == *file && count.effect.violated);
    let corrected = counted.into_iter().filter(|(file, _)| violated(file));
    corrected.filter_map(|(file, uses)| offered(store, &file, uses)).collect()
}

fn offered(store: &Store, file: &MemoryFile, uses: MemoryUsage) -> Option<RepeatedCorrection> {
    // Where the book can not be read, the commands for guards say so.
    let book = GuardRegistry::read(store.state_root()?).ok()?;
    let path = store.dir().path().join(file.as_str());
    let memory = in_context(store, file, ContextTiming::BeforeTurn, true)?;
    book.is_due(&path, uses.violated).then(|| RepeatedCorrection {
        name: memory.name,
        file: file.to_string(),
        times: uses.violated,
    })
}

#[cfg(test)]
#[path = "memory_usage_tests.rs"]
mod tests;
