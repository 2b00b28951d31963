//! The index of what a compaction drops: as many as possible of the names that may be needed again, in
//! few characters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_conversation::Message;

use super::census::{IdentifierCensus, IdentifierUses};
use super::folders::Folders;
use super::held::HeldIdentifiers;
use super::prefixes::folded;
use super::scan::IdentifierKind;

/// The part of the room that error texts may take.
const ERRORS_PART: usize = 8;
/// Added to a name's age in messages: what is this old counts half of what is new.
const AGE_OFFSET: f64 = 30.0;
/// Added to a name's length: what stands around it.
const OVERHEAD: f64 = 4.0;
/// Headings and line ends, at most.
const HEADINGS: usize = 40;
/// No name takes less.
const LEAST_COST: usize = 4;
/// How many names that do not fit are passed over for shorter ones behind them.
const MOST_PASSED_OVER: usize = 200;
/// How often the room that folding leaves is filled.
const FILLINGS: usize = 4;

/// A name that waits for its place.
type Ranked<'a> = (IdentifierKind, &'a str);

/// The index of what was dropped: the names that `already_said` does not hold, by how often and how
/// lately they were used, grouped, at most `max_chars` characters. Empty if there are none.
pub fn identifier_index(dropped: &[Arc<Message>], already_said: &str, max_chars: usize) -> String {
    let census = IdentifierCensus::of(dropped);
    let mut held = HeldIdentifiers::in_text(already_said);
    let errors = choose_errors(&census, &held, max_chars / ERRORS_PART);
    let mut chosen = Chosen { errors, ..Chosen::default() };
    let mut waiting = ranked(&census);
    // What is folded takes less room than it was counted for: the rest is filled again.
    for _ in 0..FILLINGS {
        let room = max_chars.saturating_sub(chosen.render().chars().count() + HEADINGS);
        waiting = chosen.fill(waiting, &mut held, room);
    }
    chosen.render()
}

fn group(out: &mut String, heading: &str, text: &str) {
    if !text.is_empty() {
        out.push_str(&format!("{heading}:\n{text}\n"));
    }
}

/// The errors of the latest messages, one of each.
fn choose_errors<'a>(
    census: &'a IdentifierCensus,
    held: &HeldIdentifiers,
    room: usize,
) -> Vec<&'a str> {
    let mut errors: Vec<(&str, IdentifierUses)> = census.names(IdentifierKind::Error).collect();
    errors.sort_by_key(|(_, uses)| std::cmp::Reverse((uses.last, uses.messages)));
    let mut left = room;
    let mut chosen = Vec::new();
    for (error, _) in errors.into_iter().take(MOST_PASSED_OVER) {
        let cost = error.chars().count() + 3;
        if cost <= left && !held.text(error) {
            left -= cost;
            chosen.push(error);
        }
    }
    chosen
}

/// The names of the index.
#[derive(Default)]
struct Chosen<'a> {
    paths: Folders,
    names: BTreeSet<&'a str>,
    urls: Vec<&'a str>,
    hashes: Vec<&'a str>,
    errors: Vec<&'a str>,
}

impl<'a> Chosen<'a> {
    /// Takes names until the room is used up; gives those that are left.
    fn fill(
        &mut self,
        names: Vec<Ranked<'a>>,
        held: &mut HeldIdentifiers,
        room: usize,
    ) -> Vec<Ranked<'a>> {
        let mut left = room;
        let mut names = names.into_iter();
        let mut waiting = Vec::new();
        while left >= LEAST_COST
            && waiting.len() < MOST_PASSED_OVER
            && let Some((kind, name)) = names.next()
        {
            if held.name(kind, name) {
                continue;
            }
            let cost = self.cost(kind, name);
            if cost > left {
                waiting.push((kind, name));
                continue;
            }
            left -= cost;
            held.add(kind, name);
            self.add(kind, name);
        }
        waiting.extend(names);
        waiting
    }

    fn render(&self) -> String {
        let names: Vec<&str> = self.names.iter().copied().collect();
        let mut text = String::new();
        group(&mut text, "Paths", &self.paths.render());
        group(&mut text, "Names", &folded(&names));
        group(&mut text, "URLs", &self.urls.join(" "));
        group(&mut text, "Hashes", &self.hashes.join(" "));
        group(&mut text, "Errors", &self.errors.join("\n"));
        text
    }

    fn cost(&self, kind: IdentifierKind, name: &str) -> usize {
        if kind == IdentifierKind::Path { self.paths.cost(name) } else { name.chars().count() + 1 }
    }

    fn add(&mut self, kind: IdentifierKind, name: &'a str) {
        match kind {
            IdentifierKind::Path => self.paths.add(name),
            IdentifierKind::Identifier => {
                self.names.insert(name);
            }
            IdentifierKind::Url => self.urls.push(name),
            IdentifierKind::Hash => self.hashes.push(name),
            IdentifierKind::Number | IdentifierKind::Error => {}
        }
    }
}

