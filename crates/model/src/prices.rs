//! What tokens cost: a dated table of list prices per model family.

use dormouse_conversation::Usage;

use crate::CacheTtl;

/// When the table was made.
pub const PRICES_DATED: &str = "2026-08";

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input.
    pub input: f64,
    /// Output.
    pub output: f64,
}

/// Reading from the cache, as a share of the input's price.
const CACHE_READ: f64 = 0.1;
/// Writing to it, for five minutes.
const CACHE_WRITE_5M: f64 = 1.25;
/// Writing to it, for an hour.
const CACHE_WRITE_1H: f64 = 2.0;

/// By how a model's name begins; the first that fits.
const PRICES: &[(&str, Price)] = &[
    ("claude-opus-4-1", Price { input: 15.0, output: 75.0 }),
    ("claude-opus-4-0", Price { input: 15.0, output: 75.0 }),
    ("claude-opus-4-2", Price { input: 15.0, output: 75.0 }),
    ("claude-opus-4", Price { input: 5.0, output: 25.0 }),
    ("claude-sonnet-4", Price { input: 3.0, output: 15.0 }),
    ("claude-haiku-4", Price { input: 1.0, output: 5.0 }),
];

/// The list price of a model; none for one the table does not know.
pub fn list_price(model: &str) -> Option<Price> {
    PRICES.iter().find(|(prefix, _)| model.starts_with(prefix)).map(|(_, price)| *price)
}

/// What a usage costs at a price, in dollars.
pub fn cost_usd(usage: &Usage, price: Price, ttl: CacheTtl) -> f64 {
    let write = match ttl {
        CacheTtl::FiveMinutes => CACHE_WRITE_5M,
        CacheTtl::OneHour => CACHE_WRITE_1H,
    };
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    let millions = |tokens: u64| tokens as f64 / 1_000_000.0;
    let input = millions(usage.input_tokens)
        + millions(usage.cache_read_input_tokens) * CACHE_READ
        + millions(usage.cache_creation_input_tokens) * write;
    input * price.input + millions(usage.output_tokens) * price.output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_less() {
        let price = list_price("claude-opus-4-6").unwrap();
        let usage = Usage {
            input_tokens: 1_000_000,
            cache_read_input_tokens: 1_000_000,
            cache_creation_input_tokens: 1_000_000,
            output_tokens: 1_000_000,
        };
        let cost = cost_usd(&usage, price, CacheTtl::FiveMinutes);
        assert!((cost - (5.0 + 0.5 + 6.25 + 25.0)).abs() < 1e-9, "{cost}");
        assert_eq!(list_price("somebody-elses-model"), None);
    }
}
