//! What a profile says.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_conversation::Usage;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::breaks::ProfiledBreak;

/// Where counters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterSource {
    /// The server told them.
    Server,
    /// It told none: they are estimated from the texts, and nothing is known of the cache.
    Estimated,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequestProfile {
    /// Its number, from 1.
    pub number: u64,
    /// When it was sent, as far as the transcript tells.
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// The model that answered.
    pub model: String,
    /// Its counters.
    pub usage: Usage,
    /// How large it was: all input together.
    pub context_tokens: u64,
    /// Where the counters come from.
    pub counted: CounterSource,
    /// What it cost; none where nobody knows the price.
    pub cost_usd: Option<f64>,
    /// By layer: tokens that this request did not carry, or would not have carried, because of it.
    pub freed: BTreeMap<&'static str, u64>,
    /// By layer: what it would have cost without the layer, where that was at work, or with it, where it
    /// was not. Only what differs.
    pub other_cost_usd: BTreeMap<&'static str, f64>,
    /// Whether the cache was lost with it.
    pub broke: Option<ProfiledBreak>,
}

impl RequestProfile {
    /// When it was sent, as clocks in a zone show it.
    pub fn time(&self, zone: &TimeZone, format: &str) -> String {
        self.at.to_zoned(zone.clone()).strftime(format).to_string()
    }
}

fn as_text<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// All requests together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ProfileTotals {
    /// How many.
    pub requests: u64,
    /// How many of them have estimated counters.
    pub estimated: u64,
    /// How many have a model of unknown price.
    pub unpriced: u64,
    /// Their counters together.
    pub usage: Usage,
    /// What those with a price cost.
    pub cost_usd: f64,
    /// Tokens that were cached and had to be sent again.
    pub lost_tokens: u64,
    /// Whether there was a cache at all.
    pub cache: CacheUse,
}

/// Whether the server's prompt cache was of use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheUse {
    /// No request has counters.
    #[default]
    Unknown,
    /// Nothing was ever read from it or written to it.
    None,
    /// It was.
    Used,
}

/// What a layer had to do with the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerStatus {
    /// It acted: the cost with it is what was paid, the cost without it an estimate.
    Fired,
    /// It was on, and nothing was due: it changes nothing.
    Idle,
    /// It was off, or nobody knows: the cost without it is what was paid, the cost with it an estimate.
    Simulated,
    /// The session's server does not offer it: nothing is estimated.
    NotOffered,
}

/// Whether a layer can have been on in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerAvailability {
    /// It was on.
    On,
    /// It was off, or nobody knows.
    Off,
    /// The session's server does not offer it.
    NotOffered,
}

/// Requests that a layer really made beside the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LayerCalls {
    /// How many.
    pub requests: u64,
    /// What they cost.
    pub cost_usd: f64,
}

/// What one layer did or would have done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerProfile {
    /// Its name, as in the settings.
    pub layer: &'static str,
    /// What it had to do with the session.
    pub status: LayerStatus,
    /// Whether it is on unless the settings say otherwise.
    pub default_on: bool,
    /// How often it acted or would have.
    pub runs: u64,
    /// Tokens that it freed when it acted, each run once.
    pub freed_tokens: u64,
    /// Tokens that requests did not carry because of it, all requests together.
    pub kept_out_tokens: u64,
    /// How often it changed what had been sent before.
    pub prefix_changes: u64,
    /// Calls to a model that it made, as far as the session's log tells, or would have made.
    pub calls: u64,
    /// What the session costs with it, its calls included.
    pub cost_with_usd: f64,
    /// What it costs without it.
    pub cost_without_usd: f64,
    /// The first request that would not fit the window without it.
    pub overflows_at: Option<u64>,
}

impl LayerProfile {
    /// What the layer saves at one request; less than nothing where it costs more.
    pub fn saved_at(&self, request: &RequestProfile) -> f64 {
        let (Some(paid), Some(other)) =
            (request.cost_usd, request.other_cost_usd.get(self.layer).copied())
        else {
            return 0.0;
        };
        match self.status {
            LayerStatus::Fired => other - paid,
            LayerStatus::Simulated => paid - other,
            LayerStatus::Idle | LayerStatus::NotOffered => 0.0,
        }
    }

    /// What the layer saves; less than nothing if it costs more than it saves.
    pub fn saved_usd(&self) -> f64 {
        self.cost_without_usd - self.cost_with_usd
    }
}

/// A compaction that happened.
#[derive(Debug, Clone, Serialize)]
pub struct CompactionProfile {
    /// The first request after it.
    pub request: u64,
    /// What started it.
    pub trigger: String,
    /// Who wrote the summary; empty if nobody says.
    #[serde(rename = "way")]
    pub method: String,
    /// Tokens before it.
    pub tokens_before: u64,
    /// Tokens of the first request after it.
    pub tokens_after: u64,
    /// How much the summary still holds, as it was measured then.
    pub fidelity: Option<Box<RawValue>>,
}

/// A session, profiled.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Profile {
    /// All requests together.
    pub total: ProfileTotals,
    /// By layer.
    pub layers: Vec<LayerProfile>,
    /// The compactions.
    pub compactions: Vec<CompactionProfile>,
    /// One by one.
    pub requests: Vec<RequestProfile>,
}

impl Profile {
    /// When its first and its last request were sent, to the minute; empty without requests.
    pub fn period(&self, zone: &TimeZone) -> [String; 2] {
        [self.requests.first(), self.requests.last()].map(|request| {
            request.map_or_else(String::new, |request| request.time(zone, "%Y-%m-%d %H:%M"))
        })
    }

    /// The models that answered, each once, by name.
    pub fn models(&self) -> String {
        let models: BTreeSet<&str> =
            self.requests.iter().map(|request| request.model.as_str()).collect();
        models.into_iter().collect::<Vec<_>>().join(", ")
    }
}
