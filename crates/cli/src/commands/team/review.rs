//! What admins decide: proposals, whether a review is required, layers that are off for everybody.

use dormouse_team::api::{SettingsRequest, TeamProposal};

use crate::args::{ReviewArguments, ReviewRequirement};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::team::{JoinedTeam, layers_off, refused};
use crate::wiring::world::World;

pub(super) async fn run(arguments: &ReviewArguments, world: &World) -> Result<Exit, Failure> {
    let team = JoinedTeam::required(world).await?;
    if let Some(required) = arguments.require {
        let review = Some(required == ReviewRequirement::On);
        let settings = SettingsRequest { review, switched_off: None };
        team.client.set(&settings).await.map_err(refused)?;
        print::note(&match required {
            ReviewRequirement::On => msg!("team-review-on"),
            ReviewRequirement::Off => msg!("team-review-off"),
        });
        return Ok(Exit::Done);
    }
    let accepted = arguments.accept.iter().map(|id| (*id, "accept"));
    let rejected = arguments.reject.iter().map(|id| (*id, "reject"));
    let decisions: Vec<_> = accepted.chain(rejected).collect();
    for (id, decision) in &decisions {
        let decided = team.client.decide(*id, decision).await.map_err(refused)?;
        let name = decided.name.to_string();
        print::note(&match *decision {
            "accept" => msg!("team-accepted", name = name),
            _ => msg!("team-rejected", name = name),
        });
    }
    if !decisions.is_empty() {
        return Ok(Exit::Done);
    }
    let open = team.client.proposals().await.map_err(refused)?.proposals;
    if arguments.json {
        print::json(&open)?;
        return Ok(Exit::Done);
    }
    if open.is_empty() {
        print::data_line(&msg!("team-no-proposals"));
    }
    for proposal in &open {
        show(proposal);
    }
    Ok(Exit::Done)
}

fn show(proposal: &TeamProposal) {
    let TeamProposal { id, name, author, content, .. } = proposal;
    print::data_line(&msg!(
        "team-proposal",
        id = *id,
        name = name.to_string(),
        author = author.to_string()
    ));
    match content {
        Some(content) => {
            for line in content.lines() {
                print::data_line(&format!("    {line}"));
            }
        }
        None => print::data_line(&format!("    {}", msg!("team-log-deleted"))),
    }
}

pub(super) async fn layers(off: &[String], world: &World) -> Result<Exit, Failure> {
    let team = JoinedTeam::required(world).await?;
    let settings = SettingsRequest { review: None, switched_off: Some(off.to_vec()) };
    team.client.set(&settings).await.map_err(refused)?;
    print::note(&layers_off(off));
    Ok(Exit::Done)
}
