//! Finding the frontmatter block in a text.

use crate::value::LONGEST;

/// The parts of a text with frontmatter: `head + inner + fence + body` is the whole text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'a> {
    /// A byte-order mark, if any, and the opening line.
    pub(crate) head: &'a str,
    pub(crate) inner: &'a str,
    /// The closing line.
    pub(crate) fence: &'a str,
    pub(crate) body: &'a str,
}

/// Whether a text has a frontmatter block.
pub(crate) enum Split<'a> {
    None,
    Unclosed,
    Block(Span<'a>),
}

pub(crate) fn split(text: &str) -> Split<'_> {
    let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(first) = unmarked.split_inclusive('\n').next().filter(|line| is_fence(line, "---"))
    else {
        return Split::None;
    };
    let head_length = text.len() - unmarked.len() + first.len();
    let Some((head, rest)) = text.split_at_checked(head_length) else { return Split::None };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if is_fence(line, "---") || is_fence(line, "...") {
            return block(head, rest, at, line.len());
        }
        at += line.len();
        if at > LONGEST {
            break;
        }
    }
    Split::Unclosed
}

fn block<'a>(head: &'a str, rest: &'a str, at: usize, fence_length: usize) -> Split<'a> {
    let Some((inner, after)) = rest.split_at_checked(at) else { return Split::None };
    let Some((fence, body)) = after.split_at_checked(fence_length) else { return Split::None };
    Split::Block(Span { head, inner, fence, body })
}

fn is_fence(line: &str, fence: &str) -> bool {
    line.trim_end() == fence
}
