//! Building a segment from documents, or merging segments without deleted documents.

use std::collections::HashMap;

use super::layout::{assemble, length_of, put_varint};
use super::reader::{DocId, DocumentInfo, Segment, TermId};
use crate::document::DocumentTerms;

/// How many terms of a document are stored in text order.
const FIRST_TERMS: usize = 32;

/// Collects documents for a segment.
#[derive(Debug, Default)]
pub struct SegmentBuilder {
    docs: Vec<Pending>,
    numbers: HashMap<String, u32>,
    terms: Vec<(String, Vec<(u32, u32)>)>,
}

#[derive(Debug)]
struct Pending {
    file: String,
    info: DocumentInfo,
    /// Numbers of its first terms, and their counts.
    firsts: Vec<(u32, u32)>,
}

impl Segment {
    /// A segment without documents.
    pub fn empty() -> Self {
        SegmentBuilder::default().finish()
    }
}

impl SegmentBuilder {
    /// Adds a document; each file may be added once.
    pub fn add(&mut self, file: &str, info: DocumentInfo, text: &DocumentTerms) {
        let doc = self.begin(file, info);
        for (number, (term, count)) in text.terms.iter().enumerate() {
            let term = self.number_of(term);
            self.post(term, doc, *count);
            if number < FIRST_TERMS.min(text.content_terms) {
                self.first(doc, term, *count);
            }
        }
    }

    fn begin(&mut self, file: &str, info: DocumentInfo) -> u32 {
        self.docs.push(Pending { file: file.to_owned(), info, firsts: Vec::new() });
        length(&self.docs) - 1
    }

    fn number_of(&mut self, term: &str) -> u32 {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let number = length(&self.terms);
        self.numbers.insert(term.to_owned(), number);
        self.terms.push((term.to_owned(), Vec::new()));
        number
    }

    fn post(&mut self, term: u32, doc: u32, count: u32) {
        if let Some((_, postings)) =
            usize::try_from(term).ok().and_then(|at| self.terms.get_mut(at))
        {
            postings.push((doc, count));
        }
    }

    fn first(&mut self, doc: u32, term: u32, count: u32) {
        if let Some(pending) = usize::try_from(doc).ok().and_then(|at| self.docs.get_mut(at)) {
            pending.firsts.push((term, count));
        }
    }

    /// Builds the segment. Documents are sorted by file, terms by text.
    pub fn finish(mut self) -> Segment {
        let mut order: Vec<u32> = (0..length(&self.docs)).collect();
        order.sort_by(|a, b| self.file(*a).cmp(self.file(*b)));
        let new_doc = inverse(&order);
        let mut by_text: Vec<u32> = (0..length(&self.terms)).collect();
        by_text.sort_by(|a, b| self.text(*a).cmp(self.text(*b)));
        by_text.retain(|term| !self.postings(*term).is_empty());
        let new_term = inverse(&by_text);
        for (_, postings) in &mut self.terms {
            for (doc, _) in postings.iter_mut() {
                *doc = at(&new_doc, *doc);
            }
            postings.sort_unstable();
        }
        self.write(&order, &by_text, &new_term)
    }

    fn write(&self, order: &[u32], by_text: &[u32], new_term: &[u32]) -> Segment {
        let mut docs = DocColumns::default();
        for pending in order.iter().filter_map(|doc| get(&self.docs, *doc)) {
            docs.add(pending, new_term);
        }
        let mut terms = TermColumns::default();
        for term in by_text {
            terms.add(self.text(*term), self.postings(*term));
        }
        let sections = [
            docs.lengths,
            docs.changed,
            docs.flags,
            docs.stamps,
            docs.file_ends,
            docs.files,
            terms.ends,
            terms.texts,
            terms.frequencies,
            terms.posting_ends,
            terms.postings,
            docs.first_ends,
            docs.firsts,
        ];
        let bytes = assemble(length(order), length(by_text), docs.total, &sections);
        // A segment that was just built cannot be damaged.
        Segment::open(bytes).unwrap_or_else(|_| Segment::empty())
    }

    fn file(&self, doc: u32) -> &str {
        get(&self.docs, doc).map(|pending| pending.file.as_str()).unwrap_or_default()
    }

