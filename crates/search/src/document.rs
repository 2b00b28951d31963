//! The terms of a document with their counts, weighted by field.

use std::collections::HashMap;

use crate::words::{
    RuleAbout, Tokenizer, is_unspaced, kinds_of_rule, kinds_of_work, rule_term, work_term,
};

/// A field of a document. The name has a higher weight than the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentField {
    /// Its name or file name.
    Name,
    /// Its one-line description.
    Description,
    /// Its type.
    Type,
    /// Creation and modification dates, as words.
    Date,
    /// Its text.
    Body,
    /// The path of a file that it is about.
    File,
}

impl DocumentField {
    /// How often one occurrence counts.
    fn weight(self) -> u32 {
        match self {
            Self::Name => 4,
            Self::Description => 2,
            Self::Type | Self::Date | Self::Body | Self::File => 1,
        }
    }

    /// Whether the field counts for the length of the document.
    fn has_length(self) -> bool {
        !matches!(self, Self::Type | Self::Date | Self::File)
    }

    /// Adds what the document is for to `subject`: name, description, and how to apply it.
    fn add_subject(self, text: &str, subject: &mut String) {
        let lines: Vec<&str> = match self {
            Self::Name | Self::Description => vec![text],
            Self::Body => text.lines().filter(|line| is_application(line)).collect(),
            Self::Type | Self::Date | Self::File => Vec::new(),
        };
        for line in lines {
            subject.push_str(line);
            subject.push('\n');
        }
    }

    /// Name of the field.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Type => "type",
            Self::Date => "date",
            Self::Body => "body",
            Self::File => "file",
        }
    }
}

/// The terms of one document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentTerms {
    /// Each term once, in order of first occurrence, with its weighted count.
    pub(crate) terms: Vec<(String, u32)>,
    /// Number of terms from name, description and body; the rest are from type and dates.
    pub(crate) content_terms: usize,
    /// Weighted length.
    pub length: u32,
    /// Whether the document has a date.
    pub tells_when: bool,
}

/// Stems of words that indicate a time.
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

impl DocumentTerms {
    /// Counts the terms of the fields of one document. Fields with content come before type, dates and files.
    pub fn of<T: AsRef<str>>(
        words: &Tokenizer,
        fields: impl IntoIterator<Item = (DocumentField, T)>,
    ) -> Self {
        let mut counts = Counts::default();
        let mut length = 0;
        let mut content_terms = 0;
        let mut subject = String::new();
        let mut rule = RuleText::default();
        for (field, text) in fields {
            if field == DocumentField::File {
                counts.add(&file_term(text.as_ref()), field.weight());
                continue;
            }
            field.add_subject(text.as_ref(), &mut subject);
            rule.add(field, text.as_ref());
            words.each_term(text.as_ref(), |term| {
                counts.add(term, field.weight());
                // The last character of a run is already part of the preceding pair.
                let counted = field.has_length() && !is_single_character(term);
                length += if counted { field.weight() } else { 0 };
            });
            if field.has_length() {
                content_terms = counts.terms.len();
            }
        }
        for kind in kinds_of_work(words, &subject) {
            counts.add(&work_term(kind), 1);
        }
        for kind in rule.kinds(words) {
            counts.add(&rule_term(kind), 1);
        }
        let tells_when = TIME.iter().any(|word| counts.positions.contains_key(*word));
        Self { terms: counts.terms, content_terms, length, tells_when }
    }
}

/// What may be a standing rule: the title of a document about the user or about how to work.
#[derive(Default)]
struct RuleText {
    title: String,
    about: Option<RuleAbout>,
}

impl RuleText {
    fn add(&mut self, field: DocumentField, text: &str) {
        match field {
            DocumentField::Name | DocumentField::Description => {
                self.title.push_str(text);
                self.title.push('\n');
            }
            DocumentField::Type => {
                self.about = match text {
                    "user" => Some(RuleAbout::User),
                    "feedback" => Some(RuleAbout::Work),
                    _ => None,
                };
            }
            DocumentField::Date | DocumentField::Body | DocumentField::File => {}
        }
    }

    fn kinds(&self, words: &Tokenizer) -> Vec<&'static str> {
        let of = |about| kinds_of_rule(words, about, &self.title);
        self.about.map(of).unwrap_or_default()
    }
}

/// The term under which documents about a file are indexed; no word has this form.
pub(crate) fn file_term(path: &str) -> String {
    format!("@{path}")
}

/// Whether a line says when and how to apply the document.
fn is_application(line: &str) -> bool {
    let start = line.trim_start_matches(['*', ' ', '-']);
    ["How to apply", "how to apply", "如何应用", "怎么用", "适用"]
        .iter()
        .any(|mark| start.starts_with(mark))
}

fn is_single_character(term: &str) -> bool {
    let mut characters = term.chars();
    characters.next().is_some_and(is_unspaced) && characters.next().is_none()
}

#[derive(Default)]
struct Counts {
    positions: HashMap<String, usize>,
    terms: Vec<(String, u32)>,
}

impl Counts {
    fn add(&mut self, term: &str, count: u32) {
        let known = self.positions.get(term).and_then(|position| self.terms.get_mut(*position));
        if let Some((_, sum)) = known {
            *sum = sum.saturating_add(count);
            return;
        }
        self.positions.insert(term.to_owned(), self.terms.len());
        self.terms.push((term.to_owned(), count));
    }
}
