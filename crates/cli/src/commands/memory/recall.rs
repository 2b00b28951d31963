//! `dormouse recall` and `dormouse memory search`: finding by words, with the ranking that a session uses.
//!
//! A search looks at all files first. `recall` answers from the index as it is, says how old that is, and looks
//! at the files when the answer is out: a person's question does not wait for a walk.

use dormouse_memory::recall::{
    MAX_CONFIDENT, MemoryHit, MemoryQuery, MemoryRanking, MemorySearch, QuarantineFilter,
    RESCAN_INTERVAL,
};
use dormouse_search::{FusedRank, MatchKind, VectorUse};
use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_base::Dir;
use jiff::SignedDuration;
use serde::Serialize;

use super::desk::{Desk, Found, Row};
use super::look::table;
use crate::args::{RecallArguments, SearchArguments};
use crate::wiring::embedder;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;

/// So many files are looked at in no time; of more, the index is left as it is for a while.
const FEW: u32 = 5_000;
const A_WHILE: SignedDuration = SignedDuration::from_mins(1);

/// A memory that was found, for programs.
#[derive(Serialize)]
struct Scored {
    #[serde(flatten)]
    row: Row,
    score: f64,
    coverage: f64,
    /// Whether it would be put into a conversation without asking.
    sure: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Vec<Why>>,
    /// Its places by words and by vectors, where vectors took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Places>,
}

#[derive(Serialize)]
struct Places {
    word_rank: Option<usize>,
    word_score: f64,
    vector_rank: Option<usize>,
    similarity: f64,
}

impl From<FusedRank> for Places {
    fn from(nearness: FusedRank) -> Self {
        let FusedRank { word_rank, word_score, vector_rank, similarity } = nearness;
        Self { word_rank, word_score, vector_rank, similarity }
    }
}

#[derive(Serialize)]
struct Why {
    word: String,
    term: String,
    fit: &'static str,
    gain: f64,
}

/// What is asked, and how.
struct Asking<'a> {
    text: &'a str,
    limit: usize,
    quarantined: QuarantineFilter,
    json: bool,
    explain: bool,
}

pub(crate) async fn search(arguments: &SearchArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let recall = open(&desk, world)?;
    recall.rescan(desk.now)?;
    let asking = Asking {
        text: &arguments.query,
        limit: arguments.limit,
        quarantined: QuarantineFilter::Include,
        json: arguments.common.json,
        explain: false,
    };
    answer(&asking, &recall, &desk, world)?;
    Ok(Exit::Done)
}

pub(crate) async fn run(arguments: &RecallArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let recall = open(&desk, world)?;
    if arguments.fresh {
        recall.rescan(desk.now)?;
    }
    let asking = Asking {
        text: &arguments.query,
        limit: arguments.limit,
        quarantined: QuarantineFilter::Exclude,
        json: arguments.common.json,
        explain: arguments.explain,
    };
    let ranking = answer(&asking, &recall, &desk, world)?;
    if ranking.age > RESCAN_INTERVAL {
        print::note(&format!(
            "note: changes made by other programs were last looked for {} ago; --fresh looks first",
            in_words(ranking.age)
        ));
        if ranking.searched <= FEW || ranking.age > A_WHILE {
            recall.rescan(desk.now)?;
        }
    }
    Ok(Exit::Done)
}

/// MemoryRanking by words, and by vectors where there are any.
fn open(desk: &Desk, world: &World) -> Result<MemorySearch, Failure> {
    let recall = words(desk, world)?;
    Ok(match embedder::welcome(&desk.settings, world) {
        Some(embedder) => recall.with_embedder(embedder),
        None => recall,
    })
}

pub(super) fn words(desk: &Desk, world: &World) -> Result<MemorySearch, Failure> {
    let stores = desk.shelves.iter().map(|shelf| Arc::clone(&shelf.store)).collect();
    let recall = MemorySearch::open(stores, Some(&world.home()?.join("cache")));
    Ok(recall.with_project(Dir::open(&desk.project.checkout)?))
}

