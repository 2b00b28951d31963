//! An anchor as it is stored in a memory's frontmatter.

use std::fmt;

use dormouse_base::RelPath;

use super::project_file::HASH_LENGTH;

/// A claim about a file: that it exists, has this content, and holds this symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Path of the file, relative to the project.
    pub path: String,
    /// A function, type or flag in the file.
    pub symbol: Option<String>,
    /// Hash of the file's content.
    pub hash: String,
    /// The commit that was checked out when the anchor was made.
    pub commit: Option<String>,
}

/// The form in the frontmatter: `src/lib.rs#parse 0123456789abcdef @abcdef0`.
impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(symbol) = &self.symbol {
            write!(f, "#{symbol}")?;
        }
        write!(f, " {}", self.hash)?;
        match &self.commit {
            Some(commit) => write!(f, " @{commit}"),
            None => Ok(()),
        }
    }
}

impl Anchor {
    /// Parses the form of the frontmatter; `None` if the text is no anchor.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, commit) = match text.rsplit_once(" @") {
            Some((text, commit)) => (text, Some(commit.to_owned())),
            None => (text, None),
        };
        let (target, hash) = text.trim().rsplit_once(' ')?;
        let (path, symbol) = match target.split_once('#') {
            Some((path, symbol)) => (path, Some(symbol.to_owned())),
            None => (target, None),
        };
        let is_hash =
            hash.len() == HASH_LENGTH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hash && RelPath::new(path).is_ok()).then(|| Self {
            path: path.to_owned(),
            symbol,
            hash: hash.to_owned(),
            commit,
        })
    }
}
