//! The picture in the clipboard, attached to a message (Ctrl-V).

use std::time::Duration;

use dormouse_base::{Dir, RelPath};
use dormouse_tools::output;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::file_mention::mention;
use crate::wiring::session_start::ActiveSession;

use super::session::InteractiveSession;

/// Writes the picture in the clipboard to a file, with the program that the desktop has for it.
const SAVE_CLIPBOARD: &str = r#"
if [ -n "$WAYLAND_DISPLAY" ] && command -v wl-paste >/dev/null; then exec wl-paste --type image/png >"$1"; fi
if [ -n "$DISPLAY" ] && command -v xclip >/dev/null; then exec xclip -selection clipboard -t image/png -o >"$1"; fi
if command -v pngpaste >/dev/null; then exec pngpaste "$1"; fi
exit 127"#;
/// What the script ends with where there is no such program.
const NO_PROGRAM: i32 = 127;
const PATIENCE: Duration = Duration::from_secs(5);
/// How a PNG file begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl InteractiveSession<'_> {
    /// Attaches the picture in the clipboard to the message that is being written.
    pub(super) async fn paste_image(&mut self) {
        // Beside the transcript.
        let folder = self.session.engine.conversation().session_folder();
        match save_clipboard(folder, &self.session).await {
            Ok(path) => {
                let mention = mention(&path);
                self.view.borrow_mut().change(|interface| interface.paste(&mention));
            }
            Err(failure) => self.view.failure(&failure),
        }
    }
}

/// Saves the picture in a folder; returns its path.
async fn save_clipboard(folder: &Dir, session: &ActiveSession) -> Result<String, Failure> {
    let count = folder.names()?.len();
    let name = RelPath::new(format!("pasted-{}.png", count + 1)).map_err(Failure::failed)?;
    let path = folder.path().join(name.as_path()).display().to_string();
    let arguments = ["-c", SAVE_CLIPBOARD, "sh", &path];
    let environment = &session.environment;
    let project = &session.project.folder;
    let ran = output("sh", &arguments, project, environment, PATIENCE).await;
    let ended = ran.map_err(Failure::failed)?.code;
    if ended == Some(NO_PROGRAM) {
        return Err(Failure::failed(anyhow::anyhow!(msg!("clipboard-no-program"))));
    }
    let is_picture = folder.read(&name).is_ok_and(|bytes| bytes.starts_with(PNG));
    if is_picture {
        return Ok(path);
    }
    // Not every program leaves an empty file.
    if folder.entry(&name).is_ok() {
        folder.remove_file(&name)?;
    }
    Err(Failure::failed(anyhow::anyhow!(msg!("clipboard-no-image"))))
}
