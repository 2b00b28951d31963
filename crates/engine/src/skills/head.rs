//! What the frontmatter of a `SKILL.md` says.

use dormouse_base::nearest_name;
use dormouse_frontmatter::{self as frontmatter, FrontmatterFields, FrontmatterProblem, Value};
use dormouse_permissions::PermissionRule;

use super::SkillCallers;

/// Keys that have an effect.
const USED: &[&str] = &[
    "name",
    "description",
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "allowed-tools",
    "hooks",
];
/// Keys that are for people.
const QUIET: &[&str] = &["license", "compatibility", "metadata", "version", "author"];
/// Keys of the public format that have no effect here yet.
const LATER: &[&str] = &["model", "effort", "context", "agent", "background", "paths", "shell"];
/// A longer description tells no more.
const LONGEST_DESCRIPTION: usize = 1_536;
const LONGEST_HINT: usize = 200;

/// The head of a skill.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) description: String,
    pub(super) hint: Option<String>,
    pub(super) callers: SkillCallers,
    pub(super) allowed: Vec<PermissionRule>,
    pub(super) hooks: Option<Value>,
    pub(super) arguments: Vec<String>,
    pub(super) ignored: Vec<String>,
}

/// Reads it; else the line, where it is about one, and what is wrong.
pub(super) fn read(folder_name: &str, text: &str) -> Result<Head, (Option<u64>, String)> {
    let parsed = frontmatter::parse(text);
    if let Some(problem) = parsed.problem {
        let line = match problem {
            FrontmatterProblem::Unclosed => 1,
            FrontmatterProblem::NoMapping => 2,
            FrontmatterProblem::Yaml { line, .. } => line,
        };
        return Err((Some(line), problem.to_string()));
    }
    let (fields, body) = (parsed.fields, parsed.body.trim());
    if body.is_empty() {
        return Err((None, "it says nothing below its frontmatter".to_owned()));
    }
    let mut ignored = unused(&fields, folder_name);
    let allowed = allowed(&fields, &mut ignored);
    if body.contains("!`") {
        ignored.push("commands marked with !`…` are not run by the program".to_owned());
    }
    Ok(Head {
        description: description(&fields, body),
        hint: hint(&fields),
        callers: callers(&fields, &mut ignored),
        allowed,
        hooks: fields.get("hooks").cloned(),
        arguments: words(&fields, "arguments"),
        ignored,
    })
}

/// In one line: it stands in a list.
fn description(fields: &FrontmatterFields, body: &str) -> String {
    let said = [fields.text("description"), fields.text("when_to_use")];
    let said: Vec<&str> = said.into_iter().flatten().collect();
    let first_words =
        || body.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let text =
        if said.is_empty() { first_words().unwrap_or_default().to_owned() } else { said.join(" ") };
    on_one_line(&text, LONGEST_DESCRIPTION)
}

pub(super) fn on_one_line(text: &str, most_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most_chars) {
        None => line,
        Some((end, _)) => format!("{}…", line.split_at(end).0.trim_end()),
    }
}

/// `[issue]` is a list to YAML, and a hint to whoever wrote it.
fn hint(fields: &FrontmatterFields) -> Option<String> {
    let hint = match fields.get("argument-hint")? {
        Value::Text(text) => text.clone(),
        list @ Value::List(_) => format!("[{}]", list.texts().join(", ")),
        Value::Map(_) => return None,
    };
    Some(on_one_line(&hint, LONGEST_HINT)).filter(|hint| !hint.is_empty())
}

fn callers(fields: &FrontmatterFields, ignored: &mut Vec<String>) -> SkillCallers {
    let mut flag = |key: &str, unless: bool| match fields.text(key) {
        None => unless,
        Some("true") => true,
        Some("false") => false,
        Some(other) => {
            ignored.push(format!("`{key}: {other}` is neither true nor false"));
            unless
        }
    };
    match (flag("user-invocable", true), flag("disable-model-invocation", false)) {
        (true, false) => SkillCallers::Both,
        (true, true) => SkillCallers::Person,
        (false, false) => SkillCallers::Model,
        (false, true) => SkillCallers::Nobody,
    }
}

