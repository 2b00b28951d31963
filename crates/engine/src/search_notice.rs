//! What the user sees of a search that the model's server carries out: its blocks are kept as received and not text.

use dormouse_base::printable;
use dormouse_conversation::{Block, BlockKind};
use serde::Deserialize;

use crate::notice::EngineNotice;

/// The most pages that are shown of one search.
const MOST_PAGES: usize = 10;

#[derive(Deserialize)]
struct SearchInput {
    query: String,
}

#[derive(Deserialize)]
struct SearchedPage {
    #[serde(default)]
    title: String,
    url: String,
}

/// The notice about a block of a search; none for other blocks, and for a search that failed.
pub(crate) fn search_notice(block: &Block) -> Option<EngineNotice> {
    let BlockKind::Other(kind) = block.kind() else { return None };
    match kind.as_str() {
        "server_tool_use" => {
            let input: SearchInput = serde_json::from_str(block.field("input")?.get()).ok()?;
            Some(EngineNotice::WebSearch { query: printable(&input.query).into_owned() })
        }
        "web_search_tool_result" => {
            let pages: Vec<SearchedPage> =
                serde_json::from_str(block.field("content")?.get()).ok()?;
            let pages = pages.iter().take(MOST_PAGES);
            let pages = pages.map(|page| {
                (printable(&page.title).into_owned(), printable(&page.url).into_owned())
            });
            Some(EngineNotice::WebResults { pages: pages.collect() })
        }
        _ => None,
    }
}
