//! Matching the words of a rule against those of a command; `*` stands for any number of words.

/// Whether further words may follow the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternEnd {
    Open,
    Closed,
}

/// Whether a command matches a pattern. After a mismatch, only the last `*` has to take one word more.
pub(crate) fn matches_words(pattern: &str, command: &[String], end: PatternEnd) -> bool {
    let pattern: Vec<&str> = pattern.split_whitespace().collect();
    let mut at = 0;
    let mut word = 0;
    let mut star = None;
    loop {
        match (pattern.get(at), command.get(word)) {
            (Some(&"*"), _) => {
                star = Some((at, word));
                at += 1;
            }
            (Some(expected), Some(actual)) if expected == actual => {
                at += 1;
                word += 1;
            }
            (None, None) => return true,
            (None, Some(_)) if end == PatternEnd::Open => return true,
            _ => match star {
                Some((star_at, taken)) if taken < command.len() => {
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    word = taken + 1;
                }
                _ => return false,
            },
        }
    }
}
