//! The fields of a memory that are indexed.

use dormouse_search::DocumentField;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::anchor::Anchor;
use crate::entry::Header;

/// The fields of a memory for the index, by weight; type, dates and the files of its anchors last.
pub(crate) fn document_fields<'a>(
    header: &'a Header,
    stem: &'a str,
    body: &'a str,
) -> Vec<(DocumentField, std::borrow::Cow<'a, str>)> {
    let name = header.name.as_deref().unwrap_or(stem);
    let mut fields = vec![(DocumentField::Name, name.into())];
    fields.extend(
        header.description.as_deref().map(|text| (DocumentField::Description, text.into())),
    );
    fields.push((DocumentField::Body, body.into()));
    fields.extend(header.kind.map(|kind| (DocumentField::Type, kind.as_str().into())));
    let dates = header.created.iter().chain(header.modified.iter());
    fields.extend(dates.map(|time| (DocumentField::Date, date_words(*time).into())));
    let anchors = header.anchors.iter().filter_map(|text| Anchor::parse(text));
    let mut files: Vec<String> = anchors.map(|anchor| anchor.path).collect();
    files.sort();
    files.dedup();
    fields.extend(files.into_iter().map(|file| (DocumentField::File, file.into())));
    fields
}

/// A date as users write it in a query: `2026-11-15` is `15 November 2026`.
fn date_words(time: Timestamp) -> String {
    let date = time.to_zoned(TimeZone::UTC).date();
    format!("{} {} {}", date.day(), month_name(date.month()), date.year())
}

fn month_name(month: i8) -> &'static str {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or_default()
}
