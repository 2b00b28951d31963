//! What a server answers to a call, as the model reads it.

use dormouse_conversation::{Block, ResultContent, neutralize_reminder_tags};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use dormouse_tools::ToolOutput;

/// Kinds of pictures that models take.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The longest picture that is handed on, in bytes of base64: models refuse longer ones.
const PICTURE_BYTES: usize = 5_000_000;

/// The answer.
pub(crate) fn tool_output(result: CallToolResult) -> ToolOutput {
    let CallToolResult { content, structured_content, is_error, .. } = result;
    let mut pieces: Vec<ContentPiece> = content.into_iter().map(piece).collect();
    // Some servers of models refuse a text with nothing in it.
    pieces.retain(|piece| !matches!(piece, ContentPiece::Text(text) if text.is_empty()));
    if let (true, Some(value)) = (pieces.is_empty(), structured_content) {
        pieces.push(ContentPiece::Text(value.to_string()));
    }
    if pieces.is_empty() {
        pieces.push(ContentPiece::Text("[the tool answered with nothing]".to_owned()));
    }
    let mut output = ToolOutput::text("");
    output.content = joined(pieces);
    output.is_error = is_error == Some(true);
    output
}

/// A part of what a server says.
pub(crate) enum ContentPiece {
    Text(String),
    Picture { kind: String, data: String },
}

pub(crate) fn piece(block: ContentBlock) -> ContentPiece {
    match block {
        ContentBlock::Text(text) => ContentPiece::Text(text.text),
        ContentBlock::Image(image) => picture(&image.mime_type, image.data),
        ContentBlock::Audio(audio) => {
            ContentPiece::Text(not_shown("audio", &audio.mime_type, &audio.data))
        }
        ContentBlock::Resource(embedded) => resource(embedded.resource),
        ContentBlock::ResourceLink(link) => {
            let about = link.description.map(|text| format!(": {text}")).unwrap_or_default();
            ContentPiece::Text(format!(
                "[link to the resource {} ({}){about}]",
                link.uri, link.name
            ))
        }
        _ => ContentPiece::Text("[content of a kind that is not known here]".to_owned()),
    }
}

fn resource(contents: ResourceContents) -> ContentPiece {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            ContentPiece::Text(format!("[resource {uri}]\n{text}"))
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let kind = mime_type.unwrap_or_default();
            if PICTURES.contains(&kind.as_str()) {
                return picture(&kind, blob);
            }
            ContentPiece::Text(format!("[resource {uri}] {}", not_shown("data", &kind, &blob)))
        }
        _ => ContentPiece::Text("[a resource of a kind that is not known here]".to_owned()),
    }
}

fn picture(kind: &str, data: String) -> ContentPiece {
    if PICTURES.contains(&kind) && data.len() <= PICTURE_BYTES {
        ContentPiece::Picture { kind: kind.to_owned(), data }
    } else {
        ContentPiece::Text(not_shown("picture", kind, &data))
    }
}

fn not_shown(what: &str, kind: &str, data: &str) -> String {
    format!("[{what}, {kind}, {} bytes of base64: cannot be shown]", data.len())
}

/// One text where there is nothing else. A server does not speak for the program.
fn joined(pieces: Vec<ContentPiece>) -> ResultContent {
    if pieces.iter().all(|piece| matches!(piece, ContentPiece::Text(_))) {
        let texts = pieces.into_iter().filter_map(|piece| match piece {
            ContentPiece::Text(text) => Some(text),
            ContentPiece::Picture { .. } => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        return ResultContent::Text(neutralize_reminder_tags(&text).into_owned());
    }
    let blocks = pieces.into_iter().map(|piece| match piece {
        ContentPiece::Text(text) => Block::text(&neutralize_reminder_tags(&text)),
        ContentPiece::Picture { kind, data } => Block::image(&kind, &data),
    });
    ResultContent::Blocks(blocks.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(content: &serde_json::Value) -> String {
        let result = serde_json::from_value(json!({ "content": content })).unwrap();
        match tool_output(result).content {
            ResultContent::Text(text) => text,
            ResultContent::Blocks(blocks) => blocks.iter().filter_map(Block::as_text).collect(),
        }
    }

    #[test]
    fn a_server_does_not_speak_for_the_program() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let picture = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        let resource =
            json!({"type": "resource", "resource": {"uri": "u:x", "text": "</system-reminder>"}});
        assert_eq!(read(&json!([text("<System-Reminder>")])), "[System-Reminder>");
        assert_eq!(read(&json!([text("<"), text("/system-reminder>")])), "[\n/system-reminder>");
        assert_eq!(read(&json!([text("< system-reminder>"), picture])), "[ system-reminder>");
        assert_eq!(read(&json!([resource])), "[resource u:x]\n[/system-reminder>");
        assert_eq!(read(&json!([text("a < b </b>")])), "a < b </b>");
    }
}
