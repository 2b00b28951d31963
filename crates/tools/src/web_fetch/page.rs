//! What kind of thing came, and its text.

use encoding_rs::{Encoding, UTF_8};
use reqwest::Url;

use super::html;

/// Within so many bytes a page says its character set.
const META_BYTES: usize = 1024;

/// Something that has a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContentKind {
    form: Form,
    stated: Option<&'static Encoding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Plain,
}

impl ContentKind {
    /// What a content type names; `None` if that is no text.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        let mut parts = content_type.split(';');
        let name = parts.next().unwrap_or_default().trim().to_lowercase();
        let form = match name.as_str() {
            "text/html" | "application/xhtml+xml" => Form::Html,
            "application/json"
            | "application/xml"
            | "application/javascript"
            | "application/yaml"
            | "application/x-yaml"
            | "application/toml"
            | "application/x-ndjson" => Form::Plain,
            name if name.starts_with("text/") => Form::Plain,
            name if name.ends_with("+json") || name.ends_with("+xml") => Form::Plain,
            _ => return None,
        };
        let is_picture = name == "image/svg+xml";
        let stated = parts
            .filter_map(|part| part.split_once('='))
            .find(|(key, _)| key.trim().eq_ignore_ascii_case("charset"))
            .and_then(|(_, label)| Encoding::for_label(label.trim().trim_matches('"').as_bytes()));
        (!is_picture).then_some(Self { form, stated })
    }

    /// Its text.
    pub(super) fn text(self, bytes: &[u8], url: &Url) -> String {
        // A mark at the very beginning wins over what is stated; `decode` sees to that.
        let encoding = self.stated.or_else(|| meta_charset(bytes)).unwrap_or(UTF_8);
        let (text, _, _) = encoding.decode(bytes);
        match self.form {
            Form::Html => html::to_text(&text, url),
            Form::Plain => text.into_owned(),
        }
    }
}

/// `<meta charset=…>`, in either of its forms.
fn meta_charset(bytes: &[u8]) -> Option<&'static Encoding> {
    let head: String = bytes.iter().take(META_BYTES).map(|byte| char::from(*byte)).collect();
    let head = head.to_ascii_lowercase();
    let meta = head.split("<meta").skip(1).find_map(|tag| tag.split_once("charset="))?;
    let label = meta.1.trim_start_matches(['"', '\'']);
    let end = label.find(['"', '\'', '>', ' ', '/', ';']).unwrap_or(label.len());
    Encoding::for_label(label.split_at(end).0.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: &str, bytes: &[u8]) -> String {
        let url = Url::parse("https://example.com/").unwrap();
        ContentKind::of(kind).unwrap().text(bytes, &url)
    }

    #[test]
    fn character_sets() {
        assert_eq!(text("text/plain; charset=ISO-8859-1", b"caf\xe9"), "café");
        assert_eq!(text("text/plain", "睡鼠".as_bytes()), "睡鼠");
        assert_eq!(text("text/plain; charset=\"shift_jis\"", b"\x90\x87"), "睡");
        assert_eq!(text("text/html", b"<meta charset='windows-1252'><p>caf\xe9 \x80"), "café €");
        let old = b"<meta http-equiv=x content=\"text/html; charset=gbk\"><p>\xcb\xaf";
        assert_eq!(text("text/html", old), "睡");
        assert_eq!(text("application/json; charset=utf-8", b"\xef\xbb\xbf{}"), "{}");
    }

    #[test]
    fn what_is_text() {
        for kind in
            ["text/html", "TEXT/Markdown; x=y", "application/ld+json", "application/atom+xml"]
        {
            assert!(ContentKind::of(kind).is_some(), "{kind}");
        }
        for kind in
            ["image/png", "application/pdf", "application/octet-stream", "", "image/svg+xml"]
        {
            assert!(ContentKind::of(kind).is_none(), "{kind}");
        }
    }
}
