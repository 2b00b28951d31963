//! The switches of the settings key `layers`: name, default, environment variable, description.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::nearest_name::nearest_name;

/// A feature that can be switched on or off with a key under `layers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`description` says what each one does")]
pub enum LayerSwitch {
    Memory,
    Extraction,
    ExtractionHeadless,
    Recall,
    Index,
    SearchPast,
    SessionNotes,
    NotesCompaction,
    AutoCompact,
    ReactiveOnly,
    StoredResults,
    Checkpoints,
    RepeatedCalls,
    TimeClearing,
    CacheEdits,
    ServerClearing,
    ServerCompaction,
    Collapse,
    Snip,
    Dream,
    DailyLog,
    Team,
    AgentListMessage,
    ProgressSummaries,
}

/// The fixed properties of a switch.
struct Properties {
    name: &'static str,
    default: bool,
    description: &'static str,
}

const fn on(name: &'static str, description: &'static str) -> Properties {
    Properties { name, default: true, description }
}

const fn off(name: &'static str, description: &'static str) -> Properties {
    Properties { name, default: false, description }
}

impl LayerSwitch {
    /// All switches, in the order of the documentation.
    pub const ALL: [Self; 24] = [
        Self::Memory,
        Self::Extraction,
        Self::ExtractionHeadless,
        Self::Recall,
        Self::Index,
        Self::SearchPast,
        Self::SessionNotes,
        Self::NotesCompaction,
        Self::AutoCompact,
        Self::ReactiveOnly,
        Self::StoredResults,
        Self::Checkpoints,
        Self::RepeatedCalls,
        Self::TimeClearing,
        Self::CacheEdits,
        Self::ServerClearing,
        Self::ServerCompaction,
        Self::Collapse,
        Self::Snip,
        Self::Dream,
        Self::DailyLog,
        Self::Team,
        Self::AgentListMessage,
        Self::ProgressSummaries,
    ];

    fn properties(self) -> Properties {
        match self {
            Self::Memory => {
                on("memory", "memory rules, index, recall, extraction, dreaming and memory tools")
            }
            Self::Extraction => on(
                "extraction",
                "memories extracted from the conversation; the model can still save its own",
            ),
            Self::ExtractionHeadless => off("extraction_headless", "extraction in `-p` runs"),
            Self::Recall => on("recall", "memories recalled for each prompt"),
            Self::Index => on("index", "the memory index in the first message, kept up to date"),
            Self::SearchPast => {
                off("search_past", "instructions for the model to search past sessions")
            }
            Self::SessionNotes => off(
                "session_notes",
                "notes kept during the session; a compaction is faster with them, and all of it dearer",
            ),
            Self::NotesCompaction => {
                on("notes_compaction", "compaction from the session notes, without a model call")
            }
            Self::AutoCompact => on(
                "auto_compact",
                "compaction when the context window is nearly full; `/compact` works either way",
            ),
            Self::ReactiveOnly => {
                off("reactive_only", "compaction only after the server refuses a request")
            }
            Self::StoredResults => {
                on("stored_results", "long tool results stored in a file; off: truncated")
            }
            Self::Checkpoints => {
                on("checkpoints", "files kept before a turn changes them, for `/rewind`")
            }
            Self::RepeatedCalls => on(
                "repeated_calls",
                "a turn ends where the model makes the same call three times, with the same result",
            ),
            Self::TimeClearing => on(
                "time_clearing",
                "old tool results cleared where that is cheaper, as after a pause",
            ),
            Self::CacheEdits => {
                off("cache_edits", "old tool results deleted in the server's cache")
            }
            Self::ServerClearing => {
                off("server_clearing", "old tool results cleared by the server")
            }
            Self::ServerCompaction => off(
                "server_compaction",
                "summaries written by the server, where it offers that; not together with server_clearing",
            ),
            Self::Collapse => {
                off("collapse", "old spans folded into summaries, instead of automatic compaction")
            }
            Self::Snip => off(
                "snip",
                "oldest rounds dropped when the context window fills; `/snip` works either way",
            ),
            Self::Dream => {
                on("dream", "memory cleanup in the background; `dormouse dream` works either way")
            }
            Self::DailyLog => off("daily_log", "memories written to a daily log first"),
            Self::Team => on("team", "memory shared with a team, if a server is configured"),
            Self::AgentListMessage => on(
                "agent_list_message",
                "subagents listed in a message; off: in the tool description",
            ),
            Self::ProgressSummaries => {
                on("progress_summaries", "short progress summaries of running subagents")
            }
        }
    }

    /// The key under `layers`.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// Whether it is on unless it is set.
    pub fn default_on(self) -> bool {
        self.properties().default
    }

    /// Whether a team can turn it off for its members. Without memory and team sync, a member would never hear that it
    /// is on again.
    pub fn is_for_teams(self) -> bool {
        !matches!(self, Self::Memory | Self::Team)
    }

    /// What it switches, in one line.
    pub fn description(self) -> &'static str {
        self.properties().description
    }

    /// The environment variable that sets it.
    pub fn variable(self) -> String {
        format!("DORMOUSE_{}", self.name().to_uppercase())
    }
}

impl fmt::Display for LayerSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name under `layers` that is not a switch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown switch `{name}`{}", suggest(suggestion.as_deref()))]
pub struct UnknownSwitch {
    /// The name.
    pub name: String,
    /// The most similar switch.
    pub suggestion: Option<String>,
}

fn suggest(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; `dormouse config list` names all of them".to_owned(),
    }
}

impl FromStr for LayerSwitch {
    type Err = UnknownSwitch;

    fn from_str(name: &str) -> Result<Self, UnknownSwitch> {
        Self::ALL.into_iter().find(|switch| switch.name() == name).ok_or_else(|| UnknownSwitch {
            name: name.to_owned(),
            suggestion: nearest_name(name, Self::ALL.map(|switch| switch.name().to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_found_by_its_name() {
        for switch in LayerSwitch::ALL {
            assert_eq!(switch.name().parse(), Ok(switch));
        }
        let error = "dreams".parse::<LayerSwitch>().unwrap_err();
        assert_eq!(error.to_string(), "unknown switch `dreams`; did you mean `dream`?");
        let error = "zzzzzzzz".parse::<LayerSwitch>().unwrap_err();
        assert!(error.to_string().contains("config list"), "{error}");
    }
}
