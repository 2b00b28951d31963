//! What agents would like to change (M-21): `inbox`, and accepting, editing or refusing it.

use dormouse_memory::{FileDiff, MessageSource, Proposal, ProposalId, ProposedFile};
use jiff::Timestamp;
use serde::Serialize;

use super::desk::{Desk, Shelf};
use super::editor::Copy;
use crate::args::{InboxArguments, InboxVerb};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::world::World;

const NOTHING: &str = "nothing waits";

/// A proposal, and in which store it waits.
struct Waiting<'a> {
    shelf: &'a Shelf,
    id: ProposalId,
    time: Timestamp,
    proposal: Proposal,
}

/// A proposal, for programs.
#[derive(Serialize)]
struct Line<'a> {
    id: u64,
    scope: Whose,
    time: String,
    author: String,
    reason: &'a str,
    sources: &'a [MessageSource],
    files: Vec<ProposedLine<'a>>,
}

#[derive(Serialize)]
struct ProposedLine<'a> {
    file: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

/// What became of one, for programs.
#[derive(Serialize)]
struct Decided {
    id: u64,
    scope: Whose,
    done: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) async fn run(arguments: &InboxArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let mut waiting = Vec::new();
    for shelf in &desk.shelves {
        for (id, time, proposal) in shelf.store.inbox()? {
            waiting.push(Waiting { shelf, id, time, proposal });
        }
    }
    match arguments.verb {
        None => list(&waiting, arguments, world),
        Some(verb) => decide(verb, &chosen(waiting, arguments)?, arguments.common.json, world),
    }
}

fn list(
    waiting: &[Waiting<'_>],
    arguments: &InboxArguments,
    world: &World,
) -> Result<Exit, Failure> {
    if arguments.common.json {
        print::json(&waiting.iter().map(line).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    for Waiting { shelf, id, time, proposal } in waiting {
        let when = time.strftime("%Y-%m-%d %H:%M");
        print::data_line(&format!(
            "proposal {id} ({}), {when} by {}: {}",
            shelf.whose, proposal.by.author, proposal.by.reason
        ));
        for file in &proposal.files {
            let bytes = |text: &Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
            let (before, after) = (bytes(&file.before), bytes(&file.after));
            let diff = FileDiff { file: file.file.clone(), before, after };
            print::file_diff(&diff, &world.environment);
        }
        print::data("\n");
    }
    print::note(match waiting.len() {
        0 => NOTHING,
        _ => {
            "`dormouse memory inbox accept ID`, `edit ID` or `refuse ID` decides; --all takes all of them"
        }
    });
    Ok(Exit::Done)
}

fn line<'a>(waiting: &'a Waiting<'a>) -> Line<'a> {
    let file = |file: &'a ProposedFile| ProposedLine {
        file: file.file.as_str(),
        before: file.before.as_deref(),
        after: file.after.as_deref(),
    };
    Line {
        id: waiting.id.0,
        scope: waiting.shelf.whose,
        time: waiting.time.to_string(),
        author: waiting.proposal.by.author.to_string(),
        reason: &waiting.proposal.by.reason,
        sources: &waiting.proposal.by.sources,
        files: waiting.proposal.files.iter().map(file).collect(),
    }
}

/// Those that are meant: all, or each by a number that only one store has.
fn chosen<'a>(
    waiting: Vec<Waiting<'a>>,
    arguments: &InboxArguments,
) -> Result<Vec<Waiting<'a>>, Failure> {
    for id in &arguments.ids {
        let fitting: Vec<String> = waiting
            .iter()
            .filter(|waiting| waiting.id.0 == *id)
            .map(|waiting| waiting.shelf.whose.to_string())
            .collect();
        match fitting.len() {
            0 => {
                return Err(Failure::failed(anyhow::anyhow!("no proposal {id} waits"))
                    .hint("`dormouse memory inbox` lists them"));
            }
            1 => {}
            _ => {
                let each = fitting.join(", ");
                return Err(Failure::usage(anyhow::anyhow!("several proposals {id} wait: {each}"))
                    .hint("--scope says which is meant"));
            }
        }
    }
    let is_meant = |waiting: &Waiting<'_>| arguments.all || arguments.ids.contains(&waiting.id.0);
    Ok(waiting.into_iter().filter(is_meant).collect())
}

/// One that can not be done does not keep the others from it.
fn decide(
    verb: InboxVerb,
    chosen: &[Waiting<'_>],
    json: bool,
    world: &World,
) -> Result<Exit, Failure> {
    let mut decided = Vec::new();
    for waiting in chosen {
        let error = decide_one(verb, waiting, world).err();
        if let (Some(failure), false) = (&error, json) {
            print::failure(failure);
        }
        decided.push(Decided {
            id: waiting.id.0,
            scope: waiting.shelf.whose,
            done: error.is_none(),
            error: error.map(|failure| failure.message()),
        });
    }
    if json {
        print::json(&decided)?;
    } else {
        let word = match verb {
            InboxVerb::Accept | InboxVerb::Edit => "accepted",
            InboxVerb::Refuse => "refused",
        };
        if decided.is_empty() {
            print::note(NOTHING);
        }
        for decided in decided.iter().filter(|decided| decided.done) {
            print::data_line(&format!("{word} proposal {} ({})", decided.id, decided.scope));
        }
    }
    Ok(if decided.iter().all(|decided| decided.done) { Exit::Done } else { Exit::Failed })
}

fn decide_one(verb: InboxVerb, waiting: &Waiting<'_>, world: &World) -> Result<(), Failure> {
    let store = &waiting.shelf.store;
    match verb {
        InboxVerb::Refuse => store.refuse(waiting.id)?,
        InboxVerb::Accept => drop(store.accept(waiting.id, None)?),
        InboxVerb::Edit => accept_edited(waiting, world)?,
    }
    Ok(())
}

/// Makes the proposal with the texts that the person makes of it. What they type is not lost by a refusal.
fn accept_edited(waiting: &Waiting<'_>, world: &World) -> Result<(), Failure> {
    let mut edited = waiting.proposal.clone();
    let mut copies = Vec::new();
    for file in &mut edited.files {
        if let Some(text) = &file.after {
            let copy = Copy::of(world, file.file.name(), text)?;
            file.after = Some(copy.edit(world)?);
            copies.push(copy);
        }
    }
    let accepted = waiting.shelf.store.accept(waiting.id, Some(&edited)).map_err(Failure::from);
    accepted.map_err(|failure| copies.iter().fold(failure, |failure, copy| copy.kept(failure)))?;
    copies.iter().try_for_each(Copy::remove)
}
