//! `dormouse memory promote`: offers a private memory to the team, after checks (T-14).

use dormouse_frontmatter as frontmatter;
use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{
    Anchor, AnchorCache, ChangeOrigin, Claims, Expected, KnownTexts, MemoryFile, Scope, StoreScope,
    TextRelation, check_anchors, instruction_files,
};

use super::stores::{ScopedMemory, SelectedStores, into_receipt, open_for_writing};
use crate::args::PromoteArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::team_membership::membership;
use crate::wiring::world::World;

/// Keys that say where the user's own memory came from, and that it is always listed: not the team's business.
const PRIVATE_KEYS: [&str; 5] = ["source", "trust", "scope", "pinned", "modified"];

pub(super) async fn promote(arguments: &PromoteArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, None).await?;
    let found = stores.find_by_name(&arguments.name)?;
    if found.scoped.scope == StoreScope::Team {
        return Err(Failure::usage(anyhow::anyhow!(msg!("memory-promote-team"))));
    }
    if found.memory.header.quarantined {
        return Err(Failure::usage(anyhow::anyhow!(msg!("memory-promote-quarantined")))
            .hint(msg!("memory-promote-quarantined-hint", name = arguments.name.as_str())));
    }
    let mut text = found.file_text()?;
    for key in PRIVATE_KEYS {
        text = frontmatter::remove(&text, key).map_err(Failure::failed)?;
    }
    let problems = problems(&stores, &found, &text)?;
    for problem in &problems {
        print::note(problem);
    }
    if !problems.is_empty() && !arguments.force {
        return Err(Failure::failed(anyhow::anyhow!(msg!("memory-promote-refused")))
            .hint(msg!("memory-promote-refused-hint")));
    }
    let team = open_for_writing(world, StoreScope::Team).await?;
    let file = MemoryFile::new(found.memory.file.as_str()).map_err(Failure::usage)?;
    // The store refuses secrets, whatever was passed.
    let by = ChangeOrigin::user("promoted");
    into_receipt(
        team.store.change(&by, |plan| plan.write(&file, text.as_bytes(), &Expected::Absent))?,
    )?;
    print::data_line(&team.path_of(file.as_str()));
    let has_joined = membership(&stores.directories).is_some();
    print::note(&if has_joined { msg!("memory-promoted") } else { msg!("memory-promoted-alone") });
    Ok(Exit::Done)
}

/// What speaks against it: a repetition or contradiction of what the team has or the instructions say, code that is gone.
fn problems(
    stores: &SelectedStores,
    found: &ScopedMemory<'_>,
    text: &str,
) -> Result<Vec<String>, Failure> {
    let root = dormouse_base::Dir::open(&stores.project.checkout)?;
    let mut known = KnownTexts::default();
    for (name, text) in instruction_files(&root) {
        known.add(name, Claims::of(&text));
    }
    for other in stores.reachable.list(Some(Scope::Team), QuarantineFilter::Include)? {
        known.add(other.memory.file.to_string(), Claims::of(other.read()?.0.text()));
    }
    let related = known.related(&Claims::of(frontmatter::parse(text).body)).into_iter();
    let related = related.map(|(relation, file)| match relation {
        TextRelation::Repeats => msg!("memory-promote-repeats", file = file),
        TextRelation::Contradicts => msg!("memory-promote-contradicts", file = file),
    });
    let mut problems: Vec<String> = related.collect();
    let anchors = found.memory.header.anchors.iter();
    let anchors: Vec<Anchor> = anchors.filter_map(|anchor| Anchor::parse(anchor)).collect();
    let states = check_anchors(&root, &anchors, &mut AnchorCache::default());
    for (anchor, _) in anchors.iter().zip(states).filter(|(_, state)| state.is_broken()) {
        problems.push(msg!("memory-promote-anchor", path = anchor.path.clone()));
    }
    Ok(problems)
}
