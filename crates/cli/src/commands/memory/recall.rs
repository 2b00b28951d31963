//! `dormouse recall` and `dormouse memory search`: the same ranking as in a session.
//!
//! A search first scans all files. `recall` uses the index as it is, says how old it is, and scans the files
//! after printing the results, so that the user does not wait for the scan.

use dormouse_base::Settings;
use dormouse_memory::recall::{
    MemoryHit, MemoryQuery, MemoryRanking, QuarantineFilter, RESCAN_INTERVAL, RecallAddition,
    recall_additions,
};
use dormouse_memory::{MAX_SHOWN_BYTES, StoreScope};
use dormouse_search::{FusedRank, MatchKind, VectorUse};
use dormouse_tui::width;
use dormouse_web::evidence_words;
use jiff::SignedDuration;
use serde::Serialize;

use super::list::{age_words, table};
use super::stores::{MemorySummaryJson, ScopedMemory, SelectedStores};
use crate::args::{MemoryScopeArgument, RecallArguments, SearchArguments};
use crate::commands::sessions::format_age;
use crate::message_catalog::msg;
use crate::wiring::embedder;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;

/// Up to this number of files, every outdated index is updated.
const QUICK_SCAN_FILES: u32 = 5_000;
/// With more files, only an index older than this is updated.
const LARGE_SCAN_INTERVAL: SignedDuration = SignedDuration::from_mins(1);
/// Only the beginning of a long memory is added.
const LONGEST_SHOWN: u64 = MAX_SHOWN_BYTES as u64;
/// Columns of a query that a message about it repeats.
const SHOWN_QUERY: usize = 80;

/// A result in JSON output.
#[derive(Serialize)]
struct ScoredMemoryJson {
    #[serde(flatten)]
    row: MemorySummaryJson,
    score: f64,
    /// Share of the best matching sentence that it covers.
    coverage: f64,
    /// The probability that it helps.
    confidence: f64,
    /// Whether it would be added to a conversation automatically.
    sure: bool,
    /// Whether it would be named in a conversation, where the list of memories is not in the context.
    likely: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Vec<MatchJson>>,
    /// Its ranks by words and by embeddings, if embeddings were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<RanksJson>,
}

#[derive(Serialize)]
struct RanksJson {
    word_rank: Option<usize>,
    word_score: f64,
    vector_rank: Option<usize>,
    similarity: f64,
}

impl From<FusedRank> for RanksJson {
    fn from(nearness: FusedRank) -> Self {
        let FusedRank { word_rank, word_score, vector_rank, similarity } = nearness;
        Self { word_rank, word_score, vector_rank, similarity }
    }
}

#[derive(Serialize)]
struct MatchJson {
    word: String,
    term: String,
    fit: &'static str,
    gain: f64,
}

struct SearchRequest<'a> {
    text: &'a str,
    limit: usize,
    quarantined: QuarantineFilter,
    json: bool,
    explain: bool,
}

pub(crate) async fn search(arguments: &SearchArguments, world: &World) -> Result<Exit, Failure> {
    let stores = open_ranked(world, arguments.common.scope.as_ref()).await?;
    let recall = stores.reachable.recall();
    recall.rescan(stores.now)?;
    let request = SearchRequest {
        text: &arguments.query.join(" "),
        limit: arguments.limit,
        quarantined: QuarantineFilter::Include,
        json: arguments.common.json,
        explain: false,
    };
    run_search(&request, &stores, world)?;
    Ok(Exit::Done)
}

pub(crate) async fn run(arguments: &RecallArguments, world: &World) -> Result<Exit, Failure> {
    let stores = open_ranked(world, arguments.common.scope.as_ref()).await?;
    let recall = stores.reachable.recall();
    if arguments.fresh {
        recall.rescan(stores.now)?;
    }
    let request = SearchRequest {
        text: &arguments.query.join(" "),
        limit: arguments.limit,
        quarantined: QuarantineFilter::Exclude,
        json: arguments.common.json,
        explain: arguments.explain,
    };
    let ranking = run_search(&request, &stores, world)?;
    if ranking.age > RESCAN_INTERVAL {
        print::note(&msg!("recall-index-age", age = format_age(ranking.age.unsigned_abs())));
        if ranking.searched <= QUICK_SCAN_FILES || ranking.age > LARGE_SCAN_INTERVAL {
            recall.rescan(stores.now)?;
        }
    }
    Ok(Exit::Done)
}

/// Opens the stores for a ranking by words, and by embeddings if they are configured.
async fn open_ranked(
    world: &World,
    scope: Option<&MemoryScopeArgument>,
) -> Result<SelectedStores, Failure> {
    let embedder = |settings: &Settings| Ok(embedder::embedder_or_note(settings, world));
    SelectedStores::open_with(world, scope, embedder).await
}

