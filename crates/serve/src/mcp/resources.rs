//! Memories and their index as MCP resources.

use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{ChangeError, FoundMemory, LookupError};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, Resource, ResourceContents, ResourceTemplate};

use super::uri;
use crate::memories::{ClientMemories, MemoryRequestError};

const MARKDOWN: &str = "text/markdown";
/// Memories in a page of the list.
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
    let all = memories.list(None).map_err(failed)?;
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

fn resource(found: &FoundMemory) -> Resource {
    let memory = &found.memory;
    let about = memory.header.description.clone().unwrap_or_default();
    Resource::new(uri::of(found.scope(), &memory.file), memory.file.as_str())
        .with_title(memory.name())
        .with_description(about)
        .with_mime_type(MARKDOWN)
        .with_size(memory.size)
}

/// The contents at an address.
pub(super) fn read(
    memories: &ClientMemories,
    address: &str,
) -> Result<ResourceContents, ErrorData> {
    let text = if address == uri::INDEX {
        memories.index().map_err(failed)?
    } else {
        let (scope, file) = uri::read(address).ok_or_else(unknown)?;
        let reachable = memories.reachable();
        let found = match reachable.find_file(scope, &file, QuarantineFilter::Exclude) {
            Ok(found) => found.ok_or_else(unknown)?,
            Err(LookupError::File(error)) => return Err(failed(error.into())),
            Err(_) => return Err(unknown()),
        };
        found.file_text().map_err(gone)?
    };
    Ok(ResourceContents::text(text, address).with_mime_type(MARKDOWN))
}

fn unknown() -> ErrorData {
    ErrorData::resource_not_found("there is no such memory; resources/list names them", None)
}

/// The memory may have been removed meanwhile.
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
