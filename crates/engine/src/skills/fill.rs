//! Arguments and places, put into a skill's text.
//!
//! Invariant: one pass from front to back; nothing in an argument is ever looked at again.

use super::head::on_one_line;

/// What is put in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    /// What stands behind the name.
    pub(super) arguments: &'a str,
    /// The names of single ones.
    pub(super) names: &'a [String],
    /// The skill's folder.
    pub(super) folder: &'a str,
    /// The session.
    pub(super) session: &'a str,
    /// The plugin's folder, where it is a plugin's.
    pub(super) plugin: Option<&'a str>,
}

/// Fills a text in. Arguments that it has no place for are added at its end.
pub(super) fn fill(text: &str, given: Given<'_>) -> String {
    let words = shlex::split(given.arguments)
        .unwrap_or_else(|| given.arguments.split_whitespace().map(str::to_owned).collect());
    let (mut out, mut rest, mut took) = (String::new(), text, false);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        match place(after, given, &words) {
            Some(Place { value, length, is_argument }) => {
                out.push_str(&value);
                took |= is_argument;
                rest = after.get(length..).unwrap_or_default();
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    if !took && !given.arguments.trim().is_empty() {
        out.push_str(&format!("\n\nARGUMENTS: {}", given.arguments));
    }
    out
}

/// What stands behind a `$`.
struct Place {
    value: String,
    /// Bytes that it takes, without the `$`.
    length: usize,
    is_argument: bool,
}

fn place(after: &str, given: Given<'_>, words: &[String]) -> Option<Place> {
    let plugin = given.plugin.map(|root| ("{CLAUDE_PLUGIN_ROOT}", root));
    let places = [("{CLAUDE_SKILL_DIR}", given.folder), ("{CLAUDE_SESSION_ID}", given.session)];
    for (name, value) in places.into_iter().chain(plugin) {
        if after.starts_with(name) {
            return Some(Place { value: value.to_owned(), length: name.len(), is_argument: false });
        }
    }
    let name: String =
        after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let argument =
        |value: &str, length| Place { value: value.to_owned(), length, is_argument: true };
    if name == "ARGUMENTS" {
        let behind = after.get(name.len()..).unwrap_or_default();
        let single = behind.strip_prefix('[').and_then(|inner| inner.split_once(']'));
        return Some(
            match single.and_then(|(number, _)| Some((number, number.parse::<usize>().ok()?))) {
                Some((digits, at)) => {
                    let value = words.get(at).map_or("", String::as_str);
                    argument(value, name.len() + digits.len() + 2)
                }
                None => argument(given.arguments, name.len()),
            },
        );
    }
    if let Some(at) = given.names.iter().position(|known| *known == name) {
        return Some(argument(words.get(at).map_or("", String::as_str), name.len()));
    }
    // `$1` may be a script's own: where there is no such argument, it is.
    let at: usize = name.parse().ok()?;
    words.get(at).map(|value| argument(value, name.len()))
}

/// The text, cut if it is longer than there is room for; the rest can be read in its file.
pub(super) fn within(text: String, most_chars: usize, file: &str) -> String {
    match text.char_indices().nth(most_chars) {
        None => text,
        Some((end, _)) => {
            let kept = text.split_at(end).0;
            let lines = kept.lines().count();
            format!(
                "{kept}\n[cut here, after about {lines} lines: Read shows the rest, in {}]",
                on_one_line(file, 4_096)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, arguments: &str, expected: &str) {
        let names = ["target".to_owned()];
        let given =
            Given { arguments, names: &names, folder: "/s/n", session: "id", plugin: Some("/p") };
        assert_eq!(fill(text, given), expected);
    }

    #[test]
    fn arguments_are_put_in_once() {
        check("Fix $ARGUMENTS now.", "a b", "Fix a b now.");
        check("$0-$1 $ARGUMENTS[1] $target", "'a b' c", "a b-c c a b");
        check("${CLAUDE_SKILL_DIR}/x ${CLAUDE_SESSION_ID}", "", "/s/n/x id");
        check("${CLAUDE_PLUGIN_ROOT}/x", "", "/p/x");
        // Nothing in an argument is looked at again.
        check(
            "Say $ARGUMENTS",
            "$ARGUMENTS $0 ${CLAUDE_SKILL_DIR} $",
            "Say $ARGUMENTS $0 ${CLAUDE_SKILL_DIR} $",
        );
        check("$0", "$1 b", "$1");
        check("$ARGUMENTS", "an 'open quote", "an 'open quote");
    }

    #[test]
    fn what_is_no_place_stays() {
        check("awk '{print $1}' $HOME $$ ${OTHER} $", "", "awk '{print $1}' $HOME $$ ${OTHER} $");
        check("$ARGUMENTSX $ARGUMENTS[x] $ARGUMENTS[9]", "", "$ARGUMENTSX [x] ");
        check("cost $5", "one", "cost $5\n\nARGUMENTS: one");
        check("睡$ARGUMENTS鼠", "冬", "睡冬鼠");
        check("no place", "", "no place");
    }

    #[test]
    fn a_long_text_is_cut_and_says_where_the_rest_is() {
        let text = within("睡\n".repeat(100), 50, "/s/SKILL.md");
        assert!(text.starts_with("睡\n睡\n") && text.contains("in /s/SKILL.md]"), "{text}");
        assert_eq!(within("短".into(), 1, "f"), "短");
    }
}
