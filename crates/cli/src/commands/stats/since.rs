//! Parses the start of a period: `7d`, `12h`, `2w`, or a date.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

/// A duration before `now`, or the start of a day in the local time zone.
pub(crate) fn parse_since(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    ago(text, now).or_else(|| day(text)).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("stats-invalid-since", text = text)))
            .hint(msg!("stats-invalid-since-hint"))
    })
}

fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let hours = [('h', 1), ('d', 24), ('w', 7 * 24)];
    let (number, hours) =
        hours.iter().find_map(|(unit, hours)| Some((text.strip_suffix(*unit)?, hours)))?;
    let hours = i64::from(number.parse::<u32>().ok()?) * hours;
    // A start before the first representable time includes everything.
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
        let at = |text: &str| parse_since(text, now).unwrap().to_string();
        assert_eq!(at("12h"), "2026-11-01T21:00:00Z");
        assert_eq!(at("7d"), "2026-10-26T09:00:00Z");
        assert_eq!(at("2w"), "2026-10-19T09:00:00Z");
        assert!(parse_since("2026-10-01", now).unwrap() < now);
        assert!(parse_since("4000000000d", now).unwrap() < now);
        for wrong in ["", "d", "-1d", "yesterday", "7", "2026-13-01"] {
            assert!(parse_since(wrong, now).is_err(), "{wrong}");
        }
    }
}
