//! Whether clearing old results is cheaper than keeping them (C-31): what the next requests would pay for the results, against
//! the cache that the change breaks and the results that are asked for again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{BlockKind, Message, Role, ToolUseId, Usage};

use super::clear::{ClearRule, ResultsToClear, is_cleared};
use super::edit::LayerPlan;

/// Of what is cleared, so much is asked for again, as long as the session itself has not shown otherwise. In recorded sessions of
/// another agent, which cleared nothing, 38 % of the text of tool results was asked for again after five newer results.
const USUALLY_CALLED_AGAIN: f64 = 0.4;
/// So many results of the session count as much as the usual share.
const USUAL_WEIGHT: f64 = 10.0;
/// Fewer results are not cleared by themselves while the server has them in its cache: each change has a price of its own.
const SMALLEST_BATCH: usize = 5;

/// Fewer tokens are not worth that a result is missing.
const LEAST_FREED: u64 = 1_000;

/// What one token of a prompt costs: in dollars, or in tokens that the server evaluates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenCosts {
    /// A token that the server does not have in its cache.
    pub new: f64,
    /// A token of an earlier request.
    pub earlier: f64,
}

/// How a server charges for its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheCharges {
    /// It has no cache.
    NoCache,
    /// What is written costs as much as other input.
    Reads,
    /// What is written has a price of its own.
    ReadsAndWrites,
}

impl TokenCosts {
    /// What a token of a prompt costs by `cost_usd`; where that knows no price, in tokens that the server evaluates.
    pub fn new(charges: CacheCharges, cost_usd: impl Fn(&Usage) -> Option<f64>) -> Self {
        const MANY: u64 = 10_000;
        let usage = Usage::default();
        let input = Usage { input_tokens: MANY, ..usage };
        let read = Usage { cache_read_input_tokens: MANY, ..usage };
        let written = Usage { cache_creation_input_tokens: MANY, ..usage };
        let (new, earlier, unknown) = match charges {
            CacheCharges::NoCache => (input, input, 1.0),
            CacheCharges::Reads => (input, read, 0.0),
            CacheCharges::ReadsAndWrites => (written, read, 0.0),
        };
        Self { new: cost_usd(&new).unwrap_or(1.0), earlier: cost_usd(&earlier).unwrap_or(unknown) }
    }
}

/// The situation in which clearing is considered.
#[derive(Debug, Clone, Copy)]
pub struct ClearingCase<'a> {
    /// The messages that are sent.
    pub messages: &'a [Arc<Message>],
    /// The tokens of the conversation.
    pub used: u64,
    /// The prices of the session.
    pub costs: TokenCosts,
    /// Whether the server has the conversation in its cache now.
    pub is_cached: bool,
    /// How many more requests will probably carry the results.
    pub requests_ahead: u64,
}

