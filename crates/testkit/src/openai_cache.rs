//! The automatic prefix cache of OpenAI-compatible servers, emulated: a request reads the longest
//! prefix that it shares with any earlier one.
//!
//! Pure. The bytes compared are those of `tools`, then those of `messages`, in the order in which a
//! server's template puts them before the model.

use dormouse_conversation::Usage;

use crate::cache::CacheOutcome;
use crate::scan;

/// The requests seen so far.
#[derive(Debug, Default)]
pub struct CommonPrefixCache {
    earlier: Vec<Vec<u8>>,
}

impl CommonPrefixCache {
    /// What this request shares with earlier ones.
    pub fn look_up(&self, body: &[u8]) -> CacheOutcome {
        let prompt = prompt_of(body);
        let total = (prompt.len() as u64).div_ceil(4);
        let common = self.earlier.iter().map(|other| common_prefix(other, &prompt)).max();
        let read = (common.unwrap_or(0) as u64) / 4;
        CacheOutcome {
            usage: Usage {
                input_tokens: total - read,
                cache_read_input_tokens: read,
                ..Usage::default()
            },
            written: kept(&prompt) as u64 / 4,
            ..CacheOutcome::default()
        }
    }

    /// Keeps an answered request. Those it continues need not be kept beside it.
    pub fn commit(&mut self, body: &[u8]) {
        let prompt = prompt_of(body);
        self.earlier.retain(|other| common_prefix(other, &prompt) < kept(other));
        self.earlier.push(prompt);
    }
}

/// The bytes of a prompt that the next request repeats: all but the bracket that closes the list.
fn kept(prompt: &[u8]) -> usize {
    prompt.len().saturating_sub(1)
}

fn prompt_of(body: &[u8]) -> Vec<u8> {
    let start = scan::after_space(body, 0);
    let text = |name| scan::find(body, start, name).map_or(&[][..], |range| &body[range]);
    [text("tools"), text("messages")].concat()
}

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_what_it_shares_with_the_best_of_the_earlier_ones() {
        let body = |texts: &[&str]| {
            let messages: Vec<String> = texts
                .iter()
                .map(|text| format!(r#"{{"role":"user","content":"{text}"}}"#))
                .collect();
            format!(r#"{{"tools":[{{"a":1}}],"messages":[{}]}}"#, messages.join(",")).into_bytes()
        };
        let mut cache = CommonPrefixCache::default();
        let first = body(&["one one one one"]);
        let outcome = cache.look_up(&first);
        assert_eq!(outcome.usage.cache_read_input_tokens, 0);
        cache.commit(&first);
        let second = body(&["one one one one", "two"]);
        let grown = cache.look_up(&second);
        assert_eq!(grown.usage.cache_read_input_tokens, outcome.written);
        assert!(grown.usage.input_tokens > 0);
        cache.commit(&second);
        assert_eq!(cache.earlier.len(), 1, "the first is a prefix of the second");
        let other = body(&["zwei"]);
        assert!(cache.look_up(&other).usage.cache_read_input_tokens < outcome.written);
        cache.commit(&other);
        assert_eq!(cache.look_up(&second).usage.cache_read_input_tokens, {
            prompt_of(&second).len() as u64 / 4
        });
    }
}
