//! ClientMemories and their index as resources.

use dormouse_memory::ChangeError;
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, Resource, ResourceContents, ResourceTemplate};

use super::uri;
use crate::memories::FoundForClient;
use crate::{ClientMemories, MemoryRequestError};

const MARKDOWN: &str = "text/markdown";
/// So many are listed at once.
const PAGE: usize = 200;

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(uri::TEMPLATE, "memory")
        .with_title("A memory")
        .with_description("`scope` is user, project or team; `file` is what memory_list calls so")
        .with_mime_type(MARKDOWN)
}

/// A page of the list: the index first, then the memories, newest first.
pub(super) fn list(
    memories: &ClientMemories,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let from: usize = match cursor {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            ErrorData::invalid_params(
                "the cursor is not one of ours; list from the beginning",
                None,
            )
        })?,
    };
    let all = memories.all(None).map_err(failed)?;
    let mut listed: Vec<Resource> = if from == 0 { vec![index()] } else { Vec::new() };
    listed.extend(all.iter().skip(from).take(PAGE).map(resource));
    let mut result = ListResourcesResult::with_all_items(listed);
    let next = from.saturating_add(PAGE);
    result.next_cursor = (next < all.len()).then(|| next.to_string());
    Ok(result)
}

fn index() -> Resource {
    Resource::new(uri::INDEX, "MEMORY.md")
        .with_title("The index of all memories")
        .with_description("A line for each memory, by scope")
        .with_mime_type(MARKDOWN)
}

fn resource(found: &FoundForClient<'_>) -> Resource {
    let memory = &found.memory;
    let about = memory.header.description.clone().unwrap_or_default();
    Resource::new(uri::of(found.scope(), &memory.file), memory.file.as_str())
        .with_title(memory.name())
        .with_description(about)
        .with_mime_type(MARKDOWN)
        .with_size(memory.size)
}

/// What an address holds.
pub(super) fn read(
    memories: &ClientMemories,
    address: &str,
) -> Result<ResourceContents, ErrorData> {
    let text = if address == uri::INDEX {
        memories.index().map_err(failed)?
    } else {
        let (scope, file) = uri::read(address).ok_or_else(unknown)?;
        let shelf = memories.shelf(scope).map_err(|_| unknown())?;
        let scan = shelf.scan().map_err(|error| failed(error.into()))?;
        // By the scan, which leaves out what is in quarantine.
        let memory = scan.memories.into_iter().find(|memory| memory.file == file);
        let memory = memory.ok_or_else(unknown)?;
        FoundForClient { shelf, memory }.text().map_err(gone)?
    };
    Ok(ResourceContents::text(text, address).with_mime_type(MARKDOWN))
}

fn unknown() -> ErrorData {
    ErrorData::resource_not_found("there is no such memory; resources/list names them", None)
}

/// It went away between the look and the reading.
fn gone(error: ChangeError) -> ErrorData {
    match error {
        ChangeError::Missing(_) => unknown(),
        other => failed(other.into()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn failed(error: MemoryRequestError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
