//! Inserts arguments and folders into a skill's text.
//!
//! Invariant: one pass from front to back; text inside an argument is never expanded.

use super::frontmatter::on_one_line;

/// The values to insert.
#[derive(Debug, Clone, Copy)]
pub(super) struct SkillValues<'a> {
    /// The text after the skill's name.
    pub(super) arguments: &'a str,
    /// The names of single arguments.
    pub(super) names: &'a [String],
    /// The skill's folder.
    pub(super) folder: &'a str,
    /// The session's id.
    pub(super) session: &'a str,
    /// The plugin's folder, for a skill of a plugin.
    pub(super) plugin: Option<&'a str>,
}

/// Replaces the placeholders in a text. Arguments without a placeholder are appended.
pub(super) fn insert_values(text: &str, values: SkillValues<'_>) -> String {
    let words = shlex::split(values.arguments)
        .unwrap_or_else(|| values.arguments.split_whitespace().map(str::to_owned).collect());
    let mut out = String::new();
    let mut rest = text;
    let mut used_arguments = false;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        match placeholder(after, values, &words) {
            Some(Placeholder { value, length, is_argument }) => {
                out.push_str(&value);
                used_arguments |= is_argument;
                rest = after.get(length..).unwrap_or_default();
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    if !used_arguments && !values.arguments.trim().is_empty() {
        out.push_str(&format!("\n\nARGUMENTS: {}", values.arguments));
    }
    out
}

/// A placeholder after a `$`.
struct Placeholder {
    value: String,
    /// Its bytes, without the `$`.
    length: usize,
    is_argument: bool,
}

fn placeholder(after: &str, values: SkillValues<'_>, words: &[String]) -> Option<Placeholder> {
    let plugin = values.plugin.map(|root| ("{CLAUDE_PLUGIN_ROOT}", root));
    let folders = [("{CLAUDE_SKILL_DIR}", values.folder), ("{CLAUDE_SESSION_ID}", values.session)];
    for (name, value) in folders.into_iter().chain(plugin) {
        if after.starts_with(name) {
            return Some(Placeholder {
                value: value.to_owned(),
                length: name.len(),
                is_argument: false,
            });
        }
    }
    let name: String =
        after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let argument =
        |value: &str, length| Placeholder { value: value.to_owned(), length, is_argument: true };
    if name == "ARGUMENTS" {
        let tail = after.get(name.len()..).unwrap_or_default();
        let single = tail.strip_prefix('[').and_then(|inner| inner.split_once(']'));
        return Some(
            match single.and_then(|(number, _)| Some((number, number.parse::<usize>().ok()?))) {
                Some((digits, at)) => {
                    let value = words.get(at).map_or("", String::as_str);
                    argument(value, name.len() + digits.len() + 2)
                }
                None => argument(values.arguments, name.len()),
            },
        );
    }
    if let Some(at) = values.names.iter().position(|known| *known == name) {
        return Some(argument(words.get(at).map_or("", String::as_str), name.len()));
    }
    // `$1` without such an argument may belong to a script: it stays.
    let at: usize = name.parse().ok()?;
    words.get(at).map(|value| argument(value, name.len()))
}

/// The text up to a number of characters, with a note where the rest is.
pub(super) fn truncate(text: String, max_chars: usize, file: &str) -> String {
    match text.char_indices().nth(max_chars) {
        None => text,
        Some((end, _)) => {
            let kept = text.split_at(end).0;
            let lines = kept.lines().count();
            format!(
                "{kept}\n[truncated after about {lines} lines: Read shows the rest, in {}]",
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
        let values = SkillValues {
            arguments,
            names: &names,
            folder: "/s/n",
            session: "id",
            plugin: Some("/p"),
        };
        assert_eq!(insert_values(text, values), expected);
    }

    #[test]
    fn arguments_are_inserted_once() {
        check("Fix $ARGUMENTS now.", "a b", "Fix a b now.");
        check("$0-$1 $ARGUMENTS[1] $target", "'a b' c", "a b-c c a b");
        check("${CLAUDE_SKILL_DIR}/x ${CLAUDE_SESSION_ID}", "", "/s/n/x id");
        check("${CLAUDE_PLUGIN_ROOT}/x", "", "/p/x");
        // Text inside an argument is not expanded.
        check(
            "Say $ARGUMENTS",
            "$ARGUMENTS $0 ${CLAUDE_SKILL_DIR} $",
            "Say $ARGUMENTS $0 ${CLAUDE_SKILL_DIR} $",
        );
        check("$0", "$1 b", "$1");
        check("$ARGUMENTS", "an 'open quote", "an 'open quote");
    }

    #[test]
    fn other_text_stays() {
        check("awk '{print $1}' $HOME $$ ${OTHER} $", "", "awk '{print $1}' $HOME $$ ${OTHER} $");
        check("$ARGUMENTSX $ARGUMENTS[x] $ARGUMENTS[9]", "", "$ARGUMENTSX [x] ");
        check("cost $5", "one", "cost $5\n\nARGUMENTS: one");
        check("睡$ARGUMENTS鼠", "冬", "睡冬鼠");
        check("no placeholder", "", "no placeholder");
    }

    #[test]
    fn a_long_text_is_truncated_with_a_note() {
        let text = truncate("睡\n".repeat(100), 50, "/s/SKILL.md");
        assert!(text.starts_with("睡\n睡\n") && text.contains("in /s/SKILL.md]"), "{text}");
        assert_eq!(truncate("短".into(), 1, "f"), "短");
    }
}
