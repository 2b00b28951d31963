//! Reading Chinese, which has no spaces: at each position the longest known word.

use super::glossary::{LONGEST_RUN, Thing};
use super::items::{Bound, Id, Item, ItemKind};
use super::marks;
use super::numbers::chinese_number;
use super::read::Reader;
use super::tuning;

impl Reader {
    /// The words of a run: at each position the longest known word; unknown characters are taken in pairs.
    pub(super) fn take_run(&mut self, run: &str) {
        self.sentence.has_chinese = true;
        let characters: Vec<char> = run.chars().collect();
        let mut rest = characters.as_slice();
        let mut unknown = String::new();
        while let [first, others @ ..] = rest {
            let used = self.known_word(rest, &mut unknown);
            if used == 0 {
                unknown.push(*first);
                rest = others;
            } else {
                rest = rest.get(used..).unwrap_or_default();
            }
        }
        self.take_pairs(&mut unknown);
    }

    /// Takes a known word; returns the number of its characters.
    fn known_word(&mut self, rest: &[char], unknown: &mut String) -> usize {
        if let Some((number, used)) = counted(rest) {
            self.take_pairs(unknown);
            if number != 1 {
                let id = Id::of_word("n", &number.to_string());
                self.push(Item::new(ItemKind::Number, tuning::VALUE, vec![id]));
            }
            return used;
        }
        for count in (1..=LONGEST_RUN.min(rest.len())).rev() {
            let word: String = rest.get(..count).unwrap_or_default().iter().collect();
            let things = self.glossary.chinese(&word).to_vec();
            if count == 1 && self.is_part_of_unknown(&things, rest, unknown) {
                return 0;
            }
            if !things.is_empty() {
                self.take_pairs(unknown);
                self.take_chinese(&things, rest.get(..count).unwrap_or_default());
                return count;
            }
            if let Some(mark) = marks::chinese(&word) {
                self.take_pairs(unknown);
                self.mark(mark);
                return count;
            }
        }
        0
    }

    /// Whether a character that could be a word is rather part of an unknown one: `小` in `小李`.
    fn is_part_of_unknown(&self, things: &[Thing], rest: &[char], unknown: &str) -> bool {
        let is_word = |count: usize| {
            let word: String = rest.iter().skip(1).take(count).collect();
            !self.glossary.chinese(&word).is_empty() || marks::chinese(&word).is_some()
        };
        let (kind, _) = self.kind_of(things);
        let stands_alone = rest.len() == 1 || (1..=LONGEST_RUN).any(is_word);
        !things.is_empty() && kind != ItemKind::Weak && (!unknown.is_empty() || !stands_alone)
    }

    fn take_chinese(&mut self, things: &[Thing], word: &[char]) {
        let (mut kind, mut weight) = self.kind_of(things);
        let follows_number =
            self.sentence.items.last().is_some_and(|item| item.kind == ItemKind::Number);
        // A single character is often only a part of a word; after a number it is the unit.
        if word.len() == 1 && kind != ItemKind::Weak && !follows_number {
            (kind, weight) = (ItemKind::Plain, tuning::CHARACTER);
        }
        let ids = things.iter().copied().map(Id::of_thing).collect();
        let besides = inside(word);
        self.push(Item { besides, bound: Bound::Table, ..Item::new(kind, weight, ids) });
    }

    fn take_pairs(&mut self, unknown: &mut String) {
        let characters: Vec<char> = std::mem::take(unknown).chars().collect();
        let mut add = |text: &[char], weight| {
            let item = Item::new(ItemKind::Plain, weight, vec![of_characters(text)]);
            self.push(Item { bound: Bound::Chinese, besides: inside(text), ..item });
        };
        match characters.as_slice() {
            [] => {}
            [_] => add(&characters, tuning::CHARACTER),
            more => more.windows(2).for_each(|pair| add(pair, tuning::UNKNOWN)),
        }
    }
}

fn of_characters(text: &[char]) -> Id {
    Id::of_word("w", &text.iter().collect::<String>())
}

/// Pairs and characters inside a word: other texts may be split at other positions.
fn inside(word: &[char]) -> Vec<Id> {
    word.windows(2).chain(word.chunks(1)).map(of_characters).collect()
}

/// A number in Chinese characters before a counted word, and the number of its characters.
fn counted(rest: &[char]) -> Option<(u32, usize)> {
    const MEASURES: &str = "个次天周月年分秒小位名条行空点人岁级层倍种台份章遍轮";
    let length = rest.iter().take_while(|c| "一二两三四五六七八九十百千".contains(**c)).count();
    let measure = rest.get(length).filter(|c| MEASURES.contains(**c))?;
    let word: String = rest.get(..length)?.iter().collect();
    // `三月` is a month, `一天` a day.
    let is_month = *measure == '月';
    (length > 0 && !is_month).then(|| chinese_number(&word).map(|number| (number, length)))?
}
