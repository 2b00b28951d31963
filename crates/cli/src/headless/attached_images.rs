//! Pictures within a message of the stream: saved beside the transcript and named in the prompt, as a pasted one is.

use base64::Engine as _;
use dormouse_base::{Dir, RelPath};

use crate::wiring::exit::Failure;
use crate::wiring::file_mention::mention;

use super::stream_input::{ImageData, UserBlock, UserContent};

/// The prompt for a message.
pub(super) fn prompt(content: UserContent, folder: &Dir) -> Result<String, Failure> {
    let blocks = match content {
        UserContent::Text(text) => return Ok(text),
        UserContent::Blocks(blocks) => blocks,
    };
    let mut parts = Vec::new();
    for block in blocks {
        parts.push(match block {
            UserBlock::Text { text } => text,
            UserBlock::Image { source } => mention(&save(&source, folder)?).trim_end().to_owned(),
        });
    }
    Ok(parts.join("\n"))
}

/// Saves a picture; returns its path.
fn save(image: &ImageData, folder: &Dir) -> Result<String, Failure> {
    let ending = match image.media_type.as_str() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        other => {
            return Err(Failure::failed(anyhow::anyhow!(
                "a message with a picture of type `{other}` was not sent; use PNG, JPEG, GIF or WebP"
            )));
        }
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(&image.data).map_err(|error| {
        Failure::failed(anyhow::anyhow!(
            "a message with a picture was not sent: its data is not base64 ({error})"
        ))
    })?;
    let name = format!("attached-{}.{ending}", folder.names()?.len() + 1);
    let name = RelPath::new(name).map_err(Failure::failed)?;
    folder.replace(&name, &bytes)?;
    Ok(folder.path().join(name.as_path()).display().to_string())
}
