//! Pictures that another program or an editor sends with a message: saved beside the transcript and named in the prompt, as a
//! pasted one is.

use base64::Engine as _;
use dormouse_base::{Dir, RelPath};

use crate::wiring::exit::Failure;
use crate::wiring::file_mention::mention;

/// Saves a picture; returns its mention.
pub(crate) fn save(media_type: &str, data: &str, folder: &Dir) -> Result<String, Failure> {
    let ending = match media_type {
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
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).map_err(|error| {
        Failure::failed(anyhow::anyhow!(
            "a message with a picture was not sent: its data is not base64 ({error})"
        ))
    })?;
    let name = format!("attached-{}.{ending}", folder.names()?.len() + 1);
    let name = RelPath::new(name).map_err(Failure::failed)?;
    folder.replace(&name, &bytes)?;
    let path = folder.path().join(name.as_path()).display().to_string();
    Ok(mention(&path).trim_end().to_owned())
}
