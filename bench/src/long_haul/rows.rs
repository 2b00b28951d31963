//! The rows of the table: which switches are turned in each. A further layer is a further line.

use super::ledger::Reading;

/// Switches of layers that the server carries out.
const SERVER_CLEARS: [&str; 2] = ["cache_edits", "server_clearing"];

/// A way to run the session.
#[derive(Debug, Clone, Copy)]
pub(super) struct HaulRow {
    pub(super) name: &'static str,
    /// Switches that are not as shipped.
    pub(super) switches: &'static [(&'static str, bool)],
    pub(super) window: RowWindow,
    pub(super) pace: Pace,
    /// Whether what is switched is done for its own sake: it costs something, and what it is worth is not in the table. The
    /// others are there to save.
    pub(super) is_service: bool,
}

/// How the user works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Turn after turn.
    Steady,
    /// With a pause of more than an hour now and then: only a build with the feature `movable-clock` can be made to see one.
    WithPauses,
}

/// The window of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowWindow {
    /// That of the run.
    AsGiven,
    /// One that no session fills.
    Endless,
}

/// So many tokens have no end.
pub(super) const ENDLESS: u32 = 100_000_000;

impl HaulRow {
    /// As variables of the program.
    pub(super) fn variables(&self) -> Vec<(String, &'static str)> {
        let variable = |(name, on): &(&str, bool)| {
            (format!("DORMOUSE_{}", name.to_uppercase()), if *on { "1" } else { "0" })
        };
        self.switches.iter().map(variable).collect()
    }

    /// Whether nothing is switched, and nobody pauses.
    pub(super) fn is_as_shipped(&self) -> bool {
        self.switches.is_empty() && self.pace == Pace::Steady
    }

    /// Whether it is run at full length whatever the others are.
    pub(super) fn is_whole(&self) -> bool {
        self.is_as_shipped() || self.window == RowWindow::Endless
    }

    /// How its requests have to be read: a server that clears looks at all of them.
    pub(super) fn reading(&self) -> Reading {
        let clears = |(name, on): &(&str, bool)| *on && SERVER_CLEARS.contains(name);
        if self.switches.iter().any(clears) { Reading::Whole } else { Reading::OfWhatIsNew }
    }

    /// Whether room is made before a request goes out. Where it is not, a refusal by the server is how it is
    /// noticed, and no overflow.
    pub(super) fn makes_room_ahead(&self) -> bool {
        let late = [("auto_compact", false), ("reactive_only", true), ("collapse", true)];
        !self.switches.iter().any(|switch| late.contains(switch))
    }

    /// Whether there are dreams.
    pub(super) fn dreams(&self) -> bool {
        !self.switches.iter().any(|switch| [("dream", false), ("memory", false)].contains(switch))
    }

    /// Whether it turns on what is off as shipped.
    pub(super) fn turns_on(&self) -> bool {
        self.switches.iter().any(|(_, on)| *on)
    }
}

const fn row(name: &'static str, switches: &'static [(&'static str, bool)]) -> HaulRow {
    let (window, pace) = (RowWindow::AsGiven, Pace::Steady);
    HaulRow { name, switches, window, pace, is_service: false }
}

const fn service(name: &'static str, switches: &'static [(&'static str, bool)]) -> HaulRow {
    HaulRow { is_service: true, ..row(name, switches) }
}

const fn paused(name: &'static str, switches: &'static [(&'static str, bool)]) -> HaulRow {
    HaulRow { pace: Pace::WithPauses, ..row(name, switches) }
}

/// All rows, the first as shipped.
pub(super) const ROWS: &[HaulRow] = &[
    row("as shipped", &[]),
    row("without stored_results", &[("stored_results", false)]),
    row("without time_clearing", &[("time_clearing", false)]),
    row("without auto_compact", &[("auto_compact", false)]),
    row("with session_notes", &[("session_notes", true)]),
    row("with session_notes, without notes_compaction", NOTES_ONLY),
    row("with reactive_only", &[("reactive_only", true)]),
    row("with snip", &[("snip", true)]),
    row("with collapse", &[("collapse", true)]),
    row("with cache_edits", &[("cache_edits", true)]),
    row("with server_clearing", &[("server_clearing", true)]),
    row("without agent_list_message", &[("agent_list_message", false)]),
    service("without extraction", &[("extraction", false)]),
    service("without recall", &[("recall", false)]),
    service("without index", &[("index", false)]),
    service("without dream", &[("dream", false)]),
    service("without memory", &[("memory", false)]),
    service("without checkpoints", &[("checkpoints", false)]),
    service("without progress_summaries", &[("progress_summaries", false)]),
    service("with search_past", &[("search_past", true)]),
    HaulRow { window: RowWindow::Endless, ..row("all off, an endless window", ALL_OFF) },
    paused("with pauses", &[]),
    paused("with pauses, without time_clearing", &[("time_clearing", false)]),
    HaulRow {
        is_service: true,
        ..paused("with pauses, without extraction", &[("extraction", false)])
    },
];

const NOTES_ONLY: &[(&str, bool)] = &[("session_notes", true), ("notes_compaction", false)];

/// Everything that keeps the window small, and everything that is done besides.
const ALL_OFF: &[(&str, bool)] = &[
    ("stored_results", false),
    ("memory", false),
    ("notes_compaction", false),
    ("auto_compact", false),
    ("time_clearing", false),
];
