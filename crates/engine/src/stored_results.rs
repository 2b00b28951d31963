//! Layer 1: large tool results are written to the session's folder, and the conversation keeps a preview. A failed
//! write loses the rest of the result, never the turn.

use std::sync::Arc;

use dormouse_base::{Dir, Redactor, RelPath};
use dormouse_context::{
    EMPTY_RESULT, ResultStorage, StorageLimit, plan_message_storage, plan_result_storage, preview,
    preview_of, stream_file_name, truncate_result,
};
use dormouse_conversation::metrics::{LayerMetric, Metric, SessionMetrics};
use dormouse_conversation::{
    Block, BlockKind, Budget, ResultContent, ToolUseId, estimate_bytes, estimate_text,
};
use dormouse_tools::{OutputFile, ResultLimit, StoredOutput, ToolSet};

use crate::config::result_rules::ResultRules;

/// The folder of stored results, in the session's own.
const FOLDER: &str = "tool-results";
/// The layer's name, by its switch.
const LAYER: &str = "stored_results";
/// How a preview begins: what is stored already is not stored again.
const STORED_MARK: &str = "<persisted-output>";

/// Stores the results of a session from a size on.
#[derive(Debug, Clone)]
pub(crate) struct ResultStore {
    session: Dir,
    one: usize,
    together: usize,
    rules: Arc<ResultRules>,
    figures: SessionMetrics,
}

/// A result as it is sent.
pub(crate) struct StoredResult {
    pub(crate) content: ResultContent,
    /// Bytes that went to a file instead; 0 where it is sent whole.
    pub(crate) stored_bytes: u64,
}

impl From<ResultContent> for StoredResult {
    fn from(content: ResultContent) -> Self {
        Self { content, stored_bytes: 0 }
    }
}

impl ResultStore {
    pub(crate) fn new(
        session: Dir,
        budget: &Budget,
        rules: &Arc<ResultRules>,
        figures: SessionMetrics,
    ) -> Self {
        let chars = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Self {
            session,
            one: chars(budget.results.tool_chars),
            together: chars(budget.results.message_chars),
            rules: Arc::clone(rules),
            figures,
        }
    }

    /// How long a result of a tool may be.
    pub(crate) fn bound(&self, tools: &ToolSet, name: &str) -> StorageLimit {
        match tools.get(name).map(|tool| tool.result_limit()) {
            Some(ResultLimit::OwnBound) => StorageLimit::Unlimited,
            Some(ResultLimit::Chars(chars)) => {
                let chars = self.rules.chars.get(name).copied().unwrap_or(chars);
                StorageLimit::Chars(self.one.min(usize::try_from(chars).unwrap_or(usize::MAX)))
            }
            None => StorageLimit::Chars(self.one),
        }
    }

    /// Where a call puts a result that is too long to hold.
    pub(crate) fn overflow(&self, id: &ToolUseId) -> Option<OutputFile> {
        if !self.rules.store {
            return None;
        }
        // A name made of an id has no reason to be refused; then the result is cut.
        let file = RelPath::new(format!("{FOLDER}/{}", stream_file_name(id))).ok()?;
        Some(OutputFile { session: self.session.clone(), file })
    }

    /// A result that is in its file already, as it is sent.
    pub(crate) fn stored(&self, spilled: &StoredOutput) -> StoredResult {
        let path = spilled.path.display().to_string();
        let sent = preview_of(&spilled.head, spilled.chars, spilled.bytes, &path);
        self.record(estimate_bytes(spilled.bytes), &sent);
        StoredResult { content: ResultContent::Text(sent), stored_bytes: spilled.bytes }
    }

    /// One figure for what went to a file and not to the model.
    fn record(&self, tokens: u64, sent: &str) {
        self.figures.record(&Metric::Layer(LayerMetric {
            name: LAYER.to_owned(),
            freed_tokens: tokens.saturating_sub(u64::from(estimate_text(sent))),
            messages: 1,
            changed: 1,
            ..LayerMetric::default()
        }));
    }

    /// One result, as it is sent.
    pub(crate) fn keep(
        &self,
        id: &ToolUseId,
        bound: StorageLimit,
        content: ResultContent,
    ) -> StoredResult {
        let ResultContent::Text(text) = content else { return content.into() };
        match plan_result_storage(id, &text, bound) {
            ResultStorage::Inline => ResultContent::Text(text).into(),
            ResultStorage::Empty => ResultContent::Text(EMPTY_RESULT.to_owned()).into(),
            ResultStorage::File(name) => self.store(&name, &text, bound),
        }
    }

    /// The results of one message that together are too long, as they are sent instead.
    pub(crate) fn keep_message(
        &self,
        blocks: &[Block],
        bound: impl Fn(&ToolUseId) -> StorageLimit,
    ) -> Vec<Block> {
        let mut texts: Vec<(ToolUseId, String, StorageLimit, bool)> = Vec::new();
        for block in blocks {
            if let (BlockKind::ToolResult { id }, Some(ResultContent::Text(text))) =
                (block.kind(), block.result_content())
            {
                let bound =
                    if text.starts_with(STORED_MARK) { StorageLimit::Unlimited } else { bound(id) };
                texts.push((id.clone(), text, bound, block.is_error()));
            }
        }
        let views: Vec<(&str, StorageLimit)> =
            texts.iter().map(|(_, text, bound, _)| (text.as_str(), *bound)).collect();
        let places = plan_message_storage(&views, self.together);
        places
            .into_iter()
            .filter_map(|place| texts.get(place))
            .map(|(id, text, _, is_error)| {
                // By itself it was not too long: any bound below its length stores it.
                let ResultStorage::File(name) =
                    plan_result_storage(id, text, StorageLimit::Chars(0))
                else {
                    return Block::tool_result(id, &ResultContent::Text(text.clone()), *is_error);
                };
                let stored = self.store(&name, text, StorageLimit::Chars(self.together / 10));
                Block::tool_result(id, &stored.content, *is_error)
            })
            .collect()
    }

    fn store(&self, name: &str, text: &str, bound: StorageLimit) -> StoredResult {
        if !self.rules.store {
            return ResultContent::Text(truncate_result(
                text,
                bound,
                "storing of results is switched off",
            ))
            .into();
        }
        let written = RelPath::new(format!("{FOLDER}/{name}"))
            .map_err(|error| error.to_string())
            .and_then(|path| {
                self.session.replace(&path, text.as_bytes()).map_err(|error| error.to_string())
            });
        if let Err(why) = written {
            return ResultContent::Text(truncate_result(text, bound, &why)).into();
        }
        let path = self.session.path().join(FOLDER).join(name);
        let sent = preview(text, &path.display().to_string());
        let stored_bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.record(estimate_bytes(stored_bytes), &sent);
        StoredResult { content: ResultContent::Text(sent), stored_bytes }
    }
}
/// Removes secrets from a result: it goes into the transcript.
pub(crate) fn without_secrets(content: ResultContent, redactor: &Redactor) -> ResultContent {
    match content {
        ResultContent::Text(text) => ResultContent::Text(redactor.redact(&text)),
        blocks @ ResultContent::Blocks(_) => blocks,
    }
}
