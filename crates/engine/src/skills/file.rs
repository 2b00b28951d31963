//! The one door through which `SKILL.md` files, and definitions of agents, are read.
//!
//! A path is followed to where it leads, links and all; whether that may be read is decided on the real
//! path, and that is opened without following any link: what was decided on is what is read.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::Path;

use dormouse_base::{Dir, RelPath};

use super::{Skill, SkillOwner};

/// Larger files are no instructions.
const MOST_BYTES: u64 = 256 * 1024;

/// The text of a file; nothing, where there is none. With `within` it must not lead out of that folder.
pub fn read(path: &Path, within: Option<&Path>) -> Result<Option<String>, String> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !dangles(path) => return Ok(None),
        Err(_) if dangles(path) => return Err("a link on the way to it leads nowhere".to_owned()),
        Err(error) => return Err(said(error)),
    };
    if let Some(root) = within
        && !root.canonicalize().is_ok_and(|root| real.starts_with(root))
    {
        return Err(format!("it leads out of the project, to {}", real.display()));
    }
    // A look before the opening, which for some devices has effects; the one after it counts.
    plain(&real.symlink_metadata().map_err(said)?)?;
    let below_root = RelPath::new(real.strip_prefix("/").unwrap_or(&real)).map_err(said)?;
    let file = Dir::open("/").and_then(|root| root.open_file(&below_root)).map_err(said)?;
    plain(&file.metadata().map_err(said)?)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(said)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MOST_BYTES {
        return Err(too_large(MOST_BYTES + 1));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    if text.contains('\0') { Err("it is binary".to_owned()) } else { Ok(Some(text)) }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Whether a link on the way leads nowhere: that is no absence, but a mistake.
fn dangles(path: &Path) -> bool {
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    is_link(path) || path.parent().is_some_and(|folder| is_link(folder) && !folder.exists())
}

fn plain(metadata: &Metadata) -> Result<(), String> {
    if !metadata.is_file() {
        Err("it is no plain file".to_owned())
    } else if metadata.len() > MOST_BYTES {
        Err(too_large(metadata.len()))
    } else {
        Ok(())
    }
}

fn too_large(bytes: u64) -> String {
    format!(
        "it has {bytes} bytes, and {MOST_BYTES} are the most; put what is not always needed into files beside it"
    )
}

/// Tells a text from any other.
pub(super) fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl Skill {
    /// What it says, as its file is now. A project's is used as it was trusted, or not at all.
    pub(super) fn text(&self) -> Result<String, String> {
        let text = read(&self.file, self.within.as_deref())?
            .ok_or_else(|| format!("{} is gone", self.file.display()))?;
        let trusted = match self.owner {
            SkillOwner::Person => None,
            SkillOwner::Project => Some("the project"),
            SkillOwner::Plugin => Some("the plugin"),
        };
        if let Some(whose) = trusted.filter(|_| digest(&text) != self.digest) {
            return Err(format!(
                "{} has changed since {whose} was trusted; in a new run the person is asked about it",
                self.file.display()
            ));
        }
        Ok(dormouse_frontmatter::parse(&text).body.trim().to_owned())
    }
}
