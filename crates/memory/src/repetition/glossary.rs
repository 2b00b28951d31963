//! The table of synonyms (`glossary.txt`), prepared for lookup.

use std::collections::HashMap;
use std::sync::LazyLock;

use dormouse_search::Tokenizer;

const TABLE: &str = include_str!("glossary.txt");

/// An entry of the table: all its words mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Thing(pub(super) u32);

/// What the absence of an item means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// Little.
    Weak,
    /// Not much.
    Light,
    /// Something is missing.
    Plain,
    /// A contradiction, if another item of the same group is present.
    Opposite(u32),
    /// A contradiction as for `Opposite`, otherwise not much.
    LightOpposite(u32),
    /// A contradiction.
    Value,
}

/// The table.
pub(super) struct Glossary {
    senses: Vec<Sense>,
    /// English words as in the table.
    exact: HashMap<String, Vec<Thing>>,
    /// Stems of English words, if they are no words of the table.
    english: HashMap<String, Vec<Thing>>,
    chinese: HashMap<String, Vec<Thing>>,
}

/// Maximum number of English words in one entry.
pub(super) const LONGEST_PHRASE: usize = 4;
/// Maximum number of Chinese characters in one entry.
pub(super) const LONGEST_RUN: usize = 6;

static GLOSSARY: LazyLock<Glossary> = LazyLock::new(|| Glossary::of(TABLE));

impl Glossary {
    /// The built-in table.
    pub(super) fn shipped() -> &'static Self {
        &GLOSSARY
    }

    fn of(table: &str) -> Self {
        let (words, mut groups) = (Tokenizer::new(), Vec::new());
        let mut glossary = Self {
            senses: Vec::new(),
            exact: HashMap::new(),
            english: HashMap::new(),
            chinese: HashMap::new(),
        };
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let thing = Thing(u32::try_from(glossary.senses.len()).unwrap_or(u32::MAX));
            let (sense, entries) = sense_of(line, &mut groups);
            let (english, chinese) = entries.split_once('|').unwrap_or((entries, ""));
            glossary.senses.push(sense);
            for entry in english.split_whitespace() {
                let exact = entry.replace(['_', '-'], " ");
                let stems = stems(&words, &exact);
                if stems != exact {
                    add(&mut glossary.english, stems, thing);
                }
                add(&mut glossary.exact, exact, thing);
            }
            for entry in chinese.split_whitespace() {
                add(&mut glossary.chinese, entry.to_owned(), thing);
            }
        }
        glossary
    }

    /// The entries of an English phrase: as written, otherwise by its stems.
    pub(super) fn english(&self, phrase: &str, stems: &str) -> &[Thing] {
        let known = self.exact.get(phrase).or_else(|| self.exact.get(stems));
        known.or_else(|| self.english.get(stems)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The entries of a Chinese word.
    pub(super) fn chinese(&self, word: &str) -> &[Thing] {
        self.chinese.get(word).map(Vec::as_slice).unwrap_or_default()
    }

    /// What the absence of an entry means.
    pub(super) fn sense(&self, thing: Thing) -> Sense {
        let place = usize::try_from(thing.0).ok();
        place.and_then(|place| self.senses.get(place)).copied().unwrap_or(Sense::Plain)
    }
}

fn add(entries: &mut HashMap<String, Vec<Thing>>, word: String, thing: Thing) {
    let things = entries.entry(word).or_default();
    if !things.contains(&thing) {
        things.push(thing);
    }
}

/// The stems of a phrase.
pub(super) fn stems(words: &Tokenizer, phrase: &str) -> String {
    phrase.split(' ').map(|word| words.stem(word)).collect::<Vec<_>>().join(" ")
}

/// The mark at the beginning of a line, and the rest.
fn sense_of<'a>(line: &'a str, groups: &mut Vec<&'a str>) -> (Sense, &'a str) {
    let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
    let sense = match mark.chars().next() {
        Some('~') => Sense::Weak,
        Some('.') => Sense::Light,
        Some('=') => Sense::Value,
        Some('!') => Sense::Opposite(group(mark, groups)),
        Some(':') => Sense::LightOpposite(group(mark, groups)),
        _ => return (Sense::Plain, line),
    };
    (sense, rest)
}

fn group<'a>(mark: &'a str, groups: &mut Vec<&'a str>) -> u32 {
    let name = mark.trim_start_matches(['!', ':']);
    let place = groups.iter().position(|known| *known == name).unwrap_or_else(|| {
        groups.push(name);
        groups.len() - 1
    });
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_every_opposite_has_one() {
        let lines: Vec<&str> =
            TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(lines.len() >= 400);
        for line in &lines {
            let (english, chinese) = line.split_once('|').expect(line);
            assert!(!english.trim().is_empty() && !chinese.trim().is_empty(), "{line}");
            assert!(
                chinese.split_whitespace().all(|word| word.chars().count() <= LONGEST_RUN),
                "{line}"
            );
        }
        let glossary = Glossary::shipped();
        let groups = glossary.senses.iter().filter_map(|sense| match sense {
            Sense::Opposite(group) | Sense::LightOpposite(group) => Some(*group),
            Sense::Weak | Sense::Light | Sense::Plain | Sense::Value => None,
        });
        let groups: Vec<u32> = groups.collect();
        for group in &groups {
            assert!(groups.iter().filter(|other| *other == group).count() > 1, "group {group}");
        }
    }

    #[test]
    fn forms_and_phrases_are_found() {
        let (glossary, words) = (Glossary::shipped(), Tokenizer::new());
        let of = |phrase: &str| glossary.english(phrase, &stems(&words, phrase));
        assert_eq!(of("deployments"), of("deploying"));
        assert_eq!(of("pull requests"), glossary.chinese("合并请求"));
        assert_ne!(of("settings"), of("set"));
        assert!(of("hedgehog").is_empty());
    }
}