fn run_search(
    request: &SearchRequest<'_>,
    stores: &SelectedStores,
    world: &World,
) -> Result<MemoryRanking, Failure> {
    if request.text.trim().is_empty() {
        return Err(
            Failure::usage(anyhow::anyhow!(msg!("search-empty"))).hint(msg!("memory-unknown-hint"))
        );
    }
    let query = MemoryQuery {
        quarantined: request.quarantined,
        ..MemoryQuery::new(request.text, request.limit, stores.now)
    };
    let ranking = stores.reachable.recall().search(&query)?;
    let hits: Vec<(&MemoryHit, ScopedMemory<'_>)> =
        ranking.hits.iter().filter_map(|hit| Some((hit, stores.memory_of(hit)?))).collect();
    if request.json {
        let rows =
            hits.iter().zip(additions(request, &hits, stores)).map(|((hit, found), addition)| {
                ScoredMemoryJson {
                    row: found.summary(stores.now),
                    score: hit.score,
                    coverage: hit.evidence.coverage,
                    confidence: hit.confidence,
                    sure: addition == RecallAddition::Whole,
                    likely: addition == RecallAddition::Line,
                    why: request.explain.then(|| matches_json(hit)),
                    places: hit.fused_rank.map(RanksJson::from),
                }
            });
        print::json(&rows.collect::<Vec<_>>())?;
    } else if request.explain {
        explain(request, &hits, stores);
    } else {
        let found: Vec<ScopedMemory<'_>> = hits.into_iter().map(|(_, found)| found).collect();
        table(&found, stores).print(&world.environment);
    }
    print_notes(request, &ranking);
    Ok(ranking)
}

fn print_notes(request: &SearchRequest<'_>, ranking: &MemoryRanking) {
    if let VectorUse::Unavailable(why) = &ranking.vectors {
        print::note(&msg!("recall-without-embeddings", reason = why.clone()));
    }
    match (ranking.hits.len(), ranking.omitted) {
        (0, 0) => {
            let query = width::fitted(request.text, SHOWN_QUERY);
            print::note(&msg!("recall-no-match", query = query));
        }
        (_, 0) => {}
        (shown, more) => {
            let all = shown + more;
            print::note(&msg!("list-truncated", count = more, all = all));
        }
    }
}

fn matches_json(hit: &MemoryHit) -> Vec<MatchJson> {
    let why = hit.matches.iter().map(|why| MatchJson {
        word: why.word.clone(),
        term: why.term.clone(),
        fit: why.kind.as_str(),
        gain: why.gain,
    });
    why.collect()
}

/// How each result would get into a conversation: a session does not read the repository's directory.
fn additions(
    request: &SearchRequest<'_>,
    hits: &[(&MemoryHit, ScopedMemory<'_>)],
    stores: &SelectedStores,
) -> Vec<RecallAddition> {
    let is_read = |hit: &MemoryHit| {
        stores.list.get(hit.store_index).is_some_and(|scoped| scoped.scope != StoreScope::Repo)
    };
    recall_additions(request.text, hits.iter().map(|(hit, _)| *hit), is_read)
}

/// Prints each memory with the reasons for its rank.
fn explain(
    request: &SearchRequest<'_>,
    hits: &[(&MemoryHit, ScopedMemory<'_>)],
    stores: &SelectedStores,
) {
    for ((hit, found), addition) in hits.iter().zip(additions(request, hits, stores)) {
        let verdict = match addition {
            RecallAddition::Whole => msg!("recall-explain-sure"),
            RecallAddition::Line => msg!("recall-explain-likely"),
            RecallAddition::IfSelected => msg!("recall-explain-not-sure"),
            RecallAddition::Never => msg!("recall-explain-repo"),
            RecallAddition::NotSearched => msg!("recall-explain-not-searched"),
        };
        print::data_line(&msg!(
            "recall-explain",
            file = found.memory.file.to_string(),
            scope = found.scoped.scope.to_string(),
            age = age_words(found.age(stores.now)),
            score = format!("{:.2}", hit.score),
            confidence = format!("{:.0}", hit.confidence * 100.0),
            tokens = found.memory.size.min(LONGEST_SHOWN).div_ceil(4),
            verdict = verdict
        ));
        print::data_line(&format!("  {}", confidence_line(hit)));
        for line in hit.fused_rank.iter().map(ranks_line) {
            print::data_line(&format!("  {line}"));
        }
        for why in &hit.matches {
            let (word, term) = (why.word.as_str(), why.term.as_str());
            let reason = match why.kind {
                MatchKind::Same => msg!("recall-explain-same", word = word, term = term),
                MatchKind::Family => msg!("recall-explain-family", word = word, term = term),
                MatchKind::Related => msg!("recall-explain-related", word = word, term = term),
                MatchKind::Typo => msg!("recall-explain-typo", word = word, term = term),
                MatchKind::Work => msg!("recall-explain-work", word = word),
                MatchKind::File => msg!("recall-explain-file", file = word),
                MatchKind::Company => msg!("recall-explain-company", term = term),
            };
            print::data_line(&format!("  {:+.2}  {reason}", why.gain));
        }
        if let Some(stale) = hit.stale {
            let reason = if stale.is_broken() {
                msg!("recall-explain-file-missing")
            } else {
                msg!("recall-explain-file-changed")
            };
            print::data_line(&format!("  {reason}"));
        }
    }
}

/// What the confidence is made of, in log odds.
fn confidence_line(hit: &MemoryHit) -> String {
    let parts = hit.calibration.contributions(&hit.evidence);
    let shown =
        |(name, part): (&str, f64)| format!("{} ({part:+.2})", evidence_words(name, part > 0.0));
    let bias = format!("{:+.2}", hit.calibration.bias);
    let parts: Vec<String> = parts.into_iter().map(shown).collect();
    msg!("recall-explain-confidence", base = bias, parts = parts.join(", "))
}

/// The ranks by words and by embeddings.
fn ranks_line(rank: &FusedRank) -> String {
    let shown = |rank: Option<usize>| match rank {
        Some(rank) => rank.to_string(),
        None => msg!("recall-explain-no-rank"),
    };
    msg!(
        "recall-explain-ranks",
        words = shown(rank.word_rank),
        score = format!("{:.2}", rank.word_score),
        vectors = shown(rank.vector_rank),
        similarity = format!("{:.2}", rank.similarity)
    )
}
