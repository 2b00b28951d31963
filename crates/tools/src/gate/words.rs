//! The words of a rule against those of a command, where `*` stands for any number of words.

/// Whether more words may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Open,
    Closed,
}

/// Whether a command has the words of a pattern, in which `*` is any number of words. After a word that does not
/// fit, only the last `*` need take one more.
pub(super) fn fits(pattern: &str, command: &[String], ending: Ending) -> bool {
    let pattern: Vec<&str> = pattern.split_whitespace().collect();
    let (mut at, mut word) = (0, 0);
    let mut star = None;
    loop {
        match (pattern.get(at), command.get(word)) {
            (Some(&"*"), _) => {
                star = Some((at, word));
                at += 1;
            }
            (Some(wanted), Some(given)) if wanted == given => {
                at += 1;
                word += 1;
            }
            (None, None) => return true,
            (None, Some(_)) if ending == Ending::Open => return true,
            _ => match star {
                Some((place, taken)) if taken < command.len() => {
                    star = Some((place, taken + 1));
                    at = place + 1;
                    word = taken + 1;
                }
                _ => return false,
            },
        }
    }
}
