//! The beginning of a period, as typed: `7d`, `12h`, `2w`, or a date.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::wiring::exit::Failure;

/// The moment that a period begins: so long before `now`, or at the beginning of a day here.
pub(crate) fn since(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    ago(text, now).or_else(|| day(text)).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("--since is `{text}`, which is no period and no date"))
            .hint("as in 12h, 7d, 4w or 2026-11-02")
    })
}

fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let hours = [('h', 1), ('d', 24), ('w', 7 * 24)];
    let (number, hours) =
        hours.iter().find_map(|(unit, hours)| Some((text.strip_suffix(*unit)?, hours)))?;
    let hours = i64::from(number.parse::<u32>().ok()?) * hours;
    // Before the beginning of time there is nothing either.
    Some(now.saturating_sub(SignedDuration::from_hours(hours)).unwrap_or(Timestamp::MIN))
}

fn day(text: &str) -> Option<Timestamp> {
    let day: Date = text.parse().ok()?;
    day.to_zoned(TimeZone::system()).ok().map(|start| start.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_and_dates() {
        let now: Timestamp = "2026-11-02T09:00:00Z".parse().unwrap();
        let at = |text: &str| since(text, now).unwrap().to_string();
        assert_eq!(at("12h"), "2026-11-01T21:00:00Z");
        assert_eq!(at("7d"), "2026-10-26T09:00:00Z");
        assert_eq!(at("2w"), "2026-10-19T09:00:00Z");
        assert!(since("2026-10-01", now).unwrap() < now);
        assert!(since("4000000000d", now).unwrap() < now);
        for wrong in ["", "d", "-1d", "yesterday", "7", "2026-13-01"] {
            assert!(since(wrong, now).is_err(), "{wrong}");
        }
    }
}
