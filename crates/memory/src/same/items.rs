//! Sentences as things: each with the numbers by which it is known, how much it counts, and whether it is denied.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::glossary::{Glossary, LONGEST_PHRASE, LONGEST_RUN, Sense, Thing, stems};
use super::marks::{self, Mark};
use super::tokens::{Capital, Token, chinese_number, tokens};
use super::tuning;
use crate::rank::{Words, is_stop, related};

/// The number of a thing, the same for all its words; of a word that no table knows, its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(u64);

impl Id {
    fn of_thing(thing: Thing) -> Self {
        Self(u64::from(thing.0))
    }

    fn of_word(kind: &str, word: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (kind, word).hash(&mut hasher);
        // Things of the table have the small numbers.
        Self(hasher.finish() | 1 << 63)
    }
}

/// What a thing is, as far as it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It holds the sentence together.
    Weak,
    /// Anything.
    Plain,
    /// The opposite of others of its group.
    Opposite(u32),
    /// A value of the table: a weekday, a language.
    Value,
    /// A number.
    Number,
    /// A date or a time.
    Moment,
    /// The year of a date: another one is another date, none is none.
    Year,
    /// A name, a path, an identifier.
    Name,
}

impl Kind {
    /// Whether a text that does not have it says something else.
    pub(super) fn is_needed(self) -> bool {
        matches!(self, Self::Value | Self::Number | Self::Moment | Self::Name)
    }
}

/// The language to which a word is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// None: a name or a number.
    Free,
    /// None: the table has it in both.
    Table,
    /// English.
    English,
    /// Chinese.
    Chinese,
}

/// One thing that a sentence speaks of.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) weight: f32,
    pub(super) bound: Bound,
    /// Any of these says it.
    pub(super) asks: Vec<Id>,
    /// Any of these says nearly it.
    pub(super) near: Vec<Id>,
    /// What it says besides: of a path its parts, of a date its month.
    besides: Vec<Id>,
    /// The part of the sentence in which it stands.
    pub(super) part: u16,
    pub(super) is_denied: bool,
}

impl Item {
    fn new(kind: Kind, weight: f32, asks: Vec<Id>) -> Self {
        let (near, besides) = (Vec::new(), Vec::new());
        Self { kind, weight, bound: Bound::Free, asks, near, besides, part: 0, is_denied: false }
    }

    fn ids(&self) -> impl Iterator<Item = Id> {
        self.asks.iter().chain(&self.besides).copied()
    }
}

/// Where an id stands in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) id: Id,
    /// The item that says it.
    pub(super) item: u16,
}

/// A sentence, ready to be compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Sentence {
    pub(super) items: Vec<Item>,
    /// What it says, sorted by id.
    pub(super) places: Vec<Place>,
    /// Whether it has words of this language.
    pub(super) has_english: bool,
    pub(super) has_chinese: bool,
}

impl Sentence {
    /// Whether it speaks of anything at all.
    pub(super) fn has_content(&self) -> bool {
        self.items.iter().any(|item| item.kind != Kind::Weak)
    }

    /// All that it says.
    pub(super) fn ids(&self) -> impl Iterator<Item = Id> {
        self.places.iter().map(|place| place.id)
    }

    /// The items that say one of these.
    pub(super) fn saying(&self, ids: &[Id]) -> impl Iterator<Item = &Item> {
        ids.iter().flat_map(|id| {
            let start = self.places.partition_point(|place| place.id < *id);
            let places = self.places.iter().skip(start).take_while(move |place| place.id == *id);
            places.filter_map(|place| self.items.get(usize::from(place.item)))
        })
    }

    fn finish(&mut self) {
        // Among Chinese, a foreign word that the table does not know is the name of something.
        let unknown = |item: &&mut Item| item.bound == Bound::English;
        for item in self.items.iter_mut().filter(unknown).filter(|_| self.has_chinese) {
            (item.kind, item.weight, item.bound) = (Kind::Name, tuning::VALUE, Bound::Free);
        }
        for (at, item) in (0_u16..).zip(&self.items) {
            self.places.extend(item.ids().map(|id| Place { id, item: at }));
        }
        self.places.sort_unstable();
        self.places.dedup();
    }
}

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut reader = Reader {
        words: Words::new(),
        glossary: Glossary::shipped(),
        done: Vec::new(),
        sentence: Sentence::default(),
        part: Part::default(),
        before: None,
    };
    let tokens = tokens(text);
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let used = reader.take(rest).max(1);
        rest = rest.get(used..).unwrap_or_default();
    }
    reader.end_sentence();
    reader.done
}

/// A part of a sentence that is being read.
#[derive(Default)]
struct Part {
    /// Where its items begin.
    start: usize,
    /// Whether all of it is denied.
    is_denied: bool,
    /// Whether what follows is denied.
    denies_rest: bool,
    /// Where the items begin that stand behind a `from`.
    from: Option<usize>,
}

struct Reader {
    words: Words,
    glossary: &'static Glossary,
    done: Vec<Sentence>,
    sentence: Sentence,
    part: Part,
    /// The English word in front.
    before: Option<String>,
}

