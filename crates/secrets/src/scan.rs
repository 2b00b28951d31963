//! The scanner: keywords first, then the pattern of each keyword's rule.

use std::fmt;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use crate::hidden::{Interruption, JoinedText};
use crate::rule::{SearchExtent, SecretRule};
use crate::{rules, value};

/// Longest block that a multi-line secret is searched in, in bytes.
const LONGEST_BLOCK: usize = 32 * 1024;

/// Characters of a keyword that is taken for the prefix of a key; shorter ones occur in other words.
const LEAST_PREFIX: usize = 6;

/// A secret in a text: the rule that matched and its position. Never holds the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFinding {
    /// Name of the rule.
    pub rule: &'static str,
    /// Description of the rule, for messages.
    pub what: &'static str,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Byte range in the text, on character boundaries.
    pub span: Range<usize>,
}

impl fmt::Display for SecretFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, what, line, column, .. } = self;
        write!(f, "line {line}, column {column}: {what} ({rule})")
    }
}

/// Name and description of every rule, in table order.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    rules::all().map(|rule| (rule.name, rule.what))
}

/// Finds every secret in a text, in text order. Where two rules match the same bytes, the more specific one names it.
pub fn scan(text: &str) -> Vec<SecretFinding> {
    let mut hits = merge(hits_in(text));
    for interruption in [Interruption::Invisible, Interruption::LineEnd] {
        let mut interrupted = interrupted_hits(text, interruption);
        // What is whole already does not go on.
        interrupted.retain(|hit| !overlaps(&hits, &hit.span));
        hits.append(&mut interrupted);
        hits = merge(hits);
    }
    locate(text, &hits)
}

/// Whether a range overlaps one of these, which are apart and in order.
fn overlaps(hits: &[Hit], span: &Range<usize>) -> bool {
    let next = hits.partition_point(|hit| hit.span.end <= span.start);
    hits.get(next).is_some_and(|hit| hit.span.start < span.end)
}

fn hits_in(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, regions) in SCANNER.regions(text).into_iter().enumerate() {
        let Some(compiled) = SCANNER.rules.get(index) else { continue };
        for region in regions {
            compiled.search(text, region, |span| hits.push(Hit { span, rule: index }));
        }
    }
    hits
}

/// The secrets that are found only without what interrupts them. Over the end of a line only those whose issuer gives them
/// a prefix: anything may follow other words.
fn interrupted_hits(text: &str, interruption: Interruption) -> Vec<Hit> {
    let Some(joined) = JoinedText::without(text, interruption) else { return Vec::new() };
    let has_prefix = |hit: &Hit| {
        let value = joined.text.get(hit.span.clone()).unwrap_or_default();
        let keywords =
            SCANNER.rules.get(hit.rule).map_or(&[][..], |compiled| compiled.rule.keywords);
        let begins = |word: &&str| {
            value.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
        };
        keywords.iter().any(begins)
    };
    let hits = hits_in(&joined.text).into_iter();
    let wanted = hits.filter(|hit| interruption == Interruption::Invisible || has_prefix(hit));
    wanted.filter_map(|hit| Some(Hit { span: joined.original(&hit.span)?, ..hit })).collect()
}

/// Replaces every secret by the name of its rule; returns the text and the findings.
pub fn redact(text: &str) -> (String, Vec<SecretFinding>) {
    let findings = scan(text);
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for finding in &findings {
        clean.push_str(text.get(done..finding.span.start).unwrap_or_default());
        clean.push_str(&format!("[secret: {}]", finding.rule));
        done = finding.span.end;
    }
    clean.push_str(text.get(done..).unwrap_or_default());
    (clean, findings)
}

/// A byte range that matched the rule with this index in the table.
struct Hit {
    span: Range<usize>,
    rule: usize,
}

/// Merges overlapping hits under the rule that comes first in the table.
fn merge(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.span.start, hit.rule));
    let mut kept: Vec<Hit> = Vec::new();
    for hit in hits {
        match kept.last_mut() {
            Some(last) if hit.span.start < last.span.end => {
                last.span.end = last.span.end.max(hit.span.end);
                last.rule = last.rule.min(hit.rule);
            }
            _ => kept.push(hit),
        }
    }
    kept
}

