//! The name that was probably meant.

use std::cmp::Reverse;

/// The candidate with the fewest letters to change, if those are about a third at most; of equals the first by name.
pub fn nearest_name(name: &str, candidates: impl IntoIterator<Item = String>) -> Option<String> {
    let length = name.chars().count();
    candidates
        .into_iter()
        .map(|candidate| (Reverse(distance(name, &candidate)), Reverse(candidate)))
        .max()
        .filter(|(Reverse(distance), _)| *distance <= ((length + 1) / 3).max(1))
        .map(|(_, Reverse(candidate))| candidate)
}

/// Letters to insert, remove, replace or swap with their neighbour, whatever their case.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    // Of the letters so far to the first `column` of the other name: two letters ago, one letter ago.
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.iter().enumerate() {
        let mut row = vec![line + 1];
        for (column, other) in right.iter().enumerate() {
            let cell =
                |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let replaced = cell(&last, column) + usize::from(letter != other);
            let added = cell(&last, column + 1).min(cell(&row, column)) + 1;
            let is_swap = line > 0
                && column > 0
                && left.get(line - 1) == Some(other)
                && right.get(column - 1) == Some(letter);
            let swapped = if is_swap { cell(&before_last, column - 1) + 1 } else { usize::MAX };
            row.push(replaced.min(added).min(swapped));
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_to_change() {
        for (left, right, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("README", "readme", 0),
            ("hlep", "help", 1),
            ("ab", "ba", 1),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn only_what_is_near() {
        let names = || ["main.rs", "lib.rs", "Cargo.toml"].map(str::to_owned);
        assert_eq!(nearest_name("mian.rs", names()).as_deref(), Some("main.rs"));
        assert_eq!(nearest_name("cargo.toml", names()).as_deref(), Some("Cargo.toml"));
        assert_eq!(nearest_name("something_else.py", names()), None);
        let commands = || ["hook", "memory", "sessions"].map(str::to_owned);
        assert_eq!(nearest_name("memroy", commands()).as_deref(), Some("memory"));
        assert_eq!(nearest_name("foo", commands()), None);
        assert_eq!(nearest_name("version", commands()), None);
    }
}
