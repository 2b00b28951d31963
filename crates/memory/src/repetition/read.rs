//! Reading a text: tokens become the items of sentences, and words such as `not` change the items around them.

use super::glossary::{Glossary, LONGEST_PHRASE, Sense, Thing, stems};
use super::items::{Bound, Id, Item, ItemKind, Sentence};
use super::marks::{self, Mark};
use super::tokens::{Capital, Token, tokens};
use super::tuning;
use dormouse_search::{Tokenizer, is_stop, related};

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut reader = Reader {
        words: Tokenizer::new(),
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
    /// Position of its first item.
    start: usize,
    /// Whether the whole part is negated.
    is_denied: bool,
    /// Whether the following items are negated.
    denies_rest: bool,
    /// Whether something is preferred in it over what follows an `over`.
    prefers: bool,
    /// Position of the first item after a `from`.
    from: Option<usize>,
}

pub(super) struct Reader {
    words: Tokenizer,
    pub(super) glossary: &'static Glossary,
    done: Vec<Sentence>,
    pub(super) sentence: Sentence,
    part: Part,
    /// The previous English word.
    before: Option<String>,
}

impl Reader {
    /// Takes the next item; returns the number of its tokens.
    fn take(&mut self, tokens: &[Token]) -> usize {
        match tokens.first() {
            None => {}
            Some(Token::Word { text, capital }) => return self.take_words(tokens, text, *capital),
            Some(Token::Run(run)) => self.take_run(run),
            Some(Token::Name(name)) => self.take_name(name),
            Some(Token::Number(number)) => {
                self.push(Item::new(
                    ItemKind::Number,
                    tuning::VALUE,
                    vec![Id::of_word("n", number)],
                ));
            }
            Some(Token::Date(date)) => self.take_date(date),
            Some(Token::Time(time)) => {
                self.push(Item::new(ItemKind::Moment, tuning::VALUE, vec![Id::of_word("t", time)]));
            }
            Some(Token::PartEnd) => self.end_part(),
            Some(Token::End) => self.end_sentence(),
        }
        1
    }

    pub(super) fn push(&mut self, mut item: Item) {
        item.is_denied = self.part.denies_rest;
        self.sentence.items.push(item);
    }

    pub(super) fn mark(&mut self, mark: Mark) {
        let end = self.sentence.items.len();
        match mark {
            Mark::DeniesPart => self.part.is_denied ^= true,
            Mark::DeniesRest => self.part.denies_rest = true,
            Mark::Begins => self.end_part(),
            Mark::From => self.part.from = Some(end),
            Mark::To => {
                // `从 A 迁移到 B`: the action between the two is not negated.
                let is_place = |item: &&mut Item| item.bound != Bound::Table;
                if let Some(from) = self.part.from.take() {
                    let between = self.sentence.items.iter_mut().skip(from).filter(is_place);
                    between.for_each(|item| item.is_denied ^= true);
                }
            }
            Mark::Over => self.part.denies_rest |= self.part.prefers,
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

    /// The longest known phrase, or a word.
    fn take_words(&mut self, tokens: &[Token], first: &str, capital: Capital) -> usize {
        self.sentence.has_english = true;
        self.part.prefers |= first.starts_with("prefer") || first.starts_with("favour");
        let more = tokens.iter().skip(1).take(LONGEST_PHRASE - 1).map_while(|token| match token {
            Token::Word { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = std::iter::once(first).chain(more).collect();
        // In a Chinese sentence, any English word looks like a name.
        let looks = capital == Capital::Inside || self.sentence.has_chinese;
        let is_name_here = marks::is_name(first, self.before.as_deref(), looks);
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
        let capital = if is_name_here { Capital::Inside } else { capital };
        self.take_unknown(first, capital);
        self.before = Some(first.to_owned());
        1
    }

    fn take_things(&mut self, things: &[Thing], stems: &str) {
        let (kind, weight) = self.kind_of(things);
        let mut item = Item::new(kind, weight, things.iter().copied().map(Id::of_thing).collect());
        item.asks.push(Id::of_word("w", stems));
        item.bound = Bound::Table;
        if kind == ItemKind::Plain {
            item.near = related(stems).iter().map(|stem| Id::of_word("w", stem)).collect();
        }
        self.push(item);
    }

    /// The weakest meaning decides: a word that may be a function word counts as one.
    pub(super) fn kind_of(&self, things: &[Thing]) -> (ItemKind, f32) {
        let senses: Vec<Sense> = things.iter().map(|thing| self.glossary.sense(*thing)).collect();
        if senses.contains(&Sense::Weak) {
            return (ItemKind::Weak, tuning::WEAK);
        }
        match senses.as_slice() {
            [Sense::Value] => (ItemKind::Value, tuning::VALUE),
            [Sense::Opposite(group)] => (ItemKind::Opposite(*group), tuning::PLAIN),
            [Sense::LightOpposite(group)] => (ItemKind::Opposite(*group), tuning::LIGHT),
            [Sense::Light] => (ItemKind::Plain, tuning::LIGHT),
            _ => (ItemKind::Plain, tuning::PLAIN),
        }
    }

    fn take_unknown(&mut self, word: &str, capital: Capital) {
        if capital != Capital::Inside && is_stop(word) || word.chars().count() < 2 {
            return;
        }
        let stem = self.words.stem(word);
        let near = related(&stem).iter().map(|stem| Id::of_word("w", stem)).collect();
        let (kind, weight) = match capital {
            Capital::Inside => (ItemKind::Name, tuning::VALUE),
            Capital::First => (ItemKind::Plain, tuning::PERHAPS_NAME),
            Capital::None => (ItemKind::Plain, tuning::UNKNOWN),
        };
        let bound = if kind == ItemKind::Name { Bound::Free } else { Bound::English };
        let item = Item::new(kind, weight, vec![Id::of_word("w", &stem)]);
        self.push(Item { bound, near, ..item });
    }

    /// A path or an identifier: matched as a whole, and by its parts. Words joined by a slash (`read/write`) are words.
    fn take_name(&mut self, name: &str) {
        let parts: Vec<&str> = name.split('/').collect();
        let is_word = |word: &&str| {
            is_stop(word) || !self.glossary.english(word, &self.words.stem(word)).is_empty()
        };
        if parts.len() > 1 && parts.iter().all(is_word) {
            for part in parts {
                self.take_words(&[], part, Capital::None);
            }
            return;
        }
        let whole = name.trim_start_matches("./").trim_start_matches('-').trim_end_matches('/');
        let id = |text: &str| Id::of_word("w", &self.words.stem(&text.replace(['_', '-'], "")));
        let mut item = Item::new(ItemKind::Name, tuning::VALUE, vec![id(whole)]);
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
        let mut item = Item::new(ItemKind::Moment, tuning::VALUE, vec![Id::of_word("d", day)]);
        let month =
            day.split('-').next().and_then(|month| month.parse::<usize>().ok()).unwrap_or(0);
        let names = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
        if let Some(name) = month.checked_sub(1).and_then(|place| names.get(place)) {
            let things = self.glossary.chinese(&format!("{name}月"));
            item.besides.extend(things.iter().copied().map(Id::of_thing));
        }
        self.push(item);
        if year != "0000" {
            self.push(Item::new(ItemKind::Year, tuning::WEAK, vec![Id::of_word("n", year)]));
        }
    }
}
