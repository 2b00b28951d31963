//! Files that a prompt names with `@path`, and resources of MCP servers (`@server:uri`): their contents go with it, as if the model
//! had read them.

use std::path::Path;

use dormouse_context::{AttachedFile, AttachedResource, Fragment};
use dormouse_conversation::{Block, ResultContent};
use dormouse_mcp_client::McpHub;
use dormouse_tools::{CallContext, Read, Tool};
use serde_json::value::to_raw_value;

use crate::notice::EngineNotice;

/// At most so many are attached to one prompt.
const MOST_FILES: usize = 10;
/// At most so many names of a folder are listed.
const MOST_NAMES: usize = 200;

/// The blocks of the files that a prompt names, and a line about each for the user.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    pub(crate) blocks: Vec<Block>,
    pub(crate) notices: Vec<EngineNotice>,
}

/// Attaches the files and folders that a prompt names. A word that names none is left alone: not every `@` is a path.
pub(crate) async fn attach(
    prompt: &str,
    context: &CallContext,
    servers: Option<&McpHub>,
) -> Attached {
    let mut attached = Attached::default();
    let mut known: Vec<String> = Vec::new();
    for name in mentions(prompt) {
        let file = existing(&name, &context.folder);
        let resource = servers.filter(|_| file.is_none()).and_then(|hub| hub.named_resource(&name));
        let path = match (file, &resource) {
            (Some(path), _) => path,
            (None, Some(resource)) => format!("{}:{}", resource.server, resource.uri),
            (None, None) => continue,
        };
        if known.contains(&path) {
            continue;
        }
        if known.len() == MOST_FILES {
            attached.notices.push(EngineNotice::TooManyFiles { most: MOST_FILES });
            break;
        }
        let found = match (servers, &resource) {
            (Some(servers), Some(resource)) => {
                let read = servers.read_resource(resource).await;
                read.map(|text| vec![resource_block(&path, &text, context)])
                    .map_err(|error| error.to_string())
            }
            _ => contents(&path, context).await,
        };
        match found {
            Ok(blocks) => {
                attached.notices.push(EngineNotice::Attached { path: path.clone() });
                attached.blocks.extend(blocks);
            }
            Err(problem) => attached.notices.push(EngineNotice::NotAttached { problem }),
        }
        known.push(path);
    }
    attached
}

/// The words after `@`: up to a blank, or in quotation marks.
fn mentions(prompt: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = ' ';
    for (at, c) in prompt.char_indices() {
        // In Chinese no blank stands before it; in an address a letter does.
        let starts_word = !before.is_ascii_graphic() || "([{\"'".contains(before);
        before = c;
        let Some(rest) = prompt.get(at..).and_then(|rest| rest.strip_prefix('@')) else { continue };
        if !starts_word {
            continue;
        }
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let word = quoted.map_or_else(
            || rest.split(char::is_whitespace).next().unwrap_or_default(),
            |(quoted, _)| quoted,
        );
        if !word.is_empty() {
            found.push(word.to_owned());
        }
    }
    found
}

/// The word, or what of it is the path of a file: punctuation may follow.
fn existing(word: &str, folder: &Path) -> Option<String> {
    let is_there = |path: &str| !path.is_empty() && folder.join(path).symlink_metadata().is_ok();
    if is_there(word) {
        return Some(word.to_owned());
    }
    // In Chinese no blank stands between a path and the sentence that goes on.
    let mut ends = word.char_indices().rev().map(|(end, _)| end);
    ends.find_map(|end| {
        let (path, rest) = word.split_at(end);
        let cut = rest.chars().next().is_some_and(|c| !c.is_ascii_alphanumeric() && c != '/');
        (cut && is_there(path)).then(|| path.to_owned())
    })
}

/// What the model would see if it read the file, or the names in a folder.
async fn contents(path: &str, context: &CallContext) -> Result<Vec<Block>, String> {
    if context.folder.join(path).is_dir() {
        let text =
            names_in(&context.folder.join(path)).map_err(|error| format!("{path}: {error}"))?;
        return Ok(vec![AttachedFile { path: path.to_owned(), text }.to_block()]);
    }
    let input = to_raw_value(&serde_json::json!({ "file_path": path }))
        .map_err(|error| error.to_string())?;
    let output = Read.call(&input, context).await.map_err(|error| error.to_string())?;
    Ok(match output.content {
        ResultContent::Text(text) => {
            let text = context.redactor.redact(&text);
            vec![AttachedFile { path: path.to_owned(), text }.to_block()]
        }
        // A picture.
        ResultContent::Blocks(blocks) => blocks,
    })
}

fn resource_block(name: &str, text: &str, context: &CallContext) -> Block {
    let text = context.redactor.redact(text);
    AttachedResource { name: name.to_owned(), text }.to_block()
}

fn names_in(folder: &Path) -> std::io::Result<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let mark = if entry.path().is_dir() { "/" } else { "" };
        names.push(format!("{}{mark}", entry.file_name().to_string_lossy()));
    }
    names.sort();
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    if more > 0 {
        names.push(format!("[{more} more]"));
    }
    Ok(names.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_after_an_at_sign() {
        let cases: &[(&str, &[&str])] = &[
            ("see @src/a.rs and @b", &["src/a.rs", "b"]),
            ("@\"a b.txt\" please", &["a b.txt"]),
            ("mail me@example.com", &[]),
            ("（@文档/睡鼠.md）", &["文档/睡鼠.md）"]),
            ("看@文档/睡鼠.md的内容", &["文档/睡鼠.md的内容"]),
            ("@ alone", &[]),
        ];
        for (prompt, expected) in cases {
            assert_eq!(mentions(prompt), *expected, "{prompt}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files that somebody else wrote")]
    fn a_path_ends_where_a_file_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), "").unwrap();
        let existing = |word| existing(word, folder.path());
        for word in ["a.rs", "a.rs,", "a.rs).", "a.rs的第一行"] {
            assert_eq!(existing(word).as_deref(), Some("a.rs"), "{word}");
        }
        for word in ["b.rs", "a.rsx", ""] {
            assert_eq!(existing(word), None, "{word}");
        }
    }
}
