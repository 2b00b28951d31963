//! How rare words are in developers' text, whatever a user has saved: a store of one memory does not tell that `test` says less than
//! `kubernetes`. The list was counted in documentation, instructions and invented memories (`dormouse-bench recall --learn-rarity`).

use std::sync::LazyLock;

/// Lines with a term and the letter of its share, sorted by term, so that it is searched as it stands.
static LIST: LazyLock<&str> = LazyLock::new(|| {
    let text = include_str!("rarity.txt");
    text.find('\n').and_then(|end| text.get(end + 1..)).unwrap_or_default()
});

/// Terms in a smaller share of documents are not listed.
const LEAST: f64 = 0.001_65;
/// Share of documents about a kind of work.
const WORK: f64 = 0.1;

/// The share of documents of developers' text that have a term; 0 for one that hardly any has.
pub(crate) fn usual_share(term: &str) -> f64 {
    if term.starts_with('#') {
        return WORK;
    }
    find(&LIST, term).map_or(0.0, |letter| share_of(letter.saturating_sub(b'a')))
}

/// The share of a level: each is in about 0.7 times as many documents as the one before.
fn share_of(level: u8) -> f64 {
    0.5_f64.powf(f64::from(level) / 2.0)
}

/// The letter of a share in the list; `None` for a term that is too rare for it.
pub fn share_letter(share: f64) -> Option<char> {
    let distance = |level: &u8| (share_of(*level).ln() - share.ln()).abs();
    let level = (0..26).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    (share >= LEAST).then(|| char::from(b'a' + level))
}

/// The letter of a term in a sorted list of lines.
fn find(list: &str, term: &str) -> Option<u8> {
    let mut rest = list;
    while !rest.is_empty() {
        let middle = rest.as_bytes().get(..rest.len() / 2)?;
        let start = middle.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = rest.get(start..)?.lines().next()?;
        let (found, letter) = line.rsplit_once(' ')?;
        match term.cmp(found) {
            std::cmp::Ordering::Equal => return letter.bytes().next(),
            std::cmp::Ordering::Less => rest = rest.get(..start)?,
            std::cmp::Ordering::Greater => rest = rest.get(start + line.len() + 1..)?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_found() {
        let mut before = "";
        for line in LIST.lines() {
            let (term, letter) = line.rsplit_once(' ').unwrap();
            assert!(term > before, "{term} is not sorted");
            assert_eq!(find(&LIST, term).map(char::from), letter.chars().next(), "{term}");
            before = term;
        }
    }

    #[test]
    fn a_term_that_is_not_listed_is_rare() {
        assert!(usual_share("zzzquux") == 0.0 && usual_share("") == 0.0);
        assert_eq!(find("a b\nc d\n", "b"), None);
        assert_eq!(find("a b\nc d\n", "z"), None);
        assert_eq!(find("", "a"), None);
    }

    #[test]
    fn words_of_every_project_are_less_rare_than_others() {
        assert!(usual_share("test") > 4.0 * usual_share("lighthous"));
        assert!(usual_share("测试") > 4.0 * usual_share("灯塔"));
    }

    #[test]
    fn a_share_has_the_nearest_letter() {
        assert_eq!(share_letter(1.0), Some('a'));
        assert_eq!(share_letter(0.5), Some('c'));
        assert_eq!(share_letter(0.01), Some('n'));
        assert_eq!(share_letter(0.0), None);
    }
}