impl ClearingCase<'_> {
    /// The results to clear now; `idle` is the time since the last answer, `cache_ttl` the life of the server's cache.
    pub fn plan(&self, rule: &ClearRule, idle: Duration, cache_ttl: Duration) -> Option<LayerPlan> {
        if idle < rule.idle {
            return None;
        }
        let clearing = ResultsToClear::by_rule(self.messages, rule);
        // A time that the user has set counts without arithmetic, but never within the life of the cache.
        let is_due = if rule.idle.is_zero() { self.pays(&clearing) } else { idle >= cache_ttl };
        if is_due { clearing.plan(self.messages) } else { None }
    }

    /// Whether clearing these results costs less than it saves.
    fn pays(&self, clearing: &ResultsToClear<'_>) -> bool {
        let count = clearing.results.len();
        let is_too_little = self.is_cached && count < SMALLEST_BATCH;
        if is_too_little || clearing.freed_tokens < LEAST_FREED {
            return false;
        }
        let TokenCosts { new, earlier } = self.costs;
        let freed = float(clearing.freed_tokens);
        let next = if self.is_cached { earlier } else { new };
        let saved = freed * (next + earlier * float(self.requests_ahead.saturating_sub(1)));
        let broken =
            if self.is_cached { float(self.behind(clearing)) * (new - earlier) } else { 0.0 };
        if saved <= broken {
            return false;
        }
        // A result that is asked for again is sent again, by one more request.
        let more_requests =
            float(u64::try_from(count).unwrap_or(u64::MAX).min(self.requests_ahead));
        let once_again = freed * new + more_requests * float(self.used) * earlier;
        // A cache that has gone cold is paid for with the next request in any case. Else it is too early to clear as long as
        // carrying the results has cost less than clearing them will: results keep coming, and each clearing has its price.
        let has_gone_cold = !self.is_cached && earlier < new;
        let most = if has_gone_cold { saved } else { saved.min(self.carried(clearing) * earlier) };
        // Looking for calls that were repeated takes longest: only if the rest speaks for it.
        most > broken && most > broken + self.called_again() * once_again
    }

    /// The tokens of the results, times the requests that have carried them.
    fn carried(&self, clearing: &ResultsToClear<'_>) -> f64 {
        let mut results = clearing.results.iter().rev().peekable();
        let (mut requests, mut sum) = (0_u64, 0_u64);
        for (index, message) in self.messages.iter().enumerate().rev() {
            while let Some(result) = results.next_if(|result| result.message == index) {
                sum += requests * u64::from(result.block.tokens());
            }
            requests += u64::from(message.response.is_some());
        }
        float(sum)
    }

    /// The tokens from the first change on that stay: the server has to read them anew.
    fn behind(&self, clearing: &ResultsToClear<'_>) -> u64 {
        let first = clearing.results.first().map_or(0, |result| result.message);
        let tokens: u64 = self.messages.iter().skip(first).map(|message| message.tokens()).sum();
        tokens.saturating_sub(clearing.freed_tokens)
    }

    /// The share of cleared results that are asked for again: the usual one, corrected by what happened in this session.
    fn called_again(&self) -> f64 {
        let (mut cleared, mut again) = (0_u64, 0_u64);
        // Results stand behind their calls: those of one response are enough to find the call.
        let mut calls: Vec<(&ToolUseId, u64)> = Vec::new();
        // Cleared results whose call was not repeated so far.
        let mut waiting: HashMap<u64, u64> = HashMap::new();
        for message in self.messages {
            if message.role == Role::Assistant && message.response.is_some() {
                calls.clear();
            }
            for block in &message.blocks {
                match block.kind() {
                    BlockKind::ToolUse { id, .. } => {
                        let Some(digest) = block.call_digest() else { continue };
                        again += waiting.remove(&digest).unwrap_or(0);
                        calls.push((id, digest));
                    }
                    BlockKind::ToolResult { id } if is_cleared(block) => {
                        let call = calls.iter().find(|(call, _)| *call == id);
                        let Some((_, digest)) = call else { continue };
                        cleared += 1;
                        *waiting.entry(*digest).or_default() += 1;
                    }
                    _ => {}
                }
            }
        }
        let (cleared, again) = (float(cleared), float(again));
        (USUALLY_CALLED_AGAIN * USUAL_WEIGHT + again) / (USUAL_WEIGHT + cleared)
    }
}

/// How many more requests a conversation will probably have before it is compacted: as many as it had, unless the window is full
/// before that.
pub fn requests_ahead(messages: &[Arc<Message>], used: u64, compacts_at: u64) -> u64 {
    let had = messages.iter().filter(|message| message.response.is_some()).count();
    let had = u64::try_from(had).unwrap_or(u64::MAX).max(1);
    let growth = (used / had).max(1);
    had.min(compacts_at.saturating_sub(used) / growth)
}

