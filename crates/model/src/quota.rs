//! How much of the server's rate limit is left, as the headers of its answers say.

use std::sync::Mutex;

use reqwest::header::HeaderMap;

/// What is counted, as Anthropic's headers and OpenAI's name it.
const COUNTED: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining"),
    ("anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-input-tokens-remaining"),
    ("anthropic-ratelimit-output-tokens-limit", "anthropic-ratelimit-output-tokens-remaining"),
    ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens"),
];

/// The share that the last answer said is left.
#[derive(Debug, Default)]
pub(crate) struct Quota(Mutex<Option<f64>>);

impl Quota {
    /// An answer came.
    pub(crate) fn heard(&self, headers: &HeaderMap) {
        if let Some(share) = least_left(headers) {
            *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(share);
        }
    }

    /// What is left; none where the server does not say.
    pub(crate) fn left(&self) -> Option<f64> {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The least of what is left of each limit.
fn least_left(headers: &HeaderMap) -> Option<f64> {
    let number = |name: &str| {
        headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok().filter(|n| n.is_finite())
    };
    let share = |(limit, remaining): &(&str, &str)| {
        let limit = number(limit).filter(|limit| *limit > 0.0)?;
        Some((number(remaining)? / limit).clamp(0.0, 1.0))
    };
    COUNTED.iter().filter_map(share).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &str)], expected: Option<f64>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        assert_eq!(least_left(&map), expected, "{headers:?}");
    }

    #[test]
    fn the_least_of_all_counts() {
        check(&[], None);
        check(&[("retry-after", "3")], None);
        let requests = ("anthropic-ratelimit-requests-limit", "50");
        check(&[requests], None);
        check(&[requests, ("anthropic-ratelimit-requests-remaining", "x")], None);
        let most = [requests, ("anthropic-ratelimit-requests-remaining", "49")];
        check(&most, Some(0.98));
        let tokens = ("anthropic-ratelimit-tokens-limit", "80000");
        let few = ("anthropic-ratelimit-tokens-remaining", "8000");
        check(&[most[0], most[1], tokens, few], Some(0.1));
        check(
            &[("x-ratelimit-limit-requests", "0"), ("x-ratelimit-remaining-requests", "0")],
            None,
        );
    }
}
