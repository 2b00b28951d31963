//! The last scene: what two sessions learned is merged in a dream, and the dream is undone.

use std::path::Path;

use dormouse_background::{When, dream};
use dormouse_engine::Seed;
use dormouse_memory::{By, Scope, Trial};
use dormouse_model::script::Turn;

use super::scenes::play;
use super::stage::{Stage, begin};
use super::{show_result, why};
use crate::dream::lines;
use crate::exit::Failure;
use crate::show;

/// Merges two memories, and takes that back.
pub(super) async fn a_dream(stage: &Stage) -> Result<(), Failure> {
    show::data_line("\nScene 7: two sessions learned the same, and a dream merges it.");
    let script = vec![
        Turn::new().call(
            "call_1",
            "MemorySave",
            r#"{"name":"Round nuts up","description":"rounds numbers of nuts up, never down","type":"feedback","content":"Round numbers of nuts up.\n\n**Why:** a shelf that is not full still takes its place."}"#,
        ),
        Turn::new().text("I'll always round up."),
    ];
    play(stage, script, "Remember: round nuts up, never down.").await?;
    show::data_line("> dormouse dream --now\n");
    let setup = stage.dream_setup().await?;
    let store = setup.stores().find(|store| store.scope() == Scope::User).cloned();
    let seed = async |_: &Path| fork(stage).await.map_err(|failure| failure.message());
    let dreamt = Box::pin(dream(setup, seed, When::Now, Trial::Make)).await;
    let dreamt = dreamt.map_err(|closed| Failure::failed(anyhow::anyhow!("{closed}")))?;
    for line in lines(&dreamt.report) {
        show::data_line(&line);
    }
    why(
        "the dream worked on a copy; it was checked, and applied as one change. The merged memory knows where both came from.",
    );
    show::data_line("\n> dormouse memory undo\n");
    if let Some(store) = store {
        let receipt = store.undo(&By::person("undo of a dream"), None)?;
        for (file, _) in &receipt.files {
            show_result(&format!("{file} is as it was"));
        }
    }
    why("a dream is undone as one, and every byte is back.");
    Ok(())
}

/// The copy of a conversation that dreams.
async fn fork(stage: &Stage) -> Result<Seed, Failure> {
    let script = vec![
        Turn::new().call(
            "call_1",
            "MemorySave",
            r#"{"name":"Nuts in dozens","description":"counts nuts in dozens, rounded up, never down","type":"feedback","content":"Give numbers of nuts in dozens, rounded up, never down.\n\n**Why:** the larder's shelves hold twelve, and one that is not full still takes its place.\n\n**How to apply:** in answers; files keep exact numbers.","file":"nuts-in-dozens.md","supersedes":["round-nuts-up.md"]}"#,
        ),
        Turn::new().text("Both said how to count nuts."),
    ];
    Ok(begin(stage, script).await?.0.seed())
}