impl Reader {
    /// Takes what stands first; how many tokens that were.
    fn take(&mut self, tokens: &[Token]) -> usize {
        match tokens.first() {
            None => {}
            Some(Token::Word { text, capital }) => return self.take_words(tokens, text, *capital),
            Some(Token::Run(run)) => self.take_run(run),
            Some(Token::Name(name)) => self.take_name(name),
            Some(Token::Number(number)) => {
                self.push(Item::new(Kind::Number, tuning::VALUE, vec![Id::of_word("n", number)]));
            }
            Some(Token::Date(date)) => self.take_date(date),
            Some(Token::Time(time)) => {
                self.push(Item::new(Kind::Moment, tuning::VALUE, vec![Id::of_word("t", time)]));
            }
            Some(Token::PartEnd) => self.end_part(),
            Some(Token::End) => self.end_sentence(),
        }
        1
    }

    fn push(&mut self, mut item: Item) {
        item.is_denied = self.part.denies_rest;
        self.sentence.items.push(item);
    }

    fn mark(&mut self, mark: Mark) {
        let end = self.sentence.items.len();
        match mark {
            Mark::DeniesPart => self.part.is_denied ^= true,
            Mark::DeniesRest => self.part.denies_rest = true,
            Mark::Begins => self.end_part(),
            Mark::From => self.part.from = Some(end),
            Mark::To => {
                if let Some(from) = self.part.from.take() {
                    self.sentence
                        .items
                        .iter_mut()
                        .skip(from)
                        .for_each(|item| item.is_denied ^= true);
                }
            }
            Mark::Nothing => {}
        }
    }

    fn end_part(&mut self) {
        self.before = None;
        let Part { start, is_denied, .. } = std::mem::take(&mut self.part);
        let part =
            self.sentence.items.get(..start).and_then(<[_]>::last).map_or(0, |item| item.part + 1);
        for item in self.sentence.items.iter_mut().skip(start) {
            item.part = part;
            item.is_denied ^= is_denied;
        }
        self.part.start = self.sentence.items.len();
    }

    fn end_sentence(&mut self) {
        self.end_part();
        self.part.start = 0;
        let mut sentence = std::mem::take(&mut self.sentence);
        if sentence.items.len() > usize::from(u16::MAX) || sentence.items.is_empty() {
            return;
        }
        sentence.finish();
        self.done.push(sentence);
    }

