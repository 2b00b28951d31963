//! Segments: what goes in comes out, and damage is seen.

use super::*;
use crate::document::{DocumentField, DocumentTerms};
use crate::words::Tokenizer;

fn info(size: u64) -> DocumentInfo {
    DocumentInfo { modified: -7, size, changed: 9, length: 3, flags: DocumentFlags::QUARANTINED }
}

fn segment(texts: &[(&str, &str)]) -> Segment {
    let mut builder = SegmentBuilder::default();
    for (file, body) in texts {
        let text = DocumentTerms::of(
            &Tokenizer::new(),
            [(DocumentField::Name, "x"), (DocumentField::Body, *body)],
        );
        builder.add(file, info(body.len() as u64), &text);
    }
    builder.finish()
}

#[test]
fn a_segment_gives_back_what_went_in() {
    let segment = segment(&[("b.md", "slow database"), ("a.md", "database database port")]);
    let files: Vec<&str> = segment.docs().map(|doc| segment.file(doc)).collect();
    assert_eq!(files, ["a.md", "b.md"]);
    assert_eq!(segment.info(DocId(1)), info(13));
    let term = segment.term("databas").unwrap();
    assert_eq!(segment.frequency(term), 2);
    assert_eq!(segment.postings(term).collect::<Vec<_>>(), [(DocId(0), 2), (DocId(1), 1)]);
    let firsts: Vec<_> =
        segment.first_terms(DocId(0)).map(|(term, count)| (segment.text(term), count)).collect();
    assert_eq!(firsts, [("x", 4), ("databas", 2), ("port", 1)]);
    assert_eq!(segment.term("absent"), None);
    let beginning: Vec<&str> = segment.with_prefix("d").map(|(_, text)| text).collect();
    assert_eq!(beginning, ["databas"]);
}

#[test]
fn a_merge_is_what_would_have_been_built() {
    let all = [("c.md", "one two"), ("a.md", "two three"), ("b.md", "three one 数据库")];
    let (first, rest) = all.split_at(2);
    let (first, rest) = (segment(first), segment(rest));
    let live: &dyn Fn(DocId) -> bool = &|_| true;
    let merged = merge([(&first, live), (&rest, live)]);
    assert_eq!(merged.bytes(), segment(&all).bytes());
    let without: &dyn Fn(DocId) -> bool = &|doc| merged.file(doc) != "a.md";
    let expected = segment(&[("c.md", "one two"), ("b.md", "three one 数据库")]);
    assert_eq!(merge([(&merged, without)]).bytes(), expected.bytes());
}

#[test]
fn damaged_bytes_are_refused() {
    let bytes = segment(&[("a.md", "one two three")]).bytes().to_vec();
    assert!(Segment::open(bytes.clone()).is_ok());
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(Segment::open(damaged).is_err(), "byte {at}");
        assert!(Segment::open(bytes[..at].to_vec()).is_err(), "length {at}");
    }
}

#[test]
fn even_bytes_with_a_true_checksum_do_not_panic() {
    let bytes = segment(&[("a.md", "one two three"), ("b.md", "two")]).bytes().to_vec();
    let body = bytes.len() - layout::CHECK;
    for at in 0..body {
        let mut odd = bytes[..body].to_vec();
        odd[at] = odd[at].wrapping_add(0x81);
        let check = blake3::hash(&odd);
        odd.extend_from_slice(check.as_bytes());
        let Ok(segment) = Segment::open(odd) else { continue };
        for term in (0..segment.term_count()).map(TermId) {
            let _text = segment.text(term).len();
            assert!(segment.postings(term).count() <= bytes.len());
        }
        for doc in segment.docs() {
            let _about = (segment.file(doc).len(), segment.info(doc), segment.length(doc));
            assert!(segment.first_terms(doc).count() <= bytes.len());
        }
    }
}
