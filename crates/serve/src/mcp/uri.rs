//! Addresses of memories: `memory://index` for the index of all scopes, `memory://SCOPE/FILE` for a memory.

use dormouse_memory::{MemoryFile, Scope};

/// The index.
pub(super) const INDEX: &str = "memory://index";
/// How a memory's address is made (RFC 6570).
pub(super) const TEMPLATE: &str = "memory://{scope}/{+file}";
const SCHEME: &str = "memory://";

/// A memory's address.
pub(super) fn of(scope: Scope, file: &MemoryFile) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut uri = format!("{SCHEME}{scope}/");
    for byte in file.as_str().bytes() {
        if plain(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The memory at an address; none if the address is not a memory's.
pub(super) fn read(uri: &str) -> Option<(Scope, MemoryFile)> {
    let (scope, file) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let file = MemoryFile::existing(&decoded(file)?).ok()?;
    Some((Scope::from_word(scope)?, file))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_there_and_back() {
        for file in ["a.md", "topic/数据库 100%.md", "what: ?#.md"] {
            let file = MemoryFile::existing(file).unwrap();
            let uri = of(Scope::Project, &file);
            assert!(uri.is_ascii() && !uri.contains([' ', '#', '?']), "{uri}");
            assert_eq!(read(&uri), Some((Scope::Project, file)));
        }
    }

    #[test]
    fn nothing_leads_out() {
        for uri in [
            "memory://index",
            "memory://user/../../etc/passwd",
            "memory://user/%2e%2e%2f%2e%2e%2fx.md",
            "memory://user//etc/x.md",
            "memory://user/%",
            "memory://user/%zz.md",
            "memory://user/%ff.md",
            "memory://nobody/a.md",
            "file:///etc/passwd",
        ] {
            assert_eq!(read(uri), None, "{uri}");
        }
    }
}