    /// The longest phrase that somebody knows, or a word.
    fn take_words(&mut self, tokens: &[Token], first: &str, capital: Capital) -> usize {
        self.sentence.has_english = true;
        let texts: Vec<&str> = tokens
            .iter()
            .take(LONGEST_PHRASE)
            .map_while(|token| match token {
                Token::Word { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let is_name_here = capital == Capital::Inside && marks::is_name_too(first);
        for count in (1..=texts.len()).rev() {
            let phrase = texts.get(..count).unwrap_or_default();
            let joined = phrase.join(" ");
            if let Some(mark) = marks::english(&joined, self.before.as_deref()) {
                self.before = Some(first.to_owned());
                self.mark(mark);
                return count;
            }
            let stems = stems(&self.words, &joined);
            let things = self.glossary.english(&joined, &stems).to_vec();
            if !things.is_empty() && !is_name_here {
                self.take_things(&things, &stems);
                self.before = phrase.last().map(|word| (*word).to_owned());
                return count;
            }
        }
        self.take_unknown(first, capital);
        self.before = Some(first.to_owned());
        1
    }

    fn take_things(&mut self, things: &[Thing], stems: &str) {
        let (kind, weight) = self.kind_of(things);
        let mut item = Item::new(kind, weight, things.iter().copied().map(Id::of_thing).collect());
        item.asks.push(Id::of_word("w", stems));
        item.bound = Bound::Table;
        if kind == Kind::Plain {
            item.near = related(stems).iter().map(|stem| Id::of_word("w", stem)).collect();
        }
        self.push(item);
    }

    /// What little of the lines says decides: a word that may be a mere filler is taken for one.
    fn kind_of(&self, things: &[Thing]) -> (Kind, f32) {
        let senses: Vec<Sense> = things.iter().map(|thing| self.glossary.sense(*thing)).collect();
        if senses.contains(&Sense::Weak) {
            return (Kind::Weak, tuning::WEAK);
        }
        match senses.as_slice() {
            [Sense::Value] => (Kind::Value, tuning::VALUE),
            [Sense::Opposite(group)] => (Kind::Opposite(*group), tuning::PLAIN),
            _ => (Kind::Plain, tuning::PLAIN),
        }
    }

    fn take_unknown(&mut self, word: &str, capital: Capital) {
        if is_stop(word) || word.chars().count() < 2 {
            return;
        }
        let stem = self.words.stem(word);
        let near = related(&stem).iter().map(|stem| Id::of_word("w", stem)).collect();
        let (kind, weight) = match capital {
            Capital::Inside => (Kind::Name, tuning::VALUE),
            Capital::First => (Kind::Plain, tuning::PERHAPS_NAME),
            Capital::None => (Kind::Plain, tuning::UNKNOWN),
        };
        let bound = if kind == Kind::Name { Bound::Free } else { Bound::English };
        let item = Item::new(kind, weight, vec![Id::of_word("w", &stem)]);
        self.push(Item { bound, near, ..item });
    }

    /// A path, an identifier: known by all of it, and to others by its parts.
    fn take_name(&mut self, name: &str) {
        let whole = name.trim_start_matches("./").trim_start_matches('-').trim_end_matches('/');
        let id = |text: &str| Id::of_word("w", &self.words.stem(&text.replace(['_', '-'], "")));
        let mut item = Item::new(Kind::Name, tuning::VALUE, vec![id(whole)]);
        for part in whole.split(['/', '\\', '@', ':']).filter(|part| *part != whole) {
            item.besides.push(id(part));
        }
        for part in whole.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 1) {
            let stem = self.words.stem(part);
            item.besides.push(Id::of_word("w", &stem));
            item.besides
                .extend(self.glossary.english(part, &stem).iter().copied().map(Id::of_thing));
        }
        self.push(item);
    }

    fn take_date(&mut self, date: &str) {
        let (year, day) = date.split_once('-').unwrap_or(("0000", date));
        let mut item = Item::new(Kind::Moment, tuning::VALUE, vec![Id::of_word("d", day)]);
        let month =
            day.split('-').next().and_then(|month| month.parse::<usize>().ok()).unwrap_or(0);
        let names = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
        if let Some(name) = month.checked_sub(1).and_then(|place| names.get(place)) {
            let things = self.glossary.chinese(&format!("{name}月"));
            item.besides.extend(things.iter().copied().map(Id::of_thing));
        }
        self.push(item);
        if year != "0000" {
            self.push(Item::new(Kind::Year, tuning::WEAK, vec![Id::of_word("n", year)]));
        }
    }

    /// Words of a run, the longest that somebody knows each time; what nobody knows is taken in pairs.
    fn take_run(&mut self, run: &str) {
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

    /// Takes a word that somebody knows; how many characters that were.
    fn known_word(&mut self, rest: &[char], unknown: &mut String) -> usize {
        if let Some((number, used)) = counted(rest) {
            self.take_pairs(unknown);
            if number != 1 {
                let id = Id::of_word("n", &number.to_string());
                self.push(Item::new(Kind::Number, tuning::VALUE, vec![id]));
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

    /// Whether a character that could be a word is rather one of several that nobody knows: `小` in `小李`.
    fn is_part_of_unknown(&self, things: &[Thing], rest: &[char], unknown: &str) -> bool {
        let is_word = |count: usize| {
            let word: String = rest.iter().skip(1).take(count).collect();
            !self.glossary.chinese(&word).is_empty() || marks::chinese(&word).is_some()
        };
        let (kind, _) = self.kind_of(things);
        let stands_alone = rest.len() == 1 || (1..=LONGEST_RUN).any(is_word);
        !things.is_empty() && kind != Kind::Weak && (!unknown.is_empty() || !stands_alone)
    }

    fn take_chinese(&mut self, things: &[Thing], word: &[char]) {
        let (mut kind, mut weight) = self.kind_of(things);
        let follows_number =
            self.sentence.items.last().is_some_and(|item| item.kind == Kind::Number);
        // A single character is often only a part of a word; behind a number it is its unit.
        if word.len() == 1 && kind != Kind::Weak && !follows_number {
            (kind, weight) = (Kind::Plain, tuning::CHARACTER);
        }
        let ids = things.iter().copied().map(Id::of_thing).collect();
        let besides = inside(word);
        self.push(Item { besides, bound: Bound::Table, ..Item::new(kind, weight, ids) });
    }

    fn take_pairs(&mut self, unknown: &mut String) {
        let characters: Vec<char> = std::mem::take(unknown).chars().collect();
        let mut add = |text: &[char], weight| {
            let item = Item::new(Kind::Plain, weight, vec![of_characters(text)]);
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

/// Pairs and characters inside a word: where others cut a run, one of these may be what they ask for.
fn inside(word: &[char]) -> Vec<Id> {
    word.windows(2).chain(word.chunks(1)).map(of_characters).collect()
}

/// A number in Chinese characters in front of what is counted, and how many characters it has.
fn counted(rest: &[char]) -> Option<(u32, usize)> {
    const MEASURES: &str = "个次天周月年分秒小位名条行空点人岁级层倍种台份章遍轮";
    let length = rest.iter().take_while(|c| "一二两三四五六七八九十百千".contains(**c)).count();
    let measure = rest.get(length).filter(|c| MEASURES.contains(**c))?;
    let word: String = rest.get(..length)?.iter().collect();
    // `三月` is a month, `一天` a day.
    let is_month = *measure == '月';
    (length > 0 && !is_month).then(|| chinese_number(&word).map(|number| (number, length)))?
}
