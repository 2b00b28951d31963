//! The bearer token for HTTP: a local port is open to every program and web page on the machine.

use std::fmt;

use dormouse_base::{Dir, FileError, IdSource, RelPath, RelPathError};

/// Its file in the program's folder.
const FILE: &str = "mcp-token";
/// Each id has 74 random bits.
const IDS: usize = 3;

/// A bearer token. It does not print.
pub struct AccessToken(String);

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

impl AccessToken {
    /// Reads the token from a folder, or creates one that only the user can read.
    pub fn load_or_create(folder: &Dir, ids: &dyn IdSource) -> Result<Self, FileError> {
        let file = file().map_err(|error| {
            FileError::new(dormouse_base::FileAction::Read, FILE, std::io::Error::other(error))
        })?;
        match folder.read(&file) {
            Ok(bytes) if !bytes.trim_ascii().is_empty() => {
                return Ok(Self(String::from_utf8_lossy(bytes.trim_ascii()).into_owned()));
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        let token: String = (0..IDS).map(|_| ids.next().simple().to_string()).collect();
        folder.replace(&file, format!("{token}\n").as_bytes())?;
        Ok(Self(token))
    }

    /// The file's name.
    pub fn file_name() -> &'static str {
        FILE
    }

    /// Whether an `Authorization` header carries it, in constant time.
    pub(super) fn is_in(&self, header: Option<&[u8]>) -> bool {
        let hash = |bytes: &[u8]| blake3::hash(bytes);
        let Some((scheme, given)) = header.and_then(|header| header.split_at_checked(7)) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"bearer ")
            && hash(given.trim_ascii()) == hash(self.0.as_bytes())
    }
}

fn file() -> Result<RelPath, RelPathError> {
    RelPath::new(FILE)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    use dormouse_base::{RandomIds, SystemClock};

    use super::*;

    #[test]
    fn it_is_kept_and_only_the_user_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open(folder.path()).unwrap();
        let ids = RandomIds::new(Arc::new(SystemClock::default()));
        let token = AccessToken::load_or_create(&dir, &ids).unwrap();
        assert_eq!(AccessToken::load_or_create(&dir, &ids).unwrap().0, token.0);
        let mode = folder.path().join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!format!("{token:?}").contains(&token.0));
        assert!(token.is_in(Some(format!("Bearer {}", token.0).as_bytes())));
        assert!(token.is_in(Some(format!("bearer {} ", token.0).as_bytes())));
        for wrong in [&b"Bearer "[..], b"Bearer x", b"", b"Basic", token.0.as_bytes()] {
            assert!(!token.is_in(Some(wrong)), "{wrong:?}");
        }
        assert!(!token.is_in(None));
    }
}