/// Adds lines and columns, in one pass over the text.
fn locate(text: &str, hits: &[Hit]) -> Vec<SecretFinding> {
    let mut line = 1;
    let mut column = 1;
    let mut seen = 0;
    let mut findings = Vec::with_capacity(hits.len());
    for hit in hits {
        let before = text.get(seen..hit.span.start).unwrap_or_default();
        column = match before.rsplit_once('\n') {
            Some((_, last)) => last.chars().count() + 1,
            None => column + before.chars().count(),
        };
        line += before.matches('\n').count();
        seen = hit.span.start;
        let Some(Compiled { rule, .. }) = SCANNER.rules.get(hit.rule) else { continue };
        findings.push(SecretFinding {
            rule: rule.name,
            what: rule.what,
            line,
            column,
            span: hit.span.clone(),
        });
    }
    findings
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

/// The compiled table: one automaton for all keywords, patterns compiled on first use.
struct Scanner {
    /// A DFA: the table is small, and texts are scanned on every save. `None` only if the table is invalid, which a
    /// test would show.
    keywords: Option<AhoCorasick>,
    /// The rule of each keyword.
    owners: Vec<usize>,
    rules: Vec<Compiled>,
}

impl Scanner {
    fn new() -> Self {
        let rules: Vec<Compiled> =
            rules::all().map(|rule| Compiled { rule, pattern: OnceLock::new() }).collect();
        let mut owners = Vec::new();
        let mut words: Vec<&str> = Vec::new();
        for (index, compiled) in rules.iter().enumerate() {
            words.extend(compiled.rule.keywords);
            owners.resize(words.len(), index);
        }
        let keywords = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(words)
            .ok();
        Self { keywords, owners, rules }
    }

    /// For every rule, the disjoint regions of the text to try its pattern on, in text order.
    fn regions(&self, text: &str) -> Vec<Vec<Range<usize>>> {
        let mut regions: Vec<Vec<Range<usize>>> = vec![Vec::new(); self.rules.len()];
        let mut line = 0..0;
        for hit in self.keywords.iter().flat_map(|keywords| keywords.find_overlapping_iter(text)) {
            let owner = self.owners.get(hit.pattern().as_usize()).copied().unwrap_or_default();
            let (Some(rule), Some(regions)) = (self.rules.get(owner), regions.get_mut(owner))
            else {
                continue;
            };
            if regions.last().is_some_and(|last| hit.start() < last.end) {
                continue;
            }
            if !line.contains(&hit.start()) {
                line = line_around(text, hit.start());
            }
            let after = regions.last().map_or(0, |last| last.end);
            regions.push(line.start.max(after)..rule.region_end(text, &line));
        }
        regions
    }
}

/// The byte range of the line around a position, without its line break.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    start..at + after.find('\n').unwrap_or(after.len())
}

/// A rule with its compiled pattern.
struct Compiled {
    rule: &'static SecretRule,
    /// `None` only if it does not compile, which a test would show.
    pattern: OnceLock<Option<Regex>>,
}

impl Compiled {
    /// Calls `found` with the byte range of every secret in a region of the text.
    fn search(&self, text: &str, region: Range<usize>, mut found: impl FnMut(Range<usize>)) {
        let pattern = self.pattern.get_or_init(|| Regex::new(self.rule.pattern).ok());
        let (Some(pattern), Some(part)) = (pattern, text.get(region.clone())) else { return };
        for captures in pattern.captures_iter(part) {
            let Some(secret) = captures.iter().flatten().nth(1).or_else(|| captures.get(0)) else {
                continue;
            };
            if self.is_secret(secret.as_str()) {
                found(region.start + secret.start()..region.start + secret.end());
            }
        }
    }

    fn is_secret(&self, value: &str) -> bool {
        !value::is_placeholder(value)
            && (self.has_prefix(value) || !value::has_sequence(value))
            && self.rule.entropy.is_none_or(|least| value::entropy(value) >= least)
            && self.rule.check.is_none_or(|check| check(value))
    }

    /// Whether a value begins with the prefix that its issuer gives to every key. Such a value is refused even if it
    /// looks invented: alphabets and rows of digits are common elsewhere, but not after such a prefix.
    fn has_prefix(&self, value: &str) -> bool {
        let is_prefix = |keyword: &&str| {
            keyword.len() >= LEAST_PREFIX
                && value.get(..keyword.len()).is_some_and(|head| head.eq_ignore_ascii_case(keyword))
        };
        self.rule.keywords.iter().any(is_prefix)
    }

    /// End of the region to search for a keyword on this line.
    fn region_end(&self, text: &str, line: &Range<usize>) -> usize {
        match self.rule.extent {
            SearchExtent::Line => line.end,
            SearchExtent::Block => text.floor_char_boundary(line.end.saturating_add(LONGEST_BLOCK)),
        }
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