/// Whether the user has just said something: in the middle of a turn the results are in use.
pub fn begins_turn(messages: &[Arc<Message>]) -> bool {
    let newest = messages.iter().rev().take_while(|message| message.role == Role::User);
    let mut blocks = newest.flat_map(|message| &message.blocks);
    !blocks.any(|block| matches!(block.kind(), BlockKind::ToolResult { .. }))
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn float(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use super::super::apply_edits;
    use super::super::clear::plan_clear;
    use super::super::testing::{Maker, tokens};
    use super::*;

    /// As on Opus 5.5, Sonnet 4.x and a server without a cache, in shares of the input price.
    const NEW_MODEL: TokenCosts = TokenCosts { new: 1.25, earlier: 0.05 };
    const OLD_MODEL: TokenCosts = TokenCosts { new: 1.25, earlier: 0.1 };
    const NO_CACHE: TokenCosts = TokenCosts { new: 1.0, earlier: 1.0 };

    fn session(maker: &mut Maker, reads: usize) -> Vec<Arc<Message>> {
        let mut messages = vec![maker.user("go")];
        (0..reads).for_each(|_| messages.extend(maker.read(3_000)));
        messages.push(maker.says("done"));
        messages
    }

    fn pays(messages: &[Arc<Message>], costs: TokenCosts, is_cached: bool, ahead: u64) -> bool {
        let used = tokens(messages) + 10_000;
        let case = ClearingCase { messages, used, costs, is_cached, requests_ahead: ahead };
        case.plan(&ClearRule::default(), Duration::ZERO, Duration::from_mins(5)).is_some()
    }

    #[test]
    fn what_the_server_has_in_its_cache_is_cleared_late_and_in_one_go() {
        let short = session(&mut Maker::new(1), 20);
        assert!(!pays(&short, OLD_MODEL, true, 20), "breaking the cache costs more");
        assert!(!pays(&short, OLD_MODEL, true, 1_000), "it has cost little to carry them");
        let long = session(&mut Maker::new(1), 120);
        assert!(pays(&long, OLD_MODEL, true, 120));
        assert!(!pays(&long, OLD_MODEL, true, 10), "too few requests are left");
        assert!(pays(&long, OLD_MODEL, true, 15));
        assert!(!pays(&long, NEW_MODEL, true, 15), "cached input is cheaper there");
        let few = session(&mut Maker::new(1), 7);
        assert!(!pays(&few, OLD_MODEL, true, 1_000), "too few to break the cache for");
    }

    #[test]
    fn without_a_warm_cache_it_pays_early() {
        let messages = session(&mut Maker::new(1), 20);
        assert!(pays(&messages, OLD_MODEL, false, 1), "a cold cache is paid for at once");
        assert!(pays(&session(&mut Maker::new(1), 60), NO_CACHE, false, 60));
    }

    #[test]
    fn a_session_that_asks_again_for_what_was_cleared_keeps_its_results() {
        let mut maker = Maker::new(1);
        let messages = session(&mut maker, 20);
        let plan = plan_clear(&messages, Duration::ZERO, &ClearRule::default()).unwrap();
        let mut messages = apply_edits(&messages, &plan.edits, |text| maker.meta(&text));
        // All reads of this session have the same arguments: each is one of what was cleared.
        (0..60).for_each(|_| messages.extend(maker.read(3_000)));
        assert!(!pays(&messages, NO_CACHE, false, 60));
        assert!(pays(&session(&mut maker, 60), NO_CACHE, false, 60), "otherwise it would pay");
    }

    #[test]
    fn a_time_that_was_set_counts_without_arithmetic() {
        let messages = session(&mut Maker::new(1), 8);
        let hour = Duration::from_hours(1);
        let case = ClearingCase {
            messages: &messages,
            used: tokens(&messages),
            costs: OLD_MODEL,
            is_cached: false,
            requests_ahead: 0,
        };
        let rule = ClearRule { idle: Duration::from_mins(30), keep: 5 };
        let is_due = |minutes, ttl| case.plan(&rule, Duration::from_mins(minutes), ttl).is_some();
        assert!(!is_due(29, Duration::from_mins(5)), "not that old");
        assert!(is_due(30, Duration::from_mins(5)));
        assert!(!is_due(30, hour), "the server still has it");
        assert!(is_due(60, hour));
    }

    #[test]
    fn tokens_are_priced_as_the_server_charges_for_its_cache() {
        let cost = |usage: &Usage| {
            let parts = [
                usage.input_tokens,
                usage.cache_creation_input_tokens,
                usage.cache_read_input_tokens,
            ];
            let [input, written, read] = parts.map(|tokens| float(tokens) / 10_000.0);
            Some(input * 10.0 + written * 12.5 + read)
        };
        let costs = |new, earlier| TokenCosts { new, earlier };
        assert_eq!(TokenCosts::new(CacheCharges::NoCache, cost), costs(10.0, 10.0));
        assert_eq!(TokenCosts::new(CacheCharges::Reads, cost), costs(10.0, 1.0));
        assert_eq!(TokenCosts::new(CacheCharges::ReadsAndWrites, cost), costs(12.5, 1.0));
        assert_eq!(TokenCosts::new(CacheCharges::Reads, |_| None), costs(1.0, 0.0));
        assert_eq!(TokenCosts::new(CacheCharges::NoCache, |_| None), costs(1.0, 1.0));
    }

    #[test]
    fn the_future_is_as_long_as_the_past_and_ends_with_the_window() {
        let messages = session(&mut Maker::new(1), 20);
        let used = tokens(&messages);
        assert_eq!(requests_ahead(&messages, used, 10 * used), 21);
        assert_eq!(requests_ahead(&messages, used, used + used / 21 * 4), 4);
        assert_eq!(requests_ahead(&messages, used, used / 2), 0);
        assert_eq!(requests_ahead(&[], 0, 100), 1);
    }
}
