//! Splitting a message into clauses (R-20): a memory is about one sentence of a message, not about all of it.

use crate::words::is_unspaced;

/// Whether the user wrote a clause or pasted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClauseKind {
    /// A sentence.
    Prose,
    /// A line of code, of a log or of a program's output.
    Pasted,
}

/// Weight of a pasted clause: the user asks about it, but did not choose its words.
const PASTED: f64 = 0.4;

impl ClauseKind {
    /// Weight of a clause by who wrote it.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Prose => 1.0,
            Self::Pasted => PASTED,
        }
    }
}

/// A part of a message that is ranked by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clause<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: ClauseKind,
    /// Number of its sentence in the message; the same for all that is pasted.
    pub(crate) sentence: usize,
}

/// Further clauses are ignored, pasted ones first.
const MOST_CLAUSES: usize = 40;
/// A line with fewer letters and spaces than this share is pasted.
const LETTERS_OF_PROSE: f64 = 0.75;
/// A line with more signs of code than this share is pasted.
const SIGNS_OF_CODE: f64 = 0.12;
/// As many signs are in any short line.
const FEW_SIGNS: f64 = 2.0;
/// A line with this share of characters of a script without spaces is prose: code is not written in it.
const UNSPACED_PROSE: f64 = 0.3;

/// The clauses of a message, in order.
pub(crate) fn split_clauses(message: &str) -> Vec<Clause<'_>> {
    let is_single = !message.trim().contains('\n');
    let mut in_fence = false;
    let mut clauses = Vec::new();
    let mut sentence = 1;
    for line in message.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if in_fence || (!is_single && looks_pasted(line)) {
            clauses.push(Clause { text: line.trim(), kind: ClauseKind::Pasted, sentence: 0 });
        } else {
            sentences(line, |text, is_end| {
                clauses.push(Clause { text, kind: ClauseKind::Prose, sentence });
                sentence += usize::from(is_end);
            });
        }
    }
    clauses.retain(|clause| clause.text.chars().any(char::is_alphanumeric));
    limit(clauses)
}

fn limit(clauses: Vec<Clause<'_>>) -> Vec<Clause<'_>> {
    let prose = clauses.iter().filter(|clause| clause.kind == ClauseKind::Prose).count();
    let mut pasted_left = MOST_CLAUSES.saturating_sub(prose);
    let mut kept = |clause: &Clause<'_>| {
        let fits = clause.kind == ClauseKind::Prose || pasted_left > 0;
        if clause.kind == ClauseKind::Pasted {
            pasted_left = pasted_left.saturating_sub(1);
        }
        fits
    };
    let mut clauses: Vec<Clause<'_>> = clauses.into_iter().filter(|clause| kept(clause)).collect();
    clauses.truncate(MOST_CLAUSES);
    clauses
}

/// Whether a line of a message with several lines looks like code or like the output of a program.
fn looks_pasted(line: &str) -> bool {
    if line.starts_with("  ") || line.starts_with('\t') {
        return true;
    }
    let (mut all, mut letters, mut signs, mut unspaced) = (0.0, 0.0, 0.0, 0.0);
    for c in line.trim().chars() {
        all += 1.0;
        letters += f64::from(u8::from(c.is_alphabetic() || c == ' '));
        signs += f64::from(u8::from("{}()[]<>=;|\\/#:@$%^&*_`~+".contains(c)));
        unspaced += f64::from(u8::from(is_unspaced(c)));
    }
    if unspaced > all * UNSPACED_PROSE {
        return false;
    }
    let others = all - letters;
    let few_letters = others > FEW_SIGNS && letters < all * LETTERS_OF_PROSE;
    few_letters || (signs > FEW_SIGNS && signs > all * SIGNS_OF_CODE)
}

/// Calls `give` with each clause of a line, and whether it ends its sentence. A comma separates clauses in Chinese only, where
/// sentences have many.
fn sentences<'a>(line: &'a str, mut give: impl FnMut(&'a str, bool)) {
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let before_space = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = matches!(c, '。' | '？' | '！' | '；' | '，')
            || (matches!(c, '.' | '?' | '!' | ';' | ':') && before_space);
        if ends {
            give(line.get(start..at).unwrap_or_default().trim(), c != '，');
            start = at + c.len_utf8();
        }
    }
    give(line.get(start..).unwrap_or_default().trim(), true);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &str) -> Vec<String> {
        let mark = |clause: &Clause<'_>| match clause.kind {
            ClauseKind::Prose => clause.text.to_owned(),
            ClauseKind::Pasted => format!("> {}", clause.text),
        };
        split_clauses(message).iter().map(mark).collect()
    }

    #[test]
    fn sentences_and_pasted_lines_are_apart() {
        assert_eq!(
            shown(
                "I was ill. Can you fix v1.2 of foo.rs?\n\nerror[E0658]: unstable\n  --> src/a.rs:77:12\n- and the docs"
            ),
            [
                "I was ill",
                "Can you fix v1.2 of foo.rs",
                "> error[E0658]: unstable",
                "> --> src/a.rs:77:12",
                "- and the docs"
            ]
        );
        assert_eq!(shown("请帮我看看，为什么慢？谢谢"), ["请帮我看看", "为什么慢", "谢谢"]);
        assert_eq!(shown("look:\n```\nplain words\n```\n"), ["look", "> plain words"]);
        assert_eq!(shown("  ...  "), Vec::<String>::new());
    }

    #[test]
    fn one_line_is_never_pasted() {
        assert_eq!(shown("a{b} = c[d];"), ["a{b} = c[d]"]);
    }

    #[test]
    fn a_long_paste_leaves_the_question() {
        let message = format!("{}why?", "x = f(1);\n".repeat(500));
        let clauses = shown(&message);
        assert_eq!(clauses.len(), MOST_CLAUSES);
        assert_eq!(clauses.last().map(String::as_str), Some("why"));
    }
}
