//! Names folded at the beginning they share: `read{File,Line}`.

/// A shared beginning is at least this long, or the braces cost what they save.
const SHORTEST: usize = 4;

/// The names in their order, those next to each other that begin alike folded. They must be sorted.
pub(super) fn folded(names: &[&str]) -> String {
    let mut shown = Vec::new();
    let mut rest = names;
    while let Some((first, others)) = rest.split_first() {
        let prefix = others.first().map_or("", |second| shared(first, second));
        let run =
            others.iter().take_while(|name| !prefix.is_empty() && parts_at(name, prefix)).count();
        let (group, after) = rest.split_at_checked(run + 1).unwrap_or((rest, &[]));
        shown.push(group_of(prefix, group));
        rest = after;
    }
    shown.join(" ")
}

fn group_of(prefix: &str, group: &[&str]) -> String {
    match group {
        [one] => (*one).to_owned(),
        many => {
            let ends: Vec<&str> =
                many.iter().map(|name| name.get(prefix.len()..).unwrap_or_default()).collect();
            format!("{prefix}{{{}}}", ends.join(","))
        }
    }
}

/// The beginning that two names share, up to the end of a word in both; empty if it is too short.
fn shared<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let end = (SHORTEST..=same).rev().find(|end| {
        one.get(..*end).is_some_and(|prefix| parts_at(one, prefix) && parts_at(other, prefix))
    });
    end.and_then(|end| one.get(..end)).unwrap_or_default()
}

/// Whether a name begins so, and a new word begins behind it.
fn parts_at(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| {
        prefix.ends_with(['_', '-', ':'])
            || rest.is_empty()
            || rest.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::super::unfold::unfold;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn shared_beginnings_stand_once() {
        assert_eq!(
            folded(&["aB", "readFile", "readLine", "readLines", "x_y"]),
            "aB read{File,Line,Lines} x_y"
        );
        assert_eq!(folded(&["MetadataDir", "MetadataDirAbs"]), "MetadataDir{,Abs}");
        assert_eq!(folded(&["test_one", "test_two", "testing"]), "test_{one,two} testing");
        assert_eq!(folded(&[]), "");
    }

    proptest! {
        #[test]
        fn what_is_folded_can_be_unfolded(names in prop::collection::btree_set("[a-b]{2,3}(_[a-b]{1,2}|[A-B][a-b]{1,2}){1,3}", 1..20)) {
            let sorted: Vec<&str> = names.iter().map(String::as_str).collect();
            let text = folded(&sorted);
            prop_assert!(text.len() <= sorted.join(" ").len());
            let mut found: BTreeSet<String> = text.split(' ').map(str::to_owned).collect();
            unfold(&text, &mut |name| found.extend([name.to_owned()]));
            prop_assert!(names.is_subset(&found), "{text}: {names:?} {found:?}");
        }
    }
}
