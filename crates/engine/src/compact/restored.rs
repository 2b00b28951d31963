//! What was in use before and is in use after (C-18): files, skills, plan, open tasks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_context::Fragment;
use dormouse_context::compact::{Item, OpenTasks, RestoredFile, RestoredFiles, fit};
use dormouse_conversation::{Block, ResultContent, ToolUse, ToolUseId, estimate_text};
use dormouse_tools::{Caller, Gate, Mode, ReadCache, TodoStatus};
use tokio_util::sync::CancellationToken;

use crate::Engine;

/// So many files are put back.
const MOST_FILES: usize = 5;
/// All of them may take so many times what one may.
const FILES_WORTH: u32 = 10;

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
        let all = u64::from(self.config.budget.restored_files_tokens).min(room);
        let each = u64::from(self.config.budget.restored_files_tokens / FILES_WORTH);
        let fresh: Arc<Mutex<ReadCache>> = Arc::default();
        let mut items = Vec::new();
        for path in paths {
            if let Some(text) = self.read_again(&path, &fresh).await {
                let (name, tokens) = (path.display().to_string(), u64::from(estimate_text(&text)));
                items.push(Item { name, text, tokens });
            }
        }
        let files: Vec<RestoredFile> = fit(items, each, all)
            .into_iter()
            .map(|item| RestoredFile { path: item.name, text: item.text, cut: None })
            .collect();
        self.forget_unrestored(fresh, &files);
        let max_tokens = u32::try_from(all).unwrap_or(u32::MAX);
        (!files.is_empty()).then(|| RestoredFiles { files, max_tokens }.to_block())
    }

    /// Read's own view of a file; none if it can not be read, or not by the rules.
    async fn read_again(
        &self,
        path: &std::path::Path,
        cache: &Arc<Mutex<ReadCache>>,
    ) -> Option<String> {
        let caller = Caller::new(
            Arc::clone(&self.config.tools),
            Gate::new(Mode::Plan, self.config.gate.rules().clone()),
        );
        let mut context = self.call_context(CancellationToken::new());
        context.read_cache = Arc::clone(cache);
        let input =
            serde_json::value::to_raw_value(&serde_json::json!({ "file_path": path })).ok()?;
        let id = ToolUseId::new("restored");
        let result = caller.run(ToolUse { id: &id, name: "Read", input: &input }, &context).await;
        match result.content {
            ResultContent::Text(text) if !result.is_error => Some(text),
            ResultContent::Text(_) | ResultContent::Blocks(_) => None,
        }
    }

    fn forget_unrestored(&mut self, fresh: Arc<Mutex<ReadCache>>, files: &[RestoredFile]) {
        let mut cache = fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let shown: Vec<PathBuf> = files.iter().map(|file| PathBuf::from(&file.path)).collect();
        cache.keep_only(&shown);
        drop(cache);
        self.read_cache = fresh;
    }

    /// The steps of the task, where there are any left.
    pub(super) fn restored_tasks(&self, room: u64) -> Option<Block> {
        let tasks = self.open_tasks();
        let max_tokens = u32::try_from(room).unwrap_or(u32::MAX);
        (!tasks.is_empty()).then(|| OpenTasks { tasks, max_tokens }.to_block())
    }
}
