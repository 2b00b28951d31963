//! The name that was probably meant.

use std::cmp::Reverse;

/// The candidate with the fewest letters to change, if those are few; of equals the first by name.
pub fn nearest_name(name: &str, candidates: impl IntoIterator<Item = String>) -> Option<String> {
    let length = name.chars().count();
    candidates
        .into_iter()
        .map(|candidate| (Reverse(distance(name, &candidate)), Reverse(candidate)))
        .max()
        .filter(|(Reverse(distance), _)| *distance <= 1 + length / 3)
        .map(|(_, Reverse(candidate))| candidate)
}

/// Letters to insert, remove or replace, whatever their case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = line;
        let mut beside = line + 1;
        if let Some(first) = row.first_mut() {
            *first = beside;
        }
        for (other, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let above = *cell;
            beside = (diagonal + usize::from(letter != *other)).min(above + 1).min(beside + 1);
            *cell = beside;
            diagonal = above;
        }
    }
    row.last().copied().unwrap_or(0)
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
    }
}
