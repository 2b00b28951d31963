//! Cleaning a markdown file for the prompt, and finding its includes.
//!
//! Block comments are removed, except in code. `@path` includes a file, except in fences, code spans and block
//! comments. One pass, in time linear to the text.

use crate::limits::MAX_INCLUDES;

/// Text of a file without comments, and its includes.
pub(crate) struct CleanedMarkdown {
    pub text: String,
    /// Includes in text order, each once; at most `MAX_INCLUDES + 1`.
    pub mentions: Vec<Mention>,
}

/// An include: `@path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Path as written, without the `@`.
    pub path: String,
    /// Decides whether a missing file is reported.
    pub certainty: Certainty,
}

/// Whether an `@word` certainly names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// `@./x`, `@~/x`, `@/x`, `@x.md`.
    Sure,
    /// `@name`: may be a user or package name.
    Perhaps,
}

/// Longer runs of backticks are plain text.
const LONGEST_RUN: usize = 31;

/// Removes comments and collects includes.
pub(crate) fn clean(text: &str) -> CleanedMarkdown {
    let mut cleaned =
        CleanedMarkdown { text: String::with_capacity(text.len()), mentions: Vec::new() };
    let mut rest = text;
    let mut comments_may_end = true;
    while let Some(line) = first_line(rest) {
        if let Some(fence) = Fence::opened_by(line) {
            let (code, after) = fence.block(rest);
            cleaned.text.push_str(code);
            rest = after;
            continue;
        }
        if comments_may_end && opens_comment(line) {
            match rest.split_once("-->") {
                Some((_, after)) => {
                    rest = after_comment(after);
                    continue;
                }
                // An unclosed comment stays in the text, so that no instruction is lost silently.
                None => comments_may_end = false,
            }
        }
        let (paragraph, after) = paragraph(rest, comments_may_end);
        cleaned.text.push_str(paragraph);
        collect_mentions(paragraph, &mut cleaned.mentions);
        rest = after;
    }
    cleaned
}

fn first_line(text: &str) -> Option<&str> {
    text.split_inclusive('\n').next()
}

fn opens_comment(line: &str) -> bool {
    let start = line.trim_start_matches(' ');
    line.len() - start.len() <= 3 && start.starts_with("<!--")
}

/// The text after a comment, without the rest of its line if that is blank.
fn after_comment(after: &str) -> &str {
    match first_line(after) {
        Some(line) if line.trim().is_empty() => after.strip_prefix(line).unwrap_or(after),
        _ => after,
    }
}

/// Splits off the lines up to a blank line, a fence or a comment; at least one line.
fn paragraph(text: &str, comments_may_end: bool) -> (&str, &str) {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let starts_other =
            Fence::opened_by(line).is_some() || (comments_may_end && opens_comment(line));
        if end > 0 && starts_other {
            break;
        }
        end += line.len();
        if line.trim().is_empty() {
            break;
        }
    }
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The marker of a fenced code block.
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence that a line opens, also inside a quote or list.
    fn opened_by(line: &str) -> Option<Self> {
        let inner = line.trim_start_matches([' ', '\t', '>']);
        let inner =
            ["- ", "* ", "+ "].iter().find_map(|mark| inner.strip_prefix(mark)).unwrap_or(inner);
        let fence = Self::at_start_of(inner.trim_start())?;
        // Further backticks on the line make it a code span.
        let rest = inner.trim_start().trim_start_matches(fence.mark);
        (fence.mark == '~' || !rest.contains('`')).then_some(fence)
    }

    fn at_start_of(text: &str) -> Option<Self> {
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == mark).count();
        (length >= 3).then_some(Self { mark, length })
    }

    /// Splits off the code block that starts here, up to its closing line or the end.
    fn block<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        let mut end = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            end += line.len();
            if number > 0 && self.closed_by(line) {
                break;
            }
        }
        text.split_at_checked(end).unwrap_or((text, ""))
    }

    fn closed_by(&self, line: &str) -> bool {
        let inner = line.trim_start_matches([' ', '\t', '>']).trim_end();
        inner.len() >= self.length && inner.chars().all(|c| c == self.mark)
    }
}

/// Collects the includes of a paragraph outside code spans.
fn collect_mentions(paragraph: &str, found: &mut Vec<Mention>) {
    let mut spans = CodeSpans::default();
    let mut at = 0;
    while let Some(next) = paragraph.get(at..).and_then(|rest| rest.find(['`', '@'])) {
        let here = at + next;
        let (before, rest) = paragraph.split_at_checked(here).unwrap_or((paragraph, ""));
        let previous = before.chars().next_back();
        at = if rest.starts_with('`') {
            if previous == Some('\\') { here + 1 } else { spans.end(paragraph, here) }
        } else if previous.is_none_or(|c| c.is_whitespace() || "([*\"'".contains(c)) {
            let (path, length) = path_of(rest.strip_prefix('@').unwrap_or(rest));
            found.extend(Mention::new(&path).filter(|mention| !found.contains(mention)));
            here + 1 + length
        } else {
            here + 1
        };
        if found.len() > MAX_INCLUDES {
            break;
        }
    }
}

/// Finds the ends of code spans, remembering the lengths that have no closing run, so that the search stays linear.
#[derive(Default)]
struct CodeSpans {
    unclosed: [bool; LONGEST_RUN + 1],
}

impl CodeSpans {
    /// Position after the code span that starts here, or after the backticks if it is not closed.
    fn end(&mut self, text: &str, start: usize) -> usize {
        let length = run(text, start);
        let after = start + length;
        let Some(unclosed) = self.unclosed.get_mut(length) else { return after };
        if *unclosed {
            return after;
        }
        let mut at = after;
        while let Some(next) = text.get(at..).and_then(|rest| rest.find('`')) {
            let closing = run(text, at + next);
            at += next + closing;
            if closing == length {
                return at;
            }
        }
        *unclosed = true;
        after
    }
}

