//! Markdown as far as memories and messages use it: headings, lists, quotations, code, emphasis. Links are shown as text, and
//! HTML in a text is text.

use maud::{Markup, html};

/// A part of a text.
enum Part<'a> {
    Heading(usize, &'a str),
    Code(Vec<&'a str>),
    List(Vec<&'a str>),
    Numbered(Vec<&'a str>),
    Quotation(Vec<&'a str>),
    Paragraph(Vec<&'a str>),
}

/// A text as HTML.
pub(crate) fn markdown(text: &str) -> Markup {
    html! {
        div class="prose" {
            @for part in parts(text) {
                @match part {
                    Part::Heading(1 | 2, text) => h3 { (inline(text)) },
                    Part::Heading(_, text) => h4 { (inline(text)) },
                    Part::Code(lines) => pre tabindex="0" { code { (lines.join("\n")) } },
                    Part::List(items) => ul { @for item in items { li { (inline(item)) } } },
                    Part::Numbered(items) => ol { @for item in items { li { (inline(item)) } } },
                    Part::Quotation(lines) => blockquote { (inline(&lines.join("\n"))) },
                    Part::Paragraph(lines) => p { (inline(&lines.join("\n"))) },
                }
            }
        }
    }
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence)) {
            let code = lines.by_ref().take_while(|line| !line.trim_start().starts_with(fence));
            parts.push(Part::Code(code.collect()));
        } else if let Some((level, text)) = heading(trimmed) {
            parts.push(Part::Heading(level, text));
        } else if let Some(item) = list_item(trimmed) {
            match parts.last_mut() {
                Some(Part::List(items)) => items.push(item),
                _ => parts.push(Part::List(vec![item])),
            }
        } else if let Some(item) = numbered_item(trimmed) {
            match parts.last_mut() {
                Some(Part::Numbered(items)) => items.push(item),
                _ => parts.push(Part::Numbered(vec![item])),
            }
        } else if let Some(quoted) = trimmed.strip_prefix('>') {
            match parts.last_mut() {
                Some(Part::Quotation(lines)) => lines.push(quoted.trim_start()),
                _ => parts.push(Part::Quotation(vec![quoted.trim_start()])),
            }
        } else if trimmed.is_empty() {
            parts.push(Part::Paragraph(Vec::new()));
        } else {
            match parts.last_mut() {
                Some(Part::Paragraph(lines)) => lines.push(line),
                _ => parts.push(Part::Paragraph(vec![line])),
            }
        }
    }
    parts.retain(|part| !matches!(part, Part::Paragraph(lines) if lines.is_empty()));
    parts
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let rest = line.get(level..).filter(|_| (1..=6).contains(&level))?;
    Some((level, rest.strip_prefix(' ')?.trim()))
}

fn list_item(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark))
}

fn numbered_item(line: &str) -> Option<&str> {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    line.get(digits..).filter(|_| (1..=3).contains(&digits))?.strip_prefix(". ")
}

/// Code and bold text within a line; the rest as it is.
fn inline(text: &str) -> Markup {
    let pieces = text.split('`').enumerate();
    let closed = text.matches('`').count().is_multiple_of(2);
    html! {
        @if closed {
            @for (index, piece) in pieces {
                @if index % 2 == 1 { code { (piece) } } @else { (bold(piece)) }
            }
        } @else { (text) }
    }
}

fn bold(text: &str) -> Markup {
    let closed = text.matches("**").count().is_multiple_of(2);
    html! {
        @if closed {
            @for (index, piece) in text.split("**").enumerate() {
                @if index % 2 == 1 { strong { (piece) } } @else { (piece) }
            }
        } @else { (text) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_memories_use() {
        let text = "# Why\n\nUse `a<b>` and **not** c.\n- one\n- two\n1. a\n2. b\n\n```sh\n<x>\n```\n> said";
        let shown = markdown(text).into_string();
        assert_eq!(
            shown,
            "<div class=\"prose\"><h3>Why</h3><p>Use <code>a&lt;b&gt;</code> and <strong>not</strong> c.</p>\
             <ul><li>one</li><li>two</li></ul><ol><li>a</li><li>b</li></ol><pre tabindex=\"0\"><code>&lt;x&gt;</code></pre><blockquote>said</blockquote></div>"
        );
    }

    proptest! {
        /// Whatever a text holds, the tags of the page are ours.
        #[test]
        fn no_tag_of_a_text_gets_through(text in "[<>a-z/\"'`*#&;!= \n\\-]{0,200}") {
            let shown = markdown(&text).into_string();
            let own = ["div", "h3", "h4", "pre", "code", "ul", "ol", "li", "blockquote", "p", "strong"];
            for tag in shown.split('<').skip(1) {
                let name = tag.trim_start_matches('/').split(['>', ' ']).next().unwrap();
                prop_assert!(own.contains(&name), "{shown}");
            }
        }
    }
}
