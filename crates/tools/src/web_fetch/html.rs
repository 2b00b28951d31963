//! HTML as simple markdown: what a reader sees, not how it looks.
//!
//! Invariant: one pass over the text, in time and memory that grow with its length, whatever it holds.

mod entities;
mod writer;

use reqwest::Url;

use entities::decode;
use writer::MarkdownWriter;

/// Elements whose content nobody reads.
const UNREAD: [&str; 7] = ["script", "style", "svg", "template", "iframe", "object", "math"];

/// The text of a page. Links are made whole with the page's own address.
pub(super) fn to_text(html: &str, url: &Url) -> String {
    let mut writer = MarkdownWriter::default();
    // Behind the last `>` there is no tag: looking for its end at every `<` would take for ever.
    let tags_end = html.rfind('>').map_or(0, |at| at + 1);
    let mut rest = html;
    while let Some((before, tag_on)) = split_at_char(rest, '<') {
        writer.text(&decode(before));
        rest = if let Some(comment) = tag_on.strip_prefix("<!--") {
            comment.split_once("-->").map_or("", |(_, behind)| behind)
        } else if html.len() - tag_on.len() >= tags_end {
            writer.text("<");
            tag_on.strip_prefix('<').unwrap_or_default()
        } else if let Some((tag, behind)) = Tag::parse(tag_on) {
            open_or_close(&tag, behind, url, &mut writer)
        } else {
            writer.text("<");
            tag_on.strip_prefix('<').unwrap_or_default()
        };
    }
    writer.text(&decode(rest));
    writer.finish()
}

fn split_at_char(text: &str, wanted: char) -> Option<(&str, &str)> {
    text.find(wanted).map(|at| text.split_at(at))
}

/// Writes what a tag means; gives what comes behind it.
fn open_or_close<'h>(
    tag: &Tag<'_>,
    behind: &'h str,
    url: &Url,
    writer: &mut MarkdownWriter,
) -> &'h str {
    let name = tag.name.as_str();
    if tag.closes {
        writer.close(name);
        return behind;
    }
    if UNREAD.contains(&name) {
        return if tag.is_whole { behind } else { behind_end(behind, name) };
    }
    let link = || {
        let target = url.join(&decode(tag.attribute("href")?)).ok()?;
        matches!(target.scheme(), "http" | "https").then(|| target.to_string())
    };
    let alternative = || tag.attribute("alt").map(|text| decode(text).into_owned());
    match name {
        "a" => writer.open_link(link()),
        "img" => writer.image(alternative()),
        _ => writer.open(name),
    }
    behind
}

/// What comes behind the end of an element that is passed over; nothing if it never ends.
fn behind_end<'h>(html: &'h str, name: &str) -> &'h str {
    let mut rest = html;
    while let Some(at) = rest.find("</") {
        let (_, tag_on) = rest.split_at(at);
        let inside = tag_on.trim_start_matches("</");
        if inside.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return inside.split_once('>').map_or("", |(_, behind)| behind);
        }
        rest = inside;
    }
    ""
}

/// A tag: `<a href="x">`, `</p>`, `<br/>`.
struct Tag<'h> {
    name: String,
    closes: bool,
    is_whole: bool,
    attributes: &'h str,
}

impl<'h> Tag<'h> {
    /// The tag at the beginning of a text, and what follows. `None` if it is just a `<`.
    fn parse(text: &'h str) -> Option<(Self, &'h str)> {
        let inside = text.strip_prefix('<')?;
        if !inside.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            return None;
        }
        let (content, behind) = split_tag(inside)?;
        let closes = content.starts_with('/');
        let content = content.trim_start_matches('/');
        let end = content.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(content.len());
        let (name, attributes) = content.split_at(end);
        let is_whole = attributes.ends_with('/');
        Some((Self { name: name.to_ascii_lowercase(), closes, is_whole, attributes }, behind))
    }

    /// The value of an attribute, as it is written.
    fn attribute(&self, wanted: &str) -> Option<&'h str> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            if name.is_empty() && behind.is_empty() {
                return None;
            }
            let (value, behind) = match behind.trim_start().strip_prefix('=') {
                Some(value) => split_value(value.trim_start()),
                None => ("", behind),
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value);
            }
            rest = behind;
        }
    }
}

fn split_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split_once(quote).unwrap_or((inside, ""));
        }
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Longer tags are not read with care.
const LONGEST_TAG: usize = 10_000;

/// What stands in a tag, and behind it. A `>` in quotes does not end it; where a quote never ends, the
/// first `>` does.
fn split_tag(inside: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    // A quote that long never ends; the first `>` does then.
    for (at, c) in inside.char_indices().take_while(|(at, _)| *at < LONGEST_TAG) {
        match (quote, c) {
            (None, '>') => return Some((inside.split_at(at).0, inside.split_at(at + 1).1)),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    inside.split_once('>')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(html: &str) -> String {
        to_text(html, &Url::parse("https://example.com/docs/page").unwrap())
    }

    /// Whatever it is made of, the time grows with the page, not with its square.
    #[test]
    fn hostile_pages_end() {
        for piece in ["<a ", "<script", "<a href=\"", "<!--", "</", "<a \"> "] {
            let page = piece.repeat(1_000_000 / piece.len());
            text(&page);
            text(&format!("{page}>"));
        }
    }

    #[test]
    fn nested_lists_do_not_grow_with_the_square_of_the_page() {
        let page = "<ul><li>x".repeat(10_000);
        assert!(text(&page).len() < 5 * page.len());
    }

    #[test]
    fn a_page() {
        let page = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style>\
            <script>if (a < b) document.write('<p>no</p>')</script></head><body>\
            <h1>Big\n heading</h1><p>Some <b>bold</b> and <em>soft</em> text,\n in <code>code</code>.\
            <p>A <a href=\"../x?a=1&amp;b=2\">link</a><br>and <a href='javascript:x()'>none</a>.\
            <ul><li>one<li>two<ul><li>deep</ul></ul><!-- <p>hidden</p> -->\
            <pre>fn main() {\n    x &lt; y\n}</pre><img src=x alt=\"A picture\"><hr>\
            <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>";
        let expected = "A & B\n\n# Big heading\n\nSome **bold** and *soft* text, in `code`.\n\n\
            A [link](https://example.com/x?a=1&b=2)\nand none.\n\n- one\n- two\n  - deep\n\n\
            ```\nfn main() {\n    x < y\n}\n```\n\n![A picture]\n\n---\n\na | b\n1 | 2";
        assert_eq!(text(page), expected);
    }

    #[test]
    fn what_is_broken_does_no_harm() {
        assert_eq!(
            text("a < b <3 & c &unknown; &#x1F42D; &#0;"),
            "a < b <3 & c &unknown; 🐭 \u{fffd}"
        );
        assert_eq!(text("one <p class=\"never ends>two"), "one\n\ntwo");
        assert_eq!(text("<script>never ends <p>x"), "");
        assert_eq!(text("x<!-- never ends"), "x");
        assert_eq!(text("end <"), "end <");
        assert_eq!(text("<p>x</P><SCRIPT>y</sCript>z"), "x\n\nz");
    }

    proptest! {
        #[test]
        fn anything_is_read(html in "(<[a-z/]{0,4}[ =\"'a-z]{0,6}>?|[a&;#x睡<>\"' \n]{0,5}){0,60}") {
            let _text = text(&html);
        }
    }
}
