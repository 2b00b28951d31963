//! Layer 1, carried out: large results are written to the session's folder, the conversation keeps a
//! preview. A write that fails costs the rest of the result, never the turn.

use dormouse_base::{Dir, RelPath};
use dormouse_context::{
    EMPTY_RESULT, ResultBound, Storage, cut, plan_message, plan_result, preview, preview_of,
    stream_file_name,
};
use dormouse_conversation::{Block, BlockKind, Budget, ResultContent, ToolUseId};
use dormouse_tools::{Overflow, ResultLimit, Spilled, ToolSet};

/// The folder of stored results, in the session's own.
const FOLDER: &str = "tool-results";
/// How a preview begins: what is stored already is not stored again.
const STORED_MARK: &str = "<persisted-output>";

/// Where results of a session are stored, and from which size on.
#[derive(Debug, Clone)]
pub(crate) struct ResultStore {
    session: Dir,
    one: usize,
    together: usize,
}

impl ResultStore {
    pub(crate) fn new(session: Dir, budget: &Budget) -> Self {
        let chars = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Self {
            session,
            one: chars(budget.tool_result_chars),
            together: chars(budget.message_result_chars),
        }
    }

    /// How long a result of a tool may be.
    pub(crate) fn bound(&self, tools: &ToolSet, name: &str) -> ResultBound {
        match tools.get(name).map(|tool| tool.result_limit()) {
            Some(ResultLimit::OwnBound) => ResultBound::Exempt,
            Some(ResultLimit::Chars(chars)) => {
                ResultBound::Chars(self.one.min(usize::try_from(chars).unwrap_or(usize::MAX)))
            }
            None => ResultBound::Chars(self.one),
        }
    }

    /// Where a call puts a result that is too long to hold.
    pub(crate) fn overflow(&self, id: &ToolUseId) -> Option<Overflow> {
        // A name made of an id has no reason to be refused; then the result is cut.
        let file = RelPath::new(format!("{FOLDER}/{}", stream_file_name(id))).ok()?;
        Some(Overflow { session: self.session.clone(), file })
    }

    /// A result that is in its file already, as it is sent.
    pub(crate) fn stored(spilled: &Spilled) -> ResultContent {
        let path = spilled.path.display().to_string();
        ResultContent::Text(preview_of(&spilled.head, spilled.chars, spilled.bytes, &path))
    }

    /// One result, as it is sent.
    pub(crate) fn keep(
        &self,
        id: &ToolUseId,
        bound: ResultBound,
        content: ResultContent,
    ) -> ResultContent {
        let ResultContent::Text(text) = content else { return content };
        match plan_result(id, &text, bound) {
            Storage::Whole => ResultContent::Text(text),
            Storage::Empty => ResultContent::Text(EMPTY_RESULT.to_owned()),
            Storage::File(name) => ResultContent::Text(self.store(&name, &text, bound)),
        }
    }

    /// The results of one message that together are too long, as they are sent instead.
    pub(crate) fn keep_message(
        &self,
        blocks: &[Block],
        bound: impl Fn(&ToolUseId) -> ResultBound,
    ) -> Vec<Block> {
        let mut texts: Vec<(ToolUseId, String, ResultBound, bool)> = Vec::new();
        for block in blocks {
            if let (BlockKind::ToolResult { id }, Some(ResultContent::Text(text))) =
                (block.kind(), block.result_content())
            {
                let bound =
                    if text.starts_with(STORED_MARK) { ResultBound::Exempt } else { bound(id) };
                texts.push((id.clone(), text, bound, block.is_error()));
            }
        }
        let views: Vec<(&str, ResultBound)> =
            texts.iter().map(|(_, text, bound, _)| (text.as_str(), *bound)).collect();
        let places = plan_message(&views, self.together);
        places
            .into_iter()
            .filter_map(|place| texts.get(place))
            .map(|(id, text, _, is_error)| {
                // By itself it was not too long: any bound below its length stores it.
                let Storage::File(name) = plan_result(id, text, ResultBound::Chars(0)) else {
                    return Block::tool_result(id, &ResultContent::Text(text.clone()), *is_error);
                };
                let stored = self.store(&name, text, ResultBound::Chars(self.together / 10));
                Block::tool_result(id, &ResultContent::Text(stored), *is_error)
            })
            .collect()
    }

    fn store(&self, name: &str, text: &str, bound: ResultBound) -> String {
        let written = RelPath::new(format!("{FOLDER}/{name}"))
            .map_err(|error| error.to_string())
            .and_then(|path| {
                self.session.replace(&path, text.as_bytes()).map_err(|error| error.to_string())
            });
        match written {
            Ok(()) => {
                preview(text, &self.session.path().join(FOLDER).join(name).display().to_string())
            }
            Err(why) => cut(text, bound, &why),
        }
    }
}
