//! Whether a turn touched the subject of a memory: its files, its code words, the words of its name and rule.

use std::collections::BTreeSet;

use super::turn::{MemoryInContext, TurnActivity};
use dormouse_search::Tokenizer;

/// Number of common plain words from name, description and first sentence that count as the same subject.
const PLAIN_WORDS: usize = 2;
/// Shorter words occur in every text.
const SHORTEST: usize = 3;

/// The subject of a memory.
pub(super) struct Terms {
    /// Paths of anchored files.
    files: Vec<String>,
    /// Sets of words that identify one thing when all of them occur: identifiers, flags, paths, texts in backticks.
    code: Vec<BTreeSet<String>>,
    /// Stems of the other words of its name, its description and its first sentence.
    plain: BTreeSet<String>,
}

impl Terms {
    pub(super) fn of(memory: &MemoryInContext) -> Self {
        let head = format!("{}\n{}", memory.name, memory.description);
        let files = memory.anchors.iter().map(|anchor| anchor.path.to_lowercase()).collect();
        let symbols = memory.anchors.iter().filter_map(|anchor| anchor.symbol.as_deref());
        let alone = |word: &str| BTreeSet::from([word.to_lowercase()]);
        let mut code: Vec<BTreeSet<String>> = symbols.map(alone).collect();
        for text in [head.as_str(), memory.body.as_str()] {
            code.extend(quoted(text));
            let prose: Vec<&str> = text.split('`').step_by(2).collect();
            let words = prose.iter().flat_map(|prose| tokens(prose));
            code.extend(words.filter(|word| is_code(word)).map(alone));
        }
        code.retain(|words| words.iter().any(|word| word.chars().count() >= SHORTEST));
        // The first sentence is the rule; the reasons follow.
        let rule = memory.body.split(['\n', '。']).next().unwrap_or_default();
        let rule = rule.split(". ").next().unwrap_or_default();
        Self { files, code, plain: stems([head.as_str(), rule]) }
    }
}

/// Paths and words of a turn's tool calls.
pub(super) struct Touched {
    paths: Vec<String>,
    tokens: BTreeSet<String>,
    stems: BTreeSet<String>,
}

impl Touched {
    pub(super) fn by(turn: &TurnActivity) -> Self {
        let texts = || turn.paths.iter().chain(&turn.commands).chain(&turn.words);
        let mut all = BTreeSet::new();
        for token in texts().flat_map(|text| tokens(text)) {
            let token = token.to_lowercase();
            let parts = token.split(['/', '=', ':', '.']).map(str::to_owned);
            all.extend(parts.chain(token.rsplit('/').next().map(str::to_owned)));
            all.insert(token);
        }
        let paths = turn.paths.iter().map(|path| path.to_lowercase()).collect();
        Self { paths, tokens: all, stems: stems(texts().map(String::as_str)) }
    }

    pub(super) fn has(&self, terms: &Terms) -> bool {
        let is_file = |file: &String| {
            let ends = |path: &String| {
                path.strip_suffix(file.as_str())
                    .is_some_and(|head| head.is_empty() || head.ends_with('/'))
            };
            self.tokens.contains(file) || self.paths.iter().any(ends)
        };
        terms.files.iter().any(is_file)
            || terms.code.iter().any(|words| words.is_subset(&self.tokens))
            || terms.plain.intersection(&self.stems).count() >= PLAIN_WORDS
    }
}

/// Words as they are written in code.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=');
    text.split(move |c: char| !inside(c))
        .map(|word| word.trim_matches([':', '=', '.']).trim_end_matches(['-', '/']))
        .filter(|word| !word.is_empty())
}

/// Whether a word looks like one from code.
fn is_code(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let digit = name.contains(|c: char| c.is_ascii_digit());
    let letter = name.contains(char::is_alphabetic);
    let camel =
        name.chars().zip(name.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let sign = word.starts_with('-') || name.contains(['_', '/', '.', ':', '=']);
    camel || (letter && (sign || digit))
}

/// The words of each text in backticks: a command of several words is matched as a whole.
fn quoted(text: &str) -> Vec<BTreeSet<String>> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.map(|span| tokens(span).map(str::to_lowercase).collect()).collect()
}

fn stems<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let words = Tokenizer::new();
    let mut stems = BTreeSet::new();
    for text in texts {
        words.each_term(text, |term| {
            // In scripts without spaces a single character is too common, a pair is not.
            let length = term.chars().count();
            let pair = length == 2 && term.chars().all(dormouse_search::is_unspaced);
            if length > SHORTEST || pair {
                stems.insert(term.to_owned());
            }
        });
    }
    stems
}