fn answer(
    asking: &Asking<'_>,
    recall: &MemorySearch,
    desk: &Desk,
    world: &World,
) -> Result<MemoryRanking, Failure> {
    if asking.text.trim().is_empty() {
        return Err(Failure::usage(anyhow::anyhow!("there is no word to search for"))
            .hint("`dormouse memory list` lists all memories"));
    }
    let query = MemoryQuery {
        text: asking.text,
        limit: asking.limit,
        store_index: None,
        exclude: &BTreeSet::new(),
        quarantined: asking.quarantined,
        now: desk.now,
    };
    let ranking = recall.search(&query)?;
    let hits: Vec<(&MemoryHit, Found<'_>)> = ranking
        .hits
        .iter()
        .filter_map(|hit| {
            Some((hit, Found::of(desk.shelves.get(hit.store_index)?, hit.memory.clone())))
        })
        .collect();
    if asking.json {
        let rows = hits.iter().map(|(hit, found)| Scored {
            row: found.row(desk.now),
            score: hit.score,
            coverage: hit.coverage,
            sure: hit.is_confident,
            why: asking.explain.then(|| whys(hit)),
            places: hit.fused_rank.map(Places::from),
        });
        print::json(&rows.collect::<Vec<_>>())?;
    } else if asking.explain {
        explain(&hits, desk);
    } else {
        let found: Vec<Found<'_>> = hits.into_iter().map(|(_, found)| found).collect();
        table(&found, desk).print(&world.environment);
    }
    say_what_is_left(asking, &ranking);
    Ok(ranking)
}

fn say_what_is_left(asking: &Asking<'_>, ranking: &MemoryRanking) {
    if let VectorUse::Unavailable(why) = &ranking.vectors {
        print::note(&format!("note: ranked by words alone: {why}"));
    }
    match (ranking.hits.len(), ranking.omitted) {
        (0, 0) => print::note(&format!("no memory has the words `{}`", asking.text)),
        (_, 0) => {}
        (shown, more) => {
            let all = shown + more;
            print::note(&format!("note: {more} more were found; --limit {all} lists them"));
        }
    }
}

fn whys(hit: &MemoryHit) -> Vec<Why> {
    let why = hit.matches.iter().map(|why| Why {
        word: why.word.clone(),
        term: why.term.clone(),
        fit: why.kind.as_str(),
        gain: why.gain,
    });
    why.collect()
}

/// The receipt of a recall, for a person: each memory with its reasons.
fn explain(hits: &[(&MemoryHit, Found<'_>)], desk: &Desk) {
    for (place, (hit, found)) in hits.iter().enumerate() {
        let verdict = if hit.is_confident && place < MAX_CONFIDENT {
            "sure: put in unasked"
        } else {
            "not sure: only when chosen"
        };
        print::data_line(&format!(
            "{} ({}, {}): score {:.2}, covers {:.0} % of the question, about {} tokens; {verdict}",
            found.memory.file,
            found.shelf.whose,
            found.age(desk.now),
            hit.score,
            hit.coverage * 100.0,
            found.memory.size.div_ceil(4),
        ));
        for line in hit.fused_rank.iter().map(places) {
            print::data_line(&line);
        }
        for why in &hit.matches {
            let how = match why.kind {
                MatchKind::Same => format!("{} as `{}`", why.word, why.term),
                MatchKind::Family => format!("{} as `{}`, of its family", why.word, why.term),
                MatchKind::Related => format!("{} as `{}`, a related word", why.word, why.term),
                MatchKind::Typo => format!("{} as `{}`, one letter off", why.word, why.term),
                MatchKind::Company => format!("`{}`, which the best ones have", why.term),
            };
            print::data_line(&format!("  {:+.2}  {how}", why.gain));
        }
        if let Some(stale) = hit.stale {
            let what = if stale.is_broken() { "is gone" } else { "has changed since" };
            print::data_line(&format!("  less, because a file that it names {what}"));
        }
    }
}

/// Where a memory stands in each of the two orders.
fn places(nearness: &FusedRank) -> String {
    let place = |rank: Option<usize>| rank.map_or("none".to_owned(), |rank| format!("{rank}"));
    format!(
        "  place by words: {} (score {:.2}); by vectors: {} ({:.2} near)",
        place(nearness.word_rank),
        nearness.word_score,
        place(nearness.vector_rank),
        nearness.similarity
    )
}

fn in_words(age: SignedDuration) -> String {
    match age.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
