//! A picture that is dragged into the terminal.

use std::path::Path;

use crate::wiring::file_mention::mention;

/// The endings of pictures that models read.
const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// A longer text is no path.
const LONGEST_PATH: usize = 4_096;

/// The mention of a picture, if what was pasted is the path of one: terminals paste the path of a file that is dragged into
/// them, with its blanks escaped or in quotation marks.
pub(super) fn dragged_image(pasted: &str) -> Option<String> {
    if pasted.len() > LONGEST_PATH {
        return None;
    }
    let pasted = pasted.trim();
    let words = shlex::split(pasted).filter(|words| words.len() == 1)?;
    let path = words.first()?;
    let ending = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    let is_picture = ENDINGS.contains(&ending.as_str()) && Path::new(path).is_absolute();
    (is_picture && Path::new(path).is_file()).then(|| mention(path))
}
