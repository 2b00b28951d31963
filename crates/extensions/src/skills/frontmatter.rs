//! The frontmatter of a `SKILL.md`.

use dormouse_base::nearest_name;
use dormouse_frontmatter::{self as frontmatter, FrontmatterFields, FrontmatterProblem, Value};
use dormouse_permissions::PermissionRule;
use thiserror::Error;

use super::skill::SkillCallers;

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
/// Keys that are only information.
const INFORMATION: &[&str] = &["license", "compatibility", "metadata", "version", "author"];
/// Keys of the public format that have no effect here.
const UNSUPPORTED: &[&str] =
    &["model", "effort", "context", "agent", "background", "paths", "shell"];
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 1_536;
const MAX_HINT: usize = 200;

/// The parsed frontmatter.
#[derive(Debug)]
pub(super) struct SkillHeader {
    pub(super) description: String,
    pub(super) hint: Option<String>,
    pub(super) callers: SkillCallers,
    pub(super) allowed: Vec<PermissionRule>,
    pub(super) hooks: Option<Value>,
    pub(super) arguments: Vec<String>,
    pub(super) ignored: Vec<String>,
}

/// Why the frontmatter is invalid.
#[derive(Debug, Error)]
pub(super) enum SkillHeaderError {
    #[error(transparent)]
    Frontmatter(#[from] FrontmatterProblem),
    #[error("no instructions below the frontmatter")]
    Empty,
}

impl SkillHeaderError {
    /// The line, if the problem is in one.
    pub(super) fn line(&self) -> Option<u64> {
        match self {
            Self::Frontmatter(FrontmatterProblem::Unclosed) => Some(1),
            Self::Frontmatter(FrontmatterProblem::NoMapping) => Some(2),
            Self::Frontmatter(FrontmatterProblem::Yaml { line, .. }) => Some(*line),
            Self::Empty => None,
        }
    }
}

pub(super) fn parse_header(folder_name: &str, text: &str) -> Result<SkillHeader, SkillHeaderError> {
    let parsed = frontmatter::parse(text);
    if let Some(problem) = parsed.problem {
        return Err(problem.into());
    }
    let fields = parsed.fields;
    let body = parsed.body.trim();
    if body.is_empty() {
        return Err(SkillHeaderError::Empty);
    }
    let mut ignored = unused(&fields, folder_name);
    let allowed = allowed(&fields, &mut ignored);
    if body.contains("!`") {
        ignored.push("commands marked with !`…` are not run".to_owned());
    }
    Ok(SkillHeader {
        description: description(&fields, body),
        hint: hint(&fields),
        callers: callers(&fields, &mut ignored),
        allowed,
        hooks: fields.get("hooks").cloned(),
        arguments: words(&fields, "arguments"),
        ignored,
    })
}

/// In one line, for the list of skills.
fn description(fields: &FrontmatterFields, body: &str) -> String {
    let parts = [fields.text("description"), fields.text("when_to_use")];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    let first_line = || body.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let text = if parts.is_empty() {
        first_line().unwrap_or_default().to_owned()
    } else {
        parts.join(" ")
    };
    on_one_line(&text, MAX_DESCRIPTION)
}

pub(super) fn on_one_line(text: &str, max_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max_chars) {
        None => line,
        Some((end, _)) => format!("{}…", line.split_at(end).0.trim_end()),
    }
}

/// `[issue]` is a YAML list, but meant as text.
fn hint(fields: &FrontmatterFields) -> Option<String> {
    let hint = match fields.get("argument-hint")? {
        Value::Text(text) => text.clone(),
        list @ Value::List(_) => format!("[{}]", list.texts().join(", ")),
        Value::Map(_) => return None,
    };
    Some(on_one_line(&hint, MAX_HINT)).filter(|hint| !hint.is_empty())
}

fn callers(fields: &FrontmatterFields, ignored: &mut Vec<String>) -> SkillCallers {
    let mut flag = |key: &str, default: bool| match fields.text(key) {
        None => default,
        Some("true") => true,
        Some("false") => false,
        Some(other) => {
            ignored.push(format!("`{key}: {other}` is neither true nor false"));
            default
        }
    };
    match (flag("user-invocable", true), flag("disable-model-invocation", false)) {
        (true, false) => SkillCallers::Both,
        (true, true) => SkillCallers::User,
        (false, false) => SkillCallers::Model,
        (false, true) => SkillCallers::Nobody,
    }
}

/// The items of a list, or of a text separated by blanks or commas.
fn words(fields: &FrontmatterFields, key: &str) -> Vec<String> {
    match fields.get(key) {
        Some(Value::Text(text)) => split_words(text),
        Some(list @ Value::List(_)) => list.texts().into_iter().map(str::to_owned).collect(),
        Some(Value::Map(_)) | None => Vec::new(),
    }
}

/// Splits a text at blanks and commas outside of parentheses: `Read, Bash(git diff:*)`.
fn split_words(text: &str) -> Vec<String> {
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

/// Fields without effect.
fn unused(fields: &FrontmatterFields, folder_name: &str) -> Vec<String> {
    let mut ignored = Vec::new();
    for key in fields.keys().filter(|key| !USED.contains(key) && !INFORMATION.contains(key)) {
        let known = USED.iter().chain(UNSUPPORTED).map(|known| (*known).to_owned());
        let similar = nearest_name(key, known).filter(|_| !UNSUPPORTED.contains(&key));
        let hint = similar.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
        ignored.push(format!("`{key}` has no effect{hint}"));
    }
    if let Some(name) = fields.text("name").filter(|name| *name != folder_name) {
        ignored.push(format!("`name: {name}` has no effect: the name of the folder is used"));
    }
    ignored
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(front: &str) -> SkillHeader {
        parse_header("deploy", &format!("---\n{front}\n---\n# Deploy\n\nShip it.\n")).unwrap()
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
        assert_eq!((head.callers, head.ignored.len()), (SkillCallers::User, 0));
    }

    #[test]
    fn fields_without_effect_are_reported() {
        let head = head(
            "name: other\nmodel: opus\nallowed-tool: Bash\nallowed-tools: [Bash(]\nuser-invocable: maybe",
        );
        let ignored = head.ignored.join("\n");
        for expected in [
            "`name: other` has no effect",
            "`model` has no effect\n",
            "`allowed-tool` has no effect (did you mean `allowed-tools`?)",
            "`allowed-tools`: `Bash(` is not a rule",
            "`user-invocable: maybe` is neither true nor false",
        ] {
            assert!(ignored.contains(expected), "{expected}: {ignored}");
        }
        assert_eq!((head.callers, head.description.as_str()), (SkillCallers::Both, "Ship it."));
    }

    #[test]
    fn an_invalid_header_is_reported_with_its_line() {
        for (text, line, problem) in [
            ("---\nname: x\nno end", Some(1), "no closing"),
            ("---\nname: x\nbad: [a\n---\nbody", Some(3), "cannot be read"),
            ("---\n- a\n---\nbody", Some(2), "`key: value`"),
            ("---\nname: x\n---\n\n", None, "no instructions"),
            ("", None, "no instructions"),
        ] {
            let error = parse_header("x", text).unwrap_err();
            assert!(error.to_string().contains(problem), "{text}: {error}");
            assert_eq!(error.line(), line, "{text}");
        }
    }
}
