//! What was in use before and is in use after (C-18): files, skills, plan, open tasks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_context::Fragment;
use dormouse_context::compact::{
    OpenTasks, RestoredFile, RestoredFiles, RestoredItem, RestoredPlan, RestoredSkills, fit_items,
};
use dormouse_conversation::{Block, ResultContent, ToolUse, ToolUseId, estimate_text};
use dormouse_permissions::{PermissionGate, PermissionMode};
use dormouse_tools::{CallRunner, ReadCache, TodoStatus};
use tokio_util::sync::CancellationToken;

use crate::Engine;

/// So many files are put back.
const MOST_FILES: usize = 5;
/// All of them may take so many times what one may.
const FILES_WORTH: u32 = 10;
/// The same of skills.
const SKILLS_WORTH: u32 = 5;
/// What stands around and between them, in tokens.
const FRAME: u64 = 64;
/// What stands at the end of something that was cut.
const CUT: &str = "[cut here; the rest is where it came from]";

impl Engine {
    /// The steps that are still to be done.
    pub(super) fn open_tasks(&self) -> Vec<String> {
        let todos = self.todos.lock().unwrap_or_else(PoisonError::into_inner);
        let open = todos.items.iter().filter(|item| item.status != TodoStatus::Completed);
        open.map(|item| item.content.clone()).collect()
    }

    /// The files that were read last, as they are now, as far as there is room. What the model sees of them
    /// is what it may edit: the record of what was read begins anew.
    pub(super) async fn restored_files(&mut self, room: u64) -> Option<Block> {
        let paths = {
            let cache = self.read_cache.lock().unwrap_or_else(PoisonError::into_inner);
            cache.newest(MOST_FILES)
        };
        let all = u64::from(self.config.budget.compaction.restored_files_tokens).min(room);
        let each = u64::from(self.config.budget.compaction.restored_files_tokens / FILES_WORTH);
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
        // What is cut for want of room is not shown, and so may not be edited: headings and frame count.
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

    /// Read's own view of a file; none if it can not be read, or not by the rules or the hooks.
    async fn read_again(
        &self,
        path: &std::path::Path,
        cache: &Arc<Mutex<ReadCache>>,
    ) -> Option<String> {
        let gate = PermissionGate::new(PermissionMode::Plan, self.config.gate.rules().clone());
        let caller = CallRunner { gate, confirmer: None, ..self.caller() };
        let mut context = self.call_context(CancellationToken::new());
        context.read_cache = Arc::clone(cache);
        let input =
            serde_json::value::to_raw_value(&serde_json::json!({ "file_path": path })).ok()?;
        let id = ToolUseId::new("restored");
        let result = caller.run(ToolUse { id: &id, name: "Read", input: &input }, &context).await;
        match result.content {
            ResultContent::Text(text) if !result.is_error => {
                Some(self.config.redactor.redact(&text))
            }
            ResultContent::Text(_) | ResultContent::Blocks(_) => None,
        }
    }

    fn forget_unrestored(&mut self, fresh: Arc<Mutex<ReadCache>>, files: &[RestoredFile]) {
        let mut cache = fresh.lock().unwrap_or_else(PoisonError::into_inner);
        // Of a file that was cut the model has not seen all: it reads it again before it changes it.
        let whole = files.iter().filter(|file| file.cut.is_none());
        let shown: Vec<PathBuf> = whole.map(|file| PathBuf::from(&file.path)).collect();
        cache.keep_only(&shown);
        drop(cache);
        self.read_cache = fresh;
    }

    /// The plan that was handed in, if there is one.
    pub(super) fn restored_plan(&self, room: u64) -> Option<Block> {
        let plan = self.plan()?;
        let (path, text) = (plan.path.display().to_string(), plan.text);
        Some(RestoredPlan { path, text, max_tokens: most(room) }.to_block())
    }

    /// The skills in use, the newest first, as far as there is room.
    pub(super) fn restored_skills(&self, room: u64) -> Option<Block> {
        let all = u64::from(self.config.budget.compaction.restored_skills_tokens).min(room);
        let each = u64::from(self.config.budget.compaction.restored_skills_tokens / SKILLS_WORTH);
        let items = self.skills_in_use().restored().into_iter().map(|skill| {
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

    /// The steps of the task, where there are any left.
    pub(super) fn restored_tasks(&self, room: u64) -> Option<Block> {
        let tasks = self.open_tasks();
        (!tasks.is_empty()).then(|| OpenTasks { tasks, max_tokens: most(room) }.to_block())
    }
}

fn most(room: u64) -> u32 {
    u32::try_from(room).unwrap_or(u32::MAX)
}

/// A text of at most so many tokens, cut at a line's end, which is said.
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
