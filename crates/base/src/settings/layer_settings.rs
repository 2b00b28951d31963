//! Settings of the layers that leave out old messages and results.

#[cfg(test)]
use schemars::JsonSchema;
use serde::Deserialize;

/// When and how far the oldest messages are dropped; for the switch `snip` and the command `/snip`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SnipSettings {
    /// Fill level of the effective context window that triggers it, in percent; default 85.
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    pub from_percent: Option<u8>,
    /// Fill level afterwards, in percent; default 60.
    #[cfg_attr(test, schemars(range(min = 0, max = 99)))]
    pub to_percent: Option<u8>,
}

/// When old tool results are cleared; for the switch `time_clearing`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TimeClearingSettings {
    /// Minutes since the last response, and never before the server's cache has expired; without it, as soon as that costs less than
    /// keeping them.
    pub idle_minutes: Option<u32>,
    /// Number of newest results to keep; default 5, at least 1.
    pub keep: Option<u32>,
}

/// When old tool results are deleted from the server's cache; for the switch `cache_edits`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CacheEditSettings {
    /// Number of results above which old ones are deleted; default 20.
    pub above: Option<u32>,
    /// Number of newest results to keep; default 5, at least 1.
    pub keep: Option<u32>,
}
