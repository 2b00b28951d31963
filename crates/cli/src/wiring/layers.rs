//! Settings of the context layers (snip, clearing, collapse, compaction).

use std::time::Duration;

use dormouse_base::{Environment, LayerSwitch, Settings, Switches, names};
use dormouse_context::layers::{CacheEditRule, ClearRule, ServerClearRule, SnipRule};
use dormouse_conversation::Budget;
use dormouse_engine::{CompactionRules, LayerRules};
use dormouse_model::{ServerClearing, keeps_thinking};

use crate::wiring::exit::Failure;
use crate::wiring::token_variable::token_variable;

/// The rules of the cheap layers.
pub(crate) fn rules(settings: &Settings, switches: &Switches) -> Result<LayerRules, Failure> {
    let said = switches.get(LayerSwitch::TimeClearing).filter(|state| state.origin != "default");
    let (clearing, edits) = (settings.time_clearing, settings.cache_edits);
    let (clear, edit) = (ClearRule::default(), CacheEditRule::default());
    let number = |set: Option<u32>, unless: usize| set.map_or(unless, |set| set as usize);
    Ok(LayerRules {
        snip: switches.is_on(LayerSwitch::Snip),
        snip_rule: snip(settings)?,
        time_clearing: said.map(|state| state.on),
        clear_rule: ClearRule {
            // Without a number of the user's, the prices decide.
            idle: clearing
                .idle_minutes
                .map_or(Duration::ZERO, |minutes| Duration::from_mins(minutes.into())),
            keep: number(clearing.keep, clear.keep).max(1),
        },
        cache_edits: switches.is_on(LayerSwitch::CacheEdits),
        cache_edit_rule: CacheEditRule {
            above: number(edits.above, edit.above),
            keep: number(edits.keep, edit.keep).max(1),
        },
    })
}

fn snip(settings: &Settings) -> Result<SnipRule, Failure> {
    let usual = SnipRule::default();
    let share = |set: Option<u8>, unless: f64| set.map_or(unless, |set| f64::from(set) / 100.0);
    let rule = SnipRule {
        from_share: share(settings.snip.from_percent, usual.from_share),
        to_share: share(settings.snip.to_percent, usual.to_share),
    };
    if rule.to_share < rule.from_share && rule.from_share <= 1.0 {
        return Ok(rule);
    }
    Err(Failure::usage(anyhow::anyhow!(
        "invalid settings: `snip.fromPercent` is {:.0} and `snip.toPercent` is {:.0}",
        rule.from_share * 100.0,
        rule.to_share * 100.0
    ))
    .hint("fromPercent must be at most 100, and toPercent must be below it"))
}

/// The rules of compaction.
pub(crate) fn compaction(
    switches: &Switches,
    environment: &Environment,
) -> Result<CompactionRules, Failure> {
    let window = token_variable(environment, names::AUTO_COMPACT_WINDOW)?;
    Ok(CompactionRules {
        auto: switches.is_on(LayerSwitch::AutoCompact),
        reactive_only: switches.is_on(LayerSwitch::ReactiveOnly),
        notes: switches.is_on(LayerSwitch::NotesCompaction),
        collapse: switches.is_on(LayerSwitch::Collapse),
        auto_window: window,
    })
}

/// The request for clearing by the server (C-9). Old thinking is cleared only for models that keep it.
pub(crate) fn server_clearing(budget: &Budget, model: &str) -> ServerClearing {
    let rule = ServerClearRule::for_budget(budget);
    ServerClearing {
        from_tokens: rule.from_tokens,
        at_least_tokens: rule.at_least_tokens,
        keep_tool_uses: u32::try_from(rule.keep_tool_uses).unwrap_or(u32::MAX),
        keep_thinking_turns: keeps_thinking(model).then_some(1),
    }
}
