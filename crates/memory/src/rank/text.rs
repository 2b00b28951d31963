//! A memory as the index sees it: its terms, each with how often it stands there, by field.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::words::Words;
use crate::Header;

/// A part of a memory. What a memory is called says more about it than what stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Its name; that of its file where it has none.
    Name,
    /// The line that describes it.
    Description,
    /// Its type.
    Type,
    /// When it was written and last changed.
    Date,
    /// Its text.
    Body,
}

impl Field {
    /// How often a term counts that stands here once.
    fn weight(self) -> u32 {
        match self {
            Self::Name => 3,
            Self::Description => 2,
            Self::Type | Self::Date | Self::Body => 1,
        }
    }

    /// Whether its words make a memory longer. A date is not something that a memory goes on about.
    fn has_length(self) -> bool {
        !matches!(self, Self::Type | Self::Date)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Type => "type",
            Self::Date => "date",
            Self::Body => "body",
        }
    }
}

/// The terms of one memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MemoryText {
    /// Each term once, in the order in which they first occur, with its weighted count.
    pub(crate) terms: Vec<(String, u32)>,
    /// How many of them are what it says; the others are its type and dates.
    pub(crate) said: usize,
    /// The weighted length.
    pub(crate) length: u32,
    /// Whether it tells when something happened.
    pub(crate) tells_when: bool,
}

/// Stems of words by which a text tells when something happened.
const TIME: &[&str] = &[
    "ago",
    "day",
    "friday",
    "last",
    "monday",
    "month",
    "morn",
    "next",
    "recent",
    "saturday",
    "sinc",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "year",
    "yesterday",
    "今天",
    "昨天",
    "明天",
    "去年",
    "上周",
    "下周",
    "上个",
];

impl MemoryText {
    /// Reads a memory. `stem` is the name of its file.
    pub(crate) fn of(words: &Words, header: &Header, stem: &str, body: &str) -> Self {
        let mut counts = Counts::default();
        let (mut length, mut said) = (0, 0);
        for (field, text) in fields(header, stem, body) {
            words.terms_of_text(&text, |term| {
                counts.add(term, field.weight());
                // The last character of a run stands in the pair before it already.
                let counted = field.has_length() && !is_single_character(term);
                length += if counted { field.weight() } else { 0 };
            });
            said = if field.has_length() { counts.terms.len() } else { said };
        }
        let tells_when = TIME.iter().any(|word| counts.places.contains_key(*word));
        Self { terms: counts.terms, said, length, tells_when }
    }
}

/// The texts of a memory, what says most first; what it does not say itself comes last.
pub(super) fn fields<'a>(
    header: &'a Header,
    stem: &'a str,
    body: &'a str,
) -> Vec<(Field, std::borrow::Cow<'a, str>)> {
    let name = header.name.as_deref().unwrap_or(stem);
    let mut fields = vec![(Field::Name, name.into())];
    fields.extend(header.description.as_deref().map(|text| (Field::Description, text.into())));
    fields.push((Field::Body, body.into()));
    fields.extend(header.kind.map(|kind| (Field::Type, kind.as_str().into())));
    let dates = header.created.iter().chain(header.modified.iter());
    fields.extend(dates.map(|time| (Field::Date, date_words(*time).into())));
    fields
}

/// A date as people ask for it: `2026-11-15` is `15 November 2026`.
fn date_words(time: Timestamp) -> String {
    let date = time.to_zoned(TimeZone::UTC).date();
    format!("{} {} {}", date.day(), month_name(date.month()), date.year())
}

fn month_name(month: i8) -> &'static str {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    usize::try_from(month - 1).ok().and_then(|place| MONTHS.get(place)).copied().unwrap_or_default()
}

fn is_single_character(term: &str) -> bool {
    let mut characters = term.chars();
    characters.next().is_some_and(super::words::is_unspaced) && characters.next().is_none()
}

#[derive(Default)]
struct Counts {
    places: HashMap<String, usize>,
    terms: Vec<(String, u32)>,
}

impl Counts {
    fn add(&mut self, term: &str, count: u32) {
        let known = self.places.get(term).and_then(|place| self.terms.get_mut(*place));
        if let Some((_, sum)) = known {
            *sum = sum.saturating_add(count);
            return;
        }
        self.places.insert(term.to_owned(), self.terms.len());
        self.terms.push((term.to_owned(), count));
    }
}