/// All names, the likeliest to be needed again first.
fn ranked(census: &IdentifierCensus) -> Vec<Ranked<'_>> {
    let mut names: Vec<(f64, IdentifierKind, &str)> =
        [IdentifierKind::Identifier, IdentifierKind::Url, IdentifierKind::Hash]
            .into_iter()
            .flat_map(|kind| census.names(kind).map(move |(name, uses)| (kind, name, uses)))
            .chain(
                whole_paths(census)
                    .into_iter()
                    .map(|(name, uses)| (IdentifierKind::Path, name, uses)),
            )
            .map(|(kind, name, uses)| (score(name, uses, census.messages()), kind, name))
            .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.cmp(b.2)));
    names.into_iter().map(|(_, kind, name)| (kind, name)).collect()
}

/// The paths, those that are the end of a longer one counted with it: the longer one says both.
fn whole_paths(census: &IdentifierCensus) -> BTreeMap<&str, IdentifierUses> {
    let mut longer: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, _) in census.names(IdentifierKind::Path) {
        for end in ends(path).filter(|end| census.knows(IdentifierKind::Path, end)) {
            let longest = longer.entry(end).or_insert(path);
            if path.len() > longest.len() {
                *longest = path;
            }
        }
    }
    let mut paths: BTreeMap<&str, IdentifierUses> = BTreeMap::new();
    for (path, uses) in census.names(IdentifierKind::Path) {
        let whole = longer.get(path).copied().unwrap_or(path);
        paths.entry(whole).and_modify(|known| *known = known.with(uses)).or_insert(uses);
    }
    paths
}

/// What is left of a path without its first parts, ever less of it.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..))
}

/// How likely a name is needed again, for its room: how many messages use it (those of the model and the
/// user twice, those of tools once), how lately, how long it is. Of a path only the file name counts,
/// for its folder mostly stands there anyway. The weights were
/// chosen on a few real sessions of one code base: `bench fidelity` says how far to trust them.
#[expect(clippy::cast_precision_loss, reason = "counts of messages are small")]
fn score(name: &str, uses: IdentifierUses, messages: usize) -> f64 {
    let age = messages.saturating_sub(uses.last) as f64;
    let own = name.rsplit('/').next().unwrap_or(name);
    let used = f64::from(uses.messages) + f64::from(uses.spoken);
    used / (age + AGE_OFFSET) / (own.len() as f64 + OVERHEAD).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing::{assistant, results, user};
    use proptest::prelude::*;

    fn work(files: usize) -> Vec<Arc<Message>> {
        let mut messages = vec![user("Mend the parser.")];
        for number in 0..files {
            let path = format!("/home/p/project/src/part_{}/file_{number}.rs", number % 7);
            messages.push(assistant(&[&format!("I read {path}.")], &[&format!("c{number}")]));
            messages.push(results(&[(
                &format!("c{number}"),
                &format!("fn helper_{number}() {{}}\nerror[E{number:04}]: no"),
            )]));
        }
        messages
    }

    #[test]
    fn what_the_summary_says_is_left_out() {
        let messages = [user("Look at src/main.rs and call read_file and https://a.example/x")];
        let text = identifier_index(&messages, "In src/main.rs nothing is wrong.", 3_000);
        assert_eq!(text, "Names:\nread_file\nURLs:\nhttps://a.example/x\n");
        assert_eq!(identifier_index(&messages, &format!("src/main.rs {text}"), 3_000), "");
    }

    #[test]
    fn the_latest_and_most_used_fit_first() {
        let messages = work(400);
        let text = identifier_index(&messages, "", 600);
        assert!(text.contains("file_399.rs") && !text.contains("file_10.rs"), "{text}");
        assert!(text.contains("error[E0399]: no") && !text.contains("E0001"), "{text}");
        assert_eq!(text.matches("/home/p/project/src/").count(), 1, "{text}");
    }

    #[test]
    fn short_paths_go_with_long_ones() {
        let messages = [user("see /p/src/a.rs, src/a.rs and a.rs")];
        assert_eq!(identifier_index(&messages, "", 3_000), "Paths:\n/p/src/a.rs\n");
    }

    proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
            #[test]
            fn never_longer_than_allowed(files in 0_usize..60, most in 0_usize..4_000) {
                let text = identifier_index(&work(files), "", most);
                prop_assert!(text.chars().count() <= most, "{} of {most}: {text}", text.chars().count());
            }
        }
}
