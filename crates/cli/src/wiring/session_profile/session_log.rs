//! What the session's own log has that no transcript has: requests beside the conversation, and those that failed.

use std::path::Path;

use dormouse_base::{LayerSwitch, SessionId};
use dormouse_context::profile::{LayerCalls, ProfileTotals};
use dormouse_conversation::Usage;
use dormouse_conversation::metrics::{
    ConversationKind, MetricsFilter, MetricsLog, MetricsSummary, RequestTotals, summarize_metrics,
};

use crate::wiring::exit::Failure;

/// The log of a session: its figures, added up.
pub(crate) struct SessionLog(pub(crate) MetricsSummary);

impl SessionLog {
    /// The log of the session that a transcript belongs to by its name; none if there is nothing in it.
    pub(crate) fn of(transcript: &Path, home: &Path) -> Result<Option<Self>, Failure> {
        let name = transcript.file_stem().unwrap_or_default().to_string_lossy();
        let Ok(session) = name.parse::<SessionId>() else { return Ok(None) };
        let filter = MetricsFilter { session: Some(session), ..MetricsFilter::default() };
        let summary = summarize_metrics(&MetricsLog::folder_in(home), &filter)?;
        Ok((summary.total.requests > 0).then_some(Self(summary)))
    }

    fn purpose(&self, name: &str) -> RequestTotals {
        self.0.by_purpose.get(name).copied().unwrap_or_default()
    }

    /// Requests that a layer made beside the conversation. Session notes are kept for the compaction from them.
    pub(crate) fn calls(&self, layer: LayerSwitch) -> LayerCalls {
        let purpose = match layer {
            LayerSwitch::NotesCompaction => LayerSwitch::SessionNotes,
            other => other,
        };
        let made = self.purpose(purpose.name());
        LayerCalls { requests: made.requests, cost_usd: made.cost_usd }
    }

    /// How the conversation's requests in the log compare with those of the transcript.
    pub(crate) fn compare(&self, replayed: &ProfileTotals) -> LogComparison {
        let logged = self.purpose(ConversationKind::Main.as_str());
        if replayed.estimated > 0 {
            return LogComparison::Same;
        }
        let Some(usage) = difference(logged.usage, replayed.usage) else {
            return LogComparison::LogHasLess;
        };
        if usage == Usage::default() {
            return LogComparison::Same;
        }
        LogComparison::LogHasMore {
            requests: logged.requests.saturating_sub(replayed.requests),
            tokens: usage.total(),
            cost_usd: logged.cost_usd - replayed.cost_usd,
        }
    }
}

/// The log beside the transcript.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LogComparison {
    Same,
    /// Requests were paid for and left no response: they broke off.
    LogHasMore {
        requests: u64,
        tokens: u64,
        cost_usd: f64,
    },
    /// Part of the log is gone.
    LogHasLess,
}

/// What one has more than the other; none where it has less of anything.
fn difference(more: Usage, less: Usage) -> Option<Usage> {
    Some(Usage {
        input_tokens: more.input_tokens.checked_sub(less.input_tokens)?,
        cache_creation_input_tokens: more
            .cache_creation_input_tokens
            .checked_sub(less.cache_creation_input_tokens)?,
        cache_read_input_tokens: more
            .cache_read_input_tokens
            .checked_sub(less.cache_read_input_tokens)?,
        output_tokens: more.output_tokens.checked_sub(less.output_tokens)?,
    })
}