    fn text(&self, term: u32) -> &str {
        get(&self.terms, term).map(|(text, _)| text.as_str()).unwrap_or_default()
    }

    fn postings(&self, term: u32) -> &[(u32, u32)] {
        get(&self.terms, term).map(|(_, postings)| postings.as_slice()).unwrap_or_default()
    }
}

/// Merges segments, keeping the documents for which the function returns `true`.
pub fn merge<'a>(
    segments: impl IntoIterator<Item = (&'a Segment, &'a dyn Fn(DocId) -> bool)>,
) -> Segment {
    let mut builder = SegmentBuilder::default();
    for (segment, is_live) in segments {
        let new: Vec<Option<u32>> = segment
            .docs()
            .map(|doc| is_live(doc).then(|| builder.begin(segment.file(doc), segment.info(doc))))
            .collect();
        let live = |doc: DocId| get(&new, doc.0).copied().flatten();
        let terms: Vec<u32> = (0..segment.term_count())
            .map(|term| {
                let term = TermId(term);
                let number = builder.number_of(segment.text(term));
                for (doc, count) in segment.postings(term) {
                    if let Some(doc) = live(doc) {
                        builder.post(number, doc, count);
                    }
                }
                number
            })
            .collect();
        for doc in segment.docs() {
            let Some(new) = live(doc) else { continue };
            for (term, count) in segment.first_terms(doc) {
                builder.first(new, at(&terms, term.0), count);
            }
        }
    }
    builder.finish()
}

#[derive(Default)]
struct DocColumns {
    lengths: Vec<u8>,
    changed: Vec<u8>,
    flags: Vec<u8>,
    stamps: Vec<u8>,
    file_ends: Vec<u8>,
    files: Vec<u8>,
    first_ends: Vec<u8>,
    firsts: Vec<u8>,
    total: u64,
}

impl DocColumns {
    fn add(&mut self, pending: &Pending, new_term: &[u32]) {
        let info = pending.info;
        self.total += u64::from(info.length);
        self.lengths.extend_from_slice(&info.length.to_le_bytes());
        self.changed.extend_from_slice(&info.changed.to_le_bytes());
        self.flags.push(info.flags.0);
        self.stamps.extend_from_slice(&info.modified.to_le_bytes());
        self.stamps.extend_from_slice(&info.size.to_le_bytes());
        self.files.extend_from_slice(pending.file.as_bytes());
        self.file_ends.extend_from_slice(&length_of(&self.files).to_le_bytes());
        for (term, count) in &pending.firsts {
            put_varint(&mut self.firsts, at(new_term, *term));
            put_varint(&mut self.firsts, *count);
        }
        self.first_ends.extend_from_slice(&length_of(&self.firsts).to_le_bytes());
    }
}

#[derive(Default)]
struct TermColumns {
    ends: Vec<u8>,
    texts: Vec<u8>,
    frequencies: Vec<u8>,
    posting_ends: Vec<u8>,
    postings: Vec<u8>,
}

impl TermColumns {
    fn add(&mut self, text: &str, postings: &[(u32, u32)]) {
        self.texts.extend_from_slice(text.as_bytes());
        self.ends.extend_from_slice(&length_of(&self.texts).to_le_bytes());
        self.frequencies.extend_from_slice(&length(postings).to_le_bytes());
        let mut next = 0;
        for (doc, count) in postings {
            put_varint(&mut self.postings, doc.saturating_sub(next));
            put_varint(&mut self.postings, *count);
            next = doc + 1;
        }
        self.posting_ends.extend_from_slice(&length_of(&self.postings).to_le_bytes());
    }
}

/// The inverse permutation.
fn inverse(order: &[u32]) -> Vec<u32> {
    let highest = order.iter().max().map_or(0, |highest| highest + 1);
    let mut numbers = vec![0; usize::try_from(highest).unwrap_or(0)];
    for (number, old) in (0..).zip(order) {
        if let Some(slot) = usize::try_from(*old).ok().and_then(|old| numbers.get_mut(old)) {
            *slot = number;
        }
    }
    numbers
}

fn get<T>(list: &[T], number: u32) -> Option<&T> {
    usize::try_from(number).ok().and_then(|number| list.get(number))
}

fn at(list: &[u32], number: u32) -> u32 {
    get(list, number).copied().unwrap_or(0)
}

fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
