//! Why a text was not found: what in the file is most like it, and how it differs.
//!
//! Invariant: only files up to [`MAX_BYTES`] are looked through, and what is said is short.

use super::find::{TextMatches, find};
use crate::snippet::{cut, shown_line};

/// In a larger file nothing is looked for.
const MAX_BYTES: usize = 5 * 1024 * 1024;
/// The most characters of a line quoted.
const QUOTED: usize = 200;
/// The most bytes of a line compared.
const COMPARED: usize = 400;

/// The reason, to stand behind the file's name.
pub(super) fn explain(file: &[u8], old: &str) -> String {
    let hint = if file.len() > MAX_BYTES {
        "read the lines in question again".to_owned()
    } else {
        numbers_left_in(file, old)
            .or_else(|| other_space(file, old))
            .or_else(|| nearest_line(file, old))
            .unwrap_or_else(|| "nothing in it is like it; read the file again".to_owned())
    };
    format!("does not contain `old_string`, so nothing was changed: {hint}")
}

/// Whether it would be found without the numbers that Read shows.
fn numbers_left_in(file: &[u8], old: &str) -> Option<String> {
    let bare: Option<Vec<&str>> = old.split('\n').map(without_number).collect();
    let bare = bare?.join("\n");
    let there = !bare.is_empty() && find(file, &bare) != TextMatches::At(Vec::new());
    there.then(|| {
        "it has the line numbers in it that Read shows; leave the number and the tab out of each \
         line"
            .to_owned()
    })
}

fn without_number(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once('\t')?;
    let digits = number.trim_start();
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
}

/// The lines that are the same but for their white space.
fn other_space(file: &[u8], old: &str) -> Option<String> {
    let wanted: Vec<&str> = old.trim_matches('\n').split('\n').collect();
    let bare: Vec<Vec<u8>> = wanted.iter().map(|line| without_space(line.as_bytes())).collect();
    if bare.iter().all(Vec::is_empty) {
        return None;
    }
    let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
    let stripped: Vec<Vec<u8>> = lines.iter().map(|line| without_space(line)).collect();
    let first = stripped.windows(bare.len()).position(|window| window == bare.as_slice())?;
    let last = first + bare.len();
    let place = if bare.len() == 1 {
        format!("line {last} differs")
    } else {
        format!("lines {} to {last} differ", first + 1)
    };
    let differing = lines.iter().skip(first).zip(&wanted).zip(first + 1..);
    let quoted = differing
        .map(|((line, wanted), number)| (shown_line(line), *wanted, number))
        .find(|(line, wanted, _)| line != wanted)
        .map(|(line, wanted, number)| {
            let quote = |text: &str| format!("{:?}", cut(text, QUOTED));
            let (line, wanted) = (quote(&line), quote(wanted));
            format!(": line {number} is {line} where `old_string` has {wanted}")
        });
    Some(format!("{place} from it in white space only{}", quoted.unwrap_or_default()))
}

fn without_space(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// The line most like the longest one of the text.
pub(super) fn nearest_line(file: &[u8], old: &str) -> Option<String> {
    if file.len() > MAX_BYTES {
        return None;
    }
    let wanted = old.lines().max_by_key(|line| line.trim().len())?.trim();
    let wanted = pairs(wanted.as_bytes());
    let mut nearest: Option<(usize, usize, &[u8])> = None;
    for (index, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let likeness = likeness(&wanted, &pairs(line.trim_ascii()));
        if likeness >= 50 && nearest.is_none_or(|(best, ..)| likeness > best) {
            nearest = Some((likeness, index + 1, line));
        }
    }
    let (_, number, line) = nearest?;
    let quoted = format!("{:?}", cut(&shown_line(line), QUOTED));
    Some(format!("the nearest is line {number}: {quoted}"))
}

/// The pairs of neighbouring bytes, in order.
fn pairs(line: &[u8]) -> Vec<(u8, u8)> {
    let line = line.get(..COMPARED).unwrap_or(line);
    let mut pairs: Vec<(u8, u8)> = line.iter().copied().zip(line.iter().copied().skip(1)).collect();
    pairs.sort_unstable();
    pairs
}

/// How many of a hundred pairs two lines share.
fn likeness(left: &[(u8, u8)], right: &[(u8, u8)]) -> usize {
    let (mut rest, mut shared) = (right.iter().peekable(), 0);
    for pair in left {
        while rest.next_if(|other| *other < pair).is_some() {}
        shared += usize::from(rest.next_if_eq(&pair).is_some());
    }
    (200 * shared).checked_div(left.len() + right.len()).unwrap_or(0)
}
