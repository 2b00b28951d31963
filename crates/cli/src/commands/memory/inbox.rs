//! `dormouse memory inbox`: proposed changes (M-21), which the user accepts, edits or refuses.

use dormouse_memory::{FileDiff, MessageSource, Proposal, ProposalId, ProposedFile, StoreScope};
use jiff::Timestamp;
use serde::Serialize;

use super::stores::SelectedStores;
use crate::args::{InboxArguments, InboxVerb};
use crate::message_catalog::msg;
use crate::wiring::editor::EditedCopy;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_stores::ScopedStore;
use crate::wiring::print;
use crate::wiring::world::World;

/// A proposal and its store.
struct StoreProposal<'a> {
    scoped: &'a ScopedStore,
    id: ProposalId,
    time: Timestamp,
    proposal: Proposal,
}

/// A proposal in JSON output.
#[derive(Serialize)]
struct ProposalJson<'a> {
    id: u64,
    scope: StoreScope,
    time: String,
    author: String,
    reason: &'a str,
    sources: &'a [MessageSource],
    files: Vec<ProposedFileJson<'a>>,
}

#[derive(Serialize)]
struct ProposedFileJson<'a> {
    file: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

/// The result of a decision in JSON output.
#[derive(Serialize)]
struct DecisionJson {
    id: u64,
    scope: StoreScope,
    done: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) async fn run(arguments: &InboxArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let mut waiting = Vec::new();
    for scoped in &stores.list {
        for (id, time, proposal) in scoped.store.inbox().list()? {
            waiting.push(StoreProposal { scoped, id, time, proposal });
        }
    }
    match arguments.verb {
        None => list(&waiting, arguments, world),
        Some(verb) => decide(verb, &select(waiting, arguments)?, arguments.common.json, world),
    }
}

fn list(
    waiting: &[StoreProposal<'_>],
    arguments: &InboxArguments,
    world: &World,
) -> Result<Exit, Failure> {
    if arguments.common.json {
        print::json(&waiting.iter().map(to_json).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    for StoreProposal { scoped, id, time, proposal } in waiting {
        let when = time.strftime("%Y-%m-%d %H:%M");
        print::data_line(&format!(
            "proposal {id} ({}), {when} by {}: {}",
            scoped.scope, proposal.by.author, proposal.by.reason
        ));
        for file in &proposal.files {
            let bytes = |text: &Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
            let (before, after) = (bytes(&file.before), bytes(&file.after));
            let diff = FileDiff { file: file.file.clone(), before, after };
            print::file_diff(&diff, &world.environment);
        }
        print::data("\n");
    }
    print::note(&match waiting.len() {
        0 => msg!("memory-inbox-empty"),
        _ => msg!("memory-inbox-hint"),
    });
    Ok(Exit::Done)
}

fn to_json<'a>(waiting: &'a StoreProposal<'a>) -> ProposalJson<'a> {
    let file = |file: &'a ProposedFile| ProposedFileJson {
        file: file.file.as_str(),
        before: file.before.as_deref(),
        after: file.after.as_deref(),
    };
    ProposalJson {
        id: waiting.id.0,
        scope: waiting.scoped.scope,
        time: waiting.time.to_string(),
        author: waiting.proposal.by.author.to_string(),
        reason: &waiting.proposal.by.reason,
        sources: &waiting.proposal.by.sources,
        files: waiting.proposal.files.iter().map(file).collect(),
    }
}

/// The selected proposals: all, or by number. A number must be unique among the stores.
fn select<'a>(
    waiting: Vec<StoreProposal<'a>>,
    arguments: &InboxArguments,
) -> Result<Vec<StoreProposal<'a>>, Failure> {
    for id in &arguments.ids {
        let scopes: Vec<String> = waiting
            .iter()
            .filter(|waiting| waiting.id.0 == *id)
            .map(|waiting| waiting.scoped.scope.to_string())
            .collect();
        match scopes.len() {
            0 => {
                let text = msg!("memory-unknown-proposal", number = id.to_string());
                return Err(Failure::failed(anyhow::anyhow!(text))
                    .hint(msg!("memory-unknown-proposal-hint")));
            }
            1 => {}
            _ => {
                let scopes = scopes.join(", ");
                let text =
                    msg!("memory-ambiguous-proposal", number = id.to_string(), scopes = scopes);
                return Err(Failure::usage(anyhow::anyhow!(text)).hint(msg!("memory-scope-hint")));
            }
        }
    }
    let is_selected =
        |waiting: &StoreProposal<'_>| arguments.all || arguments.ids.contains(&waiting.id.0);
    Ok(waiting.into_iter().filter(is_selected).collect())
}

/// A proposal that fails does not stop the others.
fn decide(
    verb: InboxVerb,
    chosen: &[StoreProposal<'_>],
    json: bool,
    world: &World,
) -> Result<Exit, Failure> {
    let mut decided = Vec::new();
    for waiting in chosen {
        let error = decide_one(verb, waiting, world).err();
        if let (Some(failure), false) = (&error, json) {
            print::failure(failure);
        }
        decided.push(DecisionJson {
            id: waiting.id.0,
            scope: waiting.scoped.scope,
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
            print::note(&msg!("memory-inbox-empty"));
        }
        for decided in decided.iter().filter(|decided| decided.done) {
            print::data_line(&format!("{word} proposal {} ({})", decided.id, decided.scope));
        }
    }
    Ok(if decided.iter().all(|decided| decided.done) { Exit::Done } else { Exit::Failed })
}

fn decide_one(verb: InboxVerb, waiting: &StoreProposal<'_>, world: &World) -> Result<(), Failure> {
    let store = &waiting.scoped.store;
    match verb {
        InboxVerb::Refuse => store.inbox().refuse(waiting.id)?,
        InboxVerb::Accept => drop(store.inbox().accept(waiting.id, None)?),
        InboxVerb::Edit => accept_edited(waiting, world)?,
    }
    Ok(())
}

/// Accepts a proposal with texts edited by the user. If it fails, the edited texts are kept.
fn accept_edited(waiting: &StoreProposal<'_>, world: &World) -> Result<(), Failure> {
    let mut edited = waiting.proposal.clone();
    let mut copies = Vec::new();
    for file in &mut edited.files {
        if let Some(text) = &file.after {
            let copy = EditedCopy::create(world, file.file.name(), text)?;
            file.after = Some(copy.edit(world)?);
            copies.push(copy);
        }
    }
    let accepted =
        waiting.scoped.store.inbox().accept(waiting.id, Some(&edited)).map_err(Failure::from);
    accepted.map_err(|failure| {
        copies.iter().fold(failure, |failure, copy| copy.with_kept_text(failure))
    })?;
    copies.iter().try_for_each(EditedCopy::remove)
}