/// Number of backticks at a position.
fn run(text: &str, at: usize) -> usize {
    text.get(at..).unwrap_or_default().bytes().take_while(|byte| *byte == b'`').count()
}

/// Reads the path at the start of a text; returns it and the number of bytes read. A backslash escapes a space.
fn path_of(text: &str) -> (String, usize) {
    let mut path = String::new();
    let mut taken = 0;
    let mut escaped = false;
    for c in text.chars() {
        if escaped || (!c.is_whitespace() && c != '\\' && c != '`') {
            path.push(c);
        } else if c != '\\' {
            break;
        }
        escaped = c == '\\' && !escaped;
        taken += c.len_utf8();
    }
    (path, taken)
}

impl Mention {
    /// Strips trailing punctuation and a `#heading`.
    fn new(written: &str) -> Option<Self> {
        let path = written.split('#').next().unwrap_or_default();
        let path = path
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '*', '"', '\'', '>']);
        if path.ends_with('/') {
            return None;
        }
        let leads = ["./", "../", "~/", "/"].iter().any(|start| path.starts_with(start));
        let is_named = [".md", ".mdc", ".markdown", ".txt"].iter().any(|end| path.ends_with(end));
        let starts_plain = path.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let certainty = match (leads, is_named && starts_plain) {
            (false, false) if starts_plain => Certainty::Perhaps,
            (false, false) => return None,
            _ => Certainty::Sure,
        };
        Some(Self { path: path.to_owned(), certainty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn included(text: &str) -> Vec<String> {
        clean(text).mentions.into_iter().map(|mention| mention.path).collect()
    }

    #[test]
    fn the_ways_to_include() {
        let text = "@./a.md\nSee @~/b.md, @/c/d.md. And (@docs/e.md) **@f.txt**\n@../g\\ h.md#part \"@i.md\"";
        let expected = ["./a.md", "~/b.md", "/c/d.md", "docs/e.md", "f.txt", "../g h.md", "i.md"];
        assert_eq!(included(text), expected);
        assert_eq!(included("@a.md @a.md\n@a.md"), ["a.md"]);
        assert_eq!(included("@文档/规则.md"), ["文档/规则.md"]);
    }

    #[test]
    fn names_are_perhaps_files() {
        let certainty = |text: &str| clean(text).mentions.first().map(|mention| mention.certainty);
        assert_eq!(certainty("ask @alice"), Some(Certainty::Perhaps));
        assert_eq!(certainty("@types/node"), Some(Certainty::Perhaps));
        assert_eq!(certainty("@README.md"), Some(Certainty::Sure));
        for text in ["me@host.md", "@", "@ x.md", "@@", "\\@x.md", "@./", "@/", "@-"] {
            assert_eq!(included(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn code_includes_nothing() {
        for text in [
            "```\n@./a.md\n```",
            "~~~sh\n@./a.md\n```\n@./a.md\n~~~",
            "````\n```\n@./a.md\n````",
            "```\n@./a.md",
            "- ```\n  @./a.md\n  ```",
            "> ```\n> @./a.md\n> ```",
            "`@./a.md`",
            "`` ` @./a.md ``",
            "`code\n@./a.md`",
            "<!-- @./a.md -->",
            "<!--\n\n@./a.md\n-->",
        ] {
            assert_eq!(included(text), Vec::<String>::new(), "{text}");
        }
        for text in [
            "```\n```\n@./a.md",
            "`open @./a.md",
            "`open\n\n@./a.md `x`",
            "\\`@./b @./a.md`",
            "``` @./a.md ```x` @./a.md",
            "<!-- open\n@./a.md",
            "<!-- x --> @./a.md",
            "a <!-- inline @./a.md",
        ] {
            assert!(included(text).contains(&"./a.md".to_owned()), "{text}");
        }
    }

    #[test]
    fn comments_go_except_in_code() {
        let text = |markdown: &str| clean(markdown).text;
        assert_eq!(text("a\n<!-- gone -->\nb\n"), "a\nb\n");
        assert_eq!(text("a\n<!--\n\nlong\n-->\n\nb"), "a\n\nb");
        assert_eq!(text("<!-- x --> stays\n"), " stays\n");
        assert_eq!(text("in a <!-- line --> stays"), "in a <!-- line --> stays");
        assert_eq!(text("```\n<!-- code -->\n```\n"), "```\n<!-- code -->\n```\n");
        assert_eq!(text("<!-- never closed\nb"), "<!-- never closed\nb");
        assert_eq!(text("a\r\n<!-- x -->\r\nb\r\n"), "a\r\nb\r\n");
    }

    /// Made to be slow in a careless reader; ends in a test's time, or is quadratic.
    #[test]
    fn hostile_texts_end() {
        let runs: String = (1..600).map(|length| "`".repeat(length) + " ").collect();
        for text in [
            runs,
            "`a``b```".repeat(40_000),
            "<!--\n".repeat(60_000),
            "```\n~~~\n".repeat(40_000),
            "@".repeat(300_000),
            "> ".repeat(100_000),
        ] {
            assert_eq!(clean(&text).text.len(), text.len());
        }
    }

    proptest! {
        /// Without comments, the text is as it was.
        #[test]
        fn only_comments_are_taken_out(text in "[ab@`~./<!\\-> \n\r#]{0,200}") {
            let cleaned = clean(&text);
            prop_assert!(cleaned.text.len() <= text.len());
            if !text.contains("-->") {
                prop_assert_eq!(cleaned.text, text);
            }
        }
    }
}
