//! The blocks of an editor's prompt as a text: files are named as in the terminal, what the editor has embedded is quoted.

use dormouse_base::Dir;

use crate::wiring::attached_image;
use crate::wiring::exit::Failure;
use crate::wiring::file_mention::mention;

use super::protocol::PromptBlock;

/// The prompt. Pictures are saved in a folder of the session.
pub(super) fn prompt_text(blocks: Vec<PromptBlock>, folder: &Dir) -> Result<String, Failure> {
    let mut text = String::new();
    for block in blocks {
        match block {
            PromptBlock::Text { text: part } => text.push_str(&part),
            PromptBlock::ResourceLink { uri } => text.push_str(mention(&path_of(&uri)).trim_end()),
            PromptBlock::Image { data, mime_type } => {
                let saved = attached_image::save(&mime_type, &data, folder)?;
                text.push_str(&format!("\n{saved}\n"));
            }
            PromptBlock::Resource { resource } => {
                let content = resource.text;
                let content =
                    content.ok_or_else(|| unreadable("an embedded file that is not a text"))?;
                let (fence, path) = (fence_for(&content), path_of(&resource.uri));
                text.push_str(&format!("\n{path}:\n{fence}\n{content}\n{fence}\n"));
            }
            PromptBlock::Unsupported => return Err(unreadable("sound")),
        }
    }
    Ok(text)
}

fn unreadable(what: &str) -> Failure {
    Failure::failed(anyhow::anyhow!(
        "the prompt contains {what}, which is not supported; leave it out"
    ))
}

/// The path in a `file:` address; another address stays as it is.
fn path_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = path.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        let escaped = (byte == b'%').then(|| bytes.clone().take(2).collect::<Vec<_>>());
        let escaped = escaped.and_then(|digits| String::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(&digits, 16).ok()) {
            Some(value) => {
                decoded.push(value);
                bytes.by_ref().take(2).for_each(drop);
            }
            None => decoded.push(byte),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// A fence that the text does not contain.
pub(super) fn fence_for(text: &str) -> String {
    let mut fence = String::from("```");
    while text.contains(&fence) {
        fence.push('`');
    }
    fence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_and_buffers_are_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Dir::open(folder.path()).unwrap();
        let blocks = serde_json::from_str(
            r#"[{"type": "text", "text": "explain "},
                {"type": "resource_link", "name": "a b.rs", "uri": "file:///p/a%20b.rs"},
                {"type": "resource", "resource": {"uri": "file:///p/%E6%96%87.rs", "text": "let x = \"```\";"}}]"#,
        )
        .unwrap();
        let text = prompt_text(blocks, &folder).unwrap();
        assert_eq!(text, "explain @\"/p/a b.rs\"\n/p/文.rs:\n````\nlet x = \"```\";\n````\n");
    }
}
