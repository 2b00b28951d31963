//! A table in a TOML file.
//!
//! `toml_edit` finds the place for it and leaves the rest of the file as it is, except for two things that are handled
//! here: it drops a byte order mark, and it writes `\n` for `\r\n`.

use toml_edit::{DocumentMut, Item, Table};

use super::error::SetupError;
use super::insertion::Insertion;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A table within another one, as in `[mcp_servers.dormouse]`.
#[derive(Debug, Clone)]
pub(super) struct TomlTable {
    /// Key of the outer table.
    pub(super) parent: &'static str,
    /// Key of the table.
    pub(super) key: &'static str,
    pub(super) entries: Vec<(&'static str, toml_edit::Value)>,
}

impl TomlTable {
    /// The insertion that adds the table; `None` if the file already has it.
    pub(super) fn insertion(&self, text: &str) -> Result<Option<Insertion>, SetupError> {
        let mut document = parse(text)?;
        let parent = document.entry(self.parent).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let wrong_shape = || SetupError::Shape(self.parent.to_owned());
        let parent = parent.as_table_like_mut().ok_or_else(wrong_shape)?;
        if parent.contains_key(self.key) {
            return Ok(None);
        }
        let mut table = Table::new();
        for (key, value) in &self.entries {
            table.insert(key, Item::Value(value.clone()));
        }
        parent.insert(self.key, Item::Table(table));
        let after = rendered(&document, text);
        Insertion::between(text, &after).map(Some).ok_or(SetupError::OtherBytes)
    }

    /// The text without the table; `None` if it has none.
    pub(super) fn without(&self, text: &str) -> Result<Option<String>, SetupError> {
        let mut document = parse(text)?;
        let parent = document.get_mut(self.parent).and_then(Item::as_table_like_mut);
        let removed = parent.and_then(|parent| parent.remove(self.key));
        Ok(removed.map(|_| rendered(&document, text)))
    }
}

/// Whether a text is TOML.
pub(super) fn check(text: &str) -> Result<(), SetupError> {
    parse(text).map(drop)
}

fn parse(text: &str) -> Result<DocumentMut, SetupError> {
    let plain = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    plain.parse().map_err(|error: toml_edit::TomlError| {
        let line = error.span().and_then(|span| plain.get(..span.start));
        let line = line.map_or(1, |head| head.matches('\n').count() + 1);
        SetupError::Toml { line, reason: error.message().trim().replace('\n', ", ") }
    })
}

/// A changed document with the byte order mark and line ends of the original text.
fn rendered(document: &DocumentMut, original: &str) -> String {
    let mut text = document.to_string();
    if original.contains("\r\n") {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if original.starts_with(BYTE_ORDER_MARK) {
        text.insert(0, BYTE_ORDER_MARK);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TomlTable {
        TomlTable { parent: "servers", key: "ours", entries: vec![("run", "x".into())] }
    }

    #[test]
    fn the_rest_of_the_file_keeps_its_bytes() {
        for text in [
            "",
            "# only a comment\n",
            "model = \"x\"",
            "[a]\r\nb = 1\r\n",
            "\u{feff}a = 1\n",
            "servers = {}\n",
            "servers = { a = { run = 'a' } } # odd\n",
            "servers.a.run = 'a'\n",
            "[servers]\n[servers.a]\nrun = 'a'\n# end\n",
            "x = 1\n[servers.a]\nrun='a'\n\n# about b\n[b]\ny=1\n",
            "doc = '''\n[servers.ours]\n'''\n",
        ] {
            let insertion = table().insertion(text).unwrap().unwrap();
            let mut longer = text.to_owned();
            longer.insert_str(insertion.at, &insertion.text);
            check(&longer).unwrap();
            assert_eq!(table().insertion(&longer).unwrap(), None, "{longer}");
            let shorter = table().without(&longer).unwrap().unwrap();
            assert_eq!(shorter.trim_end(), text.trim_end(), "{longer}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert!(matches!(table().insertion("a = "), Err(SetupError::Toml { line: 1, .. })));
        assert!(matches!(table().insertion("servers = 5"), Err(SetupError::Shape(_))));
        let mixed = "a = 1\nb = 2\r\n";
        assert!(matches!(table().insertion(mixed), Err(SetupError::OtherBytes)));
    }
}
