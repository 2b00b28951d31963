//! Dates and times: every notation is converted to one form before the text is split into words.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Prefix of a normalized date: `date:2027-03-05`, with `0000` for a missing year.
pub(super) const DATE: &str = "date:";
/// Prefix of a normalized time: `clock:15h00`.
pub(super) const TIME: &str = "clock:";

const MONTHS: &str = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";

/// Notations of dates and times, the more specific first.
static WAYS: LazyLock<Vec<(Regex, Shape)>> = LazyLock::new(|| {
    let ways = [
        (r"\b(?<y>\d{4})[-/.](?<m>\d{1,2})[-/.](?<d>\d{1,2})\b".to_owned(), Shape::Date),
        (r"(?:(?<y>\d{4})\s*年\s*)?(?<m>\d{1,2}|[一二三四五六七八九十]{1,2})\s*月\s*(?<d>\d{1,2}|[一二三四五六七八九十]{1,3})\s*[日号]".to_owned(), Shape::Date),
        (
            format!(r"(?i)\b(?<n>{MONTHS})\.?\s+(?:the\s+)?(?<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s*,?\s*(?<y>\d{{4}}))?\b"),
            Shape::Date,
        ),
        (
            format!(r"(?i)\b(?:the\s+)?(?<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?<n>{MONTHS})\b\.?(?:\s*,?\s*(?<y>\d{{4}})\b)?"),
            Shape::Date,
        ),
        (r"(?i)\b(?<h>\d{1,2})(?::(?<i>\d{2}))?\s*(?<half>[ap])\.?m\b\.?".to_owned(), Shape::Time),
        (
            r"(?<part>凌晨|早上|上午|中午|下午|傍晚|晚上)?\s*(?<h>\d{1,2}|十[一二]?|[一二两三四五六七八九])\s*(?:点钟|点整|点(?<half>半)|点(?:(?<i>\d{1,2})分?)?)".to_owned(),
            Shape::Time,
        ),
        (r"\b(?<h>[01]?\d|2[0-3]):(?<i>[0-5]\d)\b".to_owned(), Shape::Time),
    ];
    let built = ways.into_iter().filter_map(|(way, shape)| Some((Regex::new(&way).ok()?, shape)));
    built.collect()
});

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Date,
    Time,
}

/// The text with every date and time normalized.
pub(super) fn normalized(text: &str) -> String {
    let mut text = text.to_owned();
    for (way, shape) in WAYS.iter() {
        if way.is_match(&text) {
            let form = |found: &Captures<'_>| {
                let form = match shape {
                    Shape::Date => date(found),
                    Shape::Time => time(found),
                };
                form.unwrap_or_else(|| found.get(0).map_or("", |whole| whole.as_str()).to_owned())
            };
            text = way.replace_all(&text, form).into_owned();
        }
    }
    text
}

fn date(found: &Captures<'_>) -> Option<String> {
    let month = match found.name("n") {
        Some(name) => month_of(name.as_str())?,
        None => number(found, "m")?,
    };
    let (day, year) = (number(found, "d")?, number(found, "y").unwrap_or(0));
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then(|| format!(" {DATE}{year:04}-{month:02}-{day:02} "))
}

fn month_of(name: &str) -> Option<u32> {
    const FIRST_LETTERS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let first = name.get(..3)?.to_ascii_lowercase();
    let place = FIRST_LETTERS.find(&first).filter(|place| place % 3 == 0)?;
    u32::try_from(place / 3 + 1).ok()
}

fn time(found: &Captures<'_>) -> Option<String> {
    let hour = number(found, "h")?;
    // In Chinese `half` is the half hour, in English the half of the day.
    let half = found.name("half").map_or("", |half| half.as_str());
    let minute = if half == "半" { 30 } else { number(found, "i").unwrap_or(0) };
    let part = found.name("part").map_or("", |part| part.as_str());
    let is_late = matches!(half, "p" | "P") || matches!(part, "下午" | "傍晚" | "晚上");
    let is_early = matches!(half, "a" | "A") || part == "凌晨";
    let hour = match (hour, is_late, is_early) {
        (1..=11, true, _) => hour + 12,
        (12, _, true) => 0,
        _ => hour,
    };
    (hour < 24 && minute < 60).then(|| format!(" {TIME}{hour:02}h{minute:02} "))
}

fn number(found: &Captures<'_>, name: &str) -> Option<u32> {
    let word = found.name(name)?.as_str();
    word.parse().ok().or_else(|| super::numbers::chinese_number(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, form: &str) {
        assert_eq!(normalized(text).split_whitespace().collect::<Vec<_>>().join(" "), form);
    }

    #[test]
    fn all_ways_become_one() {
        for way in
            ["March 5", "Mar 5th", "the 5th of March", "5 march", "3月5日", "3 月 5 号", "三月五日"]
        {
            check(way, "date:0000-03-05");
        }
        for way in ["2027-03-05", "2027/3/5", "March 5, 2027", "5 March 2027", "2027年3月5日"] {
            check(way, "date:2027-03-05");
        }
        for way in ["3pm", "3:00 PM", "15:00", "下午3点", "下午三点", "3 p.m."] {
            check(way, "clock:15h00");
        }
        check("上午10点半", "clock:10h30");
        check("12am", "clock:00h00");
        check("晚上十一点", "clock:23h00");
    }

    #[test]
    fn what_is_none_stays() {
        check("2027-13-05", "2027-13-05");
        check("version 1.2.3 on 10 may", "version 1.2.3 on date:0000-05-10");
        check("maybe 5 of them", "maybe 5 of them");
        check("marching 5", "marching 5");
    }
}
