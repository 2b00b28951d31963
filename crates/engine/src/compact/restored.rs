//! What was in use before a compaction and stays in use after it (C-18): files, skills, plan, open tasks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_context::Fragment;
use dormouse_context::compact::{
    OpenTasks, RestoredFile, RestoredFiles, RestoredItem, RestoredPlan, RestoredSkills, fit_items,
};
use dormouse_conversation::known_tools::READ;
use dormouse_conversation::{Block, ResultContent, ToolUse, ToolUseId, estimate_text};
use dormouse_hooks::HookRunner;
use dormouse_permissions::PermissionMode;
use dormouse_tools::{CallRunner, ReadCache};
use tokio_util::sync::CancellationToken;

use crate::config::EngineConfig;
use crate::session_hooks::notes_block;
use crate::session_tools::SessionTools;
use crate::tool_state::{ToolState, caller};

/// The most files that are restored.
const MOST_FILES: usize = 5;
/// All files together may take this many times the size of one.
const FILES_WORTH: u32 = 10;
/// All skills together may take this many times the size of one.
const SKILLS_WORTH: u32 = 5;
/// The tokens of the text around them.
const FRAME: u64 = 64;
/// Marks a truncated text.
const CUT: &str = "[cut here; the rest is where it came from]";

/// Restores what was in use before a compaction.
pub(super) struct Restorer<'a> {
    pub(super) config: &'a EngineConfig,
    pub(super) tool_state: &'a mut ToolState,
    pub(super) session_tools: &'a SessionTools,
    pub(super) hooks: Option<&'a Arc<HookRunner>>,
}

impl Restorer<'_> {
    /// Everything that was in use and fits into this many tokens, with the notes of hooks first.
    pub(super) async fn blocks(&mut self, mut room: u64, notes: Vec<String>) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut take = |block: Option<Block>, room: &mut u64| {
            if let Some(block) = block.filter(|block| u64::from(block.tokens()) <= *room) {
                *room -= u64::from(block.tokens());
                blocks.push(block);
            }
        };
        take(notes_block(notes), &mut room);
        take(self.tasks(room), &mut room);
        take(self.plan(room), &mut room);
        take(self.skills(room), &mut room);
        let files = self.files(room).await;
        take(files, &mut room);
        blocks
    }

    /// The files that were read last, as they are now, as far as there is room. The model may edit only what it sees of
    /// them: the record of read files starts again.
    async fn files(&mut self, room: u64) -> Option<Block> {
        let paths = self.tool_state.read_cache().newest(MOST_FILES);
        let all = u64::from(self.config.model.budget.compaction.restored_files_tokens).min(room);
        let each =
            u64::from(self.config.model.budget.compaction.restored_files_tokens / FILES_WORTH);
        let fresh: Arc<Mutex<ReadCache>> = Arc::default();
        let mut items = Vec::new();
        for path in paths {
            if let Some(text) = self.read_again(&path, &fresh).await {
                let text = bounded(&text, each);
                let name = path.display().to_string();
                let tokens = u64::from(estimate_text(&text));
                items.push(RestoredItem { name, text, tokens });
            }
        }
        // A truncated file may not be edited: headings and frame count.
        let headings: u64 = items.iter().map(|item| u64::from(estimate_text(&item.name)) + 2).sum();
        let files: Vec<RestoredFile> = fit_items(items, each, all.saturating_sub(headings + FRAME))
            .into_iter()
            .map(|item| {
                let cut = item.text.ends_with(CUT).then(|| "Read shows the rest".to_owned());
                RestoredFile { path: item.name, text: item.text, cut }
            })
            .collect();
        self.forget_unrestored(fresh, &files);
        (!files.is_empty()).then(|| RestoredFiles { files, max_tokens: most(all) }.to_block())
    }

    /// The Read tool's view of a file; none if it cannot be read, or rules or hooks deny it.
    async fn read_again(
        &self,
        path: &std::path::Path,
        cache: &Arc<Mutex<ReadCache>>,
    ) -> Option<String> {
        let gate = self.config.tools.gate.detached(PermissionMode::Plan);
        let caller = CallRunner { gate, confirmer: None, ..caller(self.config, self.hooks) };
        let mut context = self.tool_state.call_context(self.config, CancellationToken::new());
        context.read_cache = Arc::clone(cache);
        let input =
            serde_json::value::to_raw_value(&serde_json::json!({ "file_path": path })).ok()?;
        let id = ToolUseId::new("restored");
        let result =
            caller.run(ToolUse { id: &id, name: READ.name, input: &input }, &context).await;
        match result.content {
            ResultContent::Text(text) if !result.is_error => {
                Some(self.config.tools.redactor.redact(&text))
            }
            ResultContent::Text(_) | ResultContent::Blocks(_) => None,
        }
    }

    fn forget_unrestored(&mut self, fresh: Arc<Mutex<ReadCache>>, files: &[RestoredFile]) {
        let mut cache = fresh.lock().unwrap_or_else(PoisonError::into_inner);
        // The model has to read a truncated file again before it changes it.
        let whole = files.iter().filter(|file| file.cut.is_none());
        let shown: Vec<PathBuf> = whole.map(|file| PathBuf::from(&file.path)).collect();
        cache.keep_only(&shown);
        drop(cache);
        self.tool_state.replace_read_cache(fresh);
    }

    /// The submitted plan.
    fn plan(&self, room: u64) -> Option<Block> {
        let plan = self.session_tools.plan()?;
        let path = plan.path.display().to_string();
        Some(RestoredPlan { path, text: plan.text, max_tokens: most(room) }.to_block())
    }

    /// The skills in use, the newest first, as far as there is room.
    fn skills(&self, room: u64) -> Option<Block> {
        let all = u64::from(self.config.model.budget.compaction.restored_skills_tokens).min(room);
        let each =
            u64::from(self.config.model.budget.compaction.restored_skills_tokens / SKILLS_WORTH);
        let items = self.session_tools.skills_in_use().restored().into_iter().map(|skill| {
            let text = bounded(&skill.text, each);
            let tokens = u64::from(estimate_text(&text));
            RestoredItem { name: skill.name, text, tokens }
        });
        let skills: Vec<(String, String)> = fit_items(items.collect(), each, all)
            .into_iter()
            .map(|item| (item.name, item.text))
            .collect();
        (!skills.is_empty()).then(|| RestoredSkills { skills, max_tokens: most(all) }.to_block())
    }

    /// The steps of the task that are not completed.
    fn tasks(&self, room: u64) -> Option<Block> {
        let tasks = self.tool_state.open_tasks();
        (!tasks.is_empty()).then(|| OpenTasks { tasks, max_tokens: most(room) }.to_block())
    }
}

fn most(room: u64) -> u32 {
    u32::try_from(room).unwrap_or(u32::MAX)
}

/// A text of at most so many tokens, truncated at the end of a line.
fn bounded(text: &str, tokens: u64) -> String {
    let most = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(CUT.len() + 1);
    let mut kept = String::new();
    for line in text.split_inclusive('\n').take_while(|line| !line.is_empty()) {
        if kept.len() + line.len() > room {
            break;
        }
        kept.push_str(line);
    }
    format!("{kept}{CUT}")
}