/// The words of a list, or of a text with blanks or commas between them.
fn words(fields: &FrontmatterFields, key: &str) -> Vec<String> {
    match fields.get(key) {
        Some(Value::Text(text)) => parted(text),
        Some(list @ Value::List(_)) => list.texts().into_iter().map(str::to_owned).collect(),
        Some(Value::Map(_)) | None => Vec::new(),
    }
}

/// Parts a text at blanks and commas, but not at those in brackets: `Read, Bash(git diff:*)`.
fn parted(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    })
    .filter(|word| !word.is_empty())
    .map(str::to_owned)
    .collect()
}

fn allowed(fields: &FrontmatterFields, ignored: &mut Vec<String>) -> Vec<PermissionRule> {
    let mut rules = Vec::new();
    for word in words(fields, "allowed-tools") {
        match word.parse() {
            Ok(rule) => rules.push(rule),
            Err(error) => ignored.push(format!("`allowed-tools`: {error}")),
        }
    }
    rules
}

/// What the file says without effect.
fn unused(fields: &FrontmatterFields, folder_name: &str) -> Vec<String> {
    let mut said = Vec::new();
    for key in fields.keys().filter(|key| !USED.contains(key) && !QUIET.contains(key)) {
        let known = USED.iter().chain(LATER).map(|known| (*known).to_owned());
        let meant = nearest_name(key, known).filter(|_| !LATER.contains(&key));
        let meant = meant.map_or(String::new(), |meant| format!(" (did you mean `{meant}`?)"));
        said.push(format!("`{key}` has no effect{meant}"));
    }
    if let Some(name) = fields.text("name").filter(|name| *name != folder_name) {
        said.push(format!("`name: {name}` has no effect: it is called by its folder's name"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(front: &str) -> Head {
        read("deploy", &format!("---\n{front}\n---\n# Deploy\n\nShip it.\n")).unwrap()
    }

    #[test]
    fn fields_of_the_public_format() {
        let head = head(concat!(
            "name: deploy\ndescription: Ships\n  the build.\nwhen_to_use: On release day.\n",
            "argument-hint: [target]\nallowed-tools: Read, Bash(git push:*) Bash(make)\narguments: target tag\n",
            "disable-model-invocation: true\nlicense: MIT",
        ));
        assert_eq!(head.description, "Ships the build. On release day.");
        assert_eq!(head.hint.as_deref(), Some("[target]"));
        let rules: Vec<String> = head.allowed.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["Read", "Bash(git push:*)", "Bash(make)"]);
        assert_eq!(head.arguments, ["target", "tag"]);
        assert_eq!((head.callers, head.ignored.len()), (SkillCallers::Person, 0));
    }

    #[test]
    fn what_has_no_effect_is_said() {
        let head = head(
            "name: other\nmodel: opus\nallowed-tool: Bash\nallowed-tools: [Bash(]\nuser-invocable: maybe",
        );
        let said = head.ignored.join("\n");
        for expected in [
            "`name: other` has no effect",
            "`model` has no effect\n",
            "`allowed-tool` has no effect (did you mean `allowed-tools`?)",
            "`allowed-tools`: `Bash(` is not a rule",
            "`user-invocable: maybe` is neither true nor false",
        ] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
        assert_eq!((head.callers, head.description.as_str()), (SkillCallers::Both, "Ship it."));
    }

    #[test]
    fn a_bad_head_is_told_with_its_line() {
        for (text, line, problem) in [
            ("---\nname: x\nno end", Some(1), "no closing"),
            ("---\nname: x\nbad: [a\n---\nbody", Some(3), "can not be read"),
            ("---\n- a\n---\nbody", Some(2), "`key: value`"),
            ("---\nname: x\n---\n\n", None, "says nothing"),
            ("", None, "says nothing"),
        ] {
            let (at, why) = read("x", text).unwrap_err();
            assert!(why.contains(problem), "{text}: {why}");
            assert_eq!(at, line, "{text}");
        }
    }
}
