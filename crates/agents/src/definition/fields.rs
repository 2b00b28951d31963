//! Parsing of definitions from the frontmatter of a markdown file or an object in the settings. Both have the same keys;
//! the body of the file, or `prompt`, is the agent's prompt.

use std::path::Path;

use dormouse_base::nearest_name;
use dormouse_conversation::Effort;
use dormouse_conversation::known_tools::KNOWN_TOOLS;
use dormouse_frontmatter::{self as frontmatter, FrontmatterProblem, Value as Field};
use dormouse_model::is_model_family;
use dormouse_permissions::PermissionMode;
use serde_json::{Map, Value};

use crate::tool_access::tool_of_rule;

use super::{
    AgentDefinition, AgentExtensions, AgentModel, AgentModelOptions, AgentOrigin, AgentProblem,
    AgentSource, AgentTools, Isolation, MAX_NAME, MemoryScope,
};

/// The supported keys.
const KEYS: &[&str] = &[
    "name",
    "description",
    "prompt",
    "tools",
    "disallowedTools",
    "model",
    "effort",
    "maxTurns",
    "memory",
    "color",
    "background",
    "isolation",
    "permissionMode",
    "skills",
    "initialPrompt",
    "mcpServers",
    "hooks",
];
const COLORS: &[&str] =
    &["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan", "magenta", "white"];

/// Parses the text of a markdown file.
pub fn parse_markdown_agent(
    path: &Path,
    text: &str,
    origin: AgentOrigin,
    problems: &mut Vec<AgentProblem>,
) -> Option<AgentDefinition> {
    let place = path.display().to_string();
    let parsed = frontmatter::parse(text);
    let unusable =
        |line, problem: String| AgentProblem { place: place.clone(), line, problem, loaded: false };
    if let Some(problem) = parsed.problem {
        let line = match problem {
            FrontmatterProblem::Unclosed => 1,
            FrontmatterProblem::NoMapping => 2,
            FrontmatterProblem::Yaml { line, .. } => line,
        };
        problems.push(unusable(Some(line), problem.to_string()));
        return None;
    }
    if parsed.fields.is_empty() {
        let why = "no frontmatter; an agent needs at least `name` and `description` between two `---` lines";
        problems.push(unusable(Some(1), why.to_owned()));
        return None;
    }
    let fields: Vec<(String, Field)> = parsed
        .fields
        .keys()
        .filter_map(|key| Some((key.to_owned(), parsed.fields.get(key)?.clone())))
        .collect();
    let body = parsed.body.trim();
    let line_of = |key: &str| line_of_key(text, key);
    let mut reader =
        Reader { place: &place, fields: &fields, line_of: &line_of, problems, failed: false };
    let prompt = match body {
        "" => reader.text("prompt").unwrap_or_default(),
        body => body.to_owned(),
    };
    let name = reader.text("name");
    let source = AgentSource { origin, file: Some(path.to_owned()), digest: digest(text) };
    reader.definition(name, &prompt, source)
}

/// Parses an object in the settings: `agents.<name>`.
pub fn parse_settings_agent(
    file: &Path,
    name: &str,
    object: &Value,
    origin: AgentOrigin,
    problems: &mut Vec<AgentProblem>,
) -> Option<AgentDefinition> {
    let place = format!("{}: agents.{name}", file.display());
    let Value::Object(keys) = object else {
        let problem = "an object with `description` and `prompt` is expected".to_owned();
        problems.push(AgentProblem { place, line: None, problem, loaded: false });
        return None;
    };
    let fields: Vec<(String, Field)> =
        keys.iter().map(|(key, value)| (key.clone(), field(value))).collect();
    let line_of = |_: &str| None;
    let mut reader =
        Reader { place: &place, fields: &fields, line_of: &line_of, problems, failed: false };
    let prompt = reader.text("prompt").unwrap_or_default();
    let digest = digest(&object.to_string());
    let source = AgentSource { origin, file: Some(file.to_owned()), digest };
    reader.definition(Some(name.to_owned()), &prompt, source)
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Returns the line number of a key in the frontmatter.
pub(super) fn line_of_key(text: &str, key: &str) -> Option<u64> {
    let matches =
        |line: &&str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let at = text.lines().skip(1).position(|line| matches(&line))?;
    u64::try_from(at).ok().map(|at| at + 2)
}

struct Reader<'a> {
    place: &'a str,
    fields: &'a [(String, Field)],
    line_of: &'a dyn Fn(&str) -> Option<u64>,
    problems: &'a mut Vec<AgentProblem>,
    failed: bool,
}

impl Reader<'_> {
    fn definition(
        mut self,
        name: Option<String>,
        prompt: &str,
        source: AgentSource,
    ) -> Option<AgentDefinition> {
        self.unknown_keys();
        let name = self.checked_name(name);
        let description = self.text("description");
        if description.is_none() {
            self.unusable(
                "description",
                "`description` is missing: the model chooses an agent by it",
            );
        }
        if prompt.trim().is_empty() {
            self.unusable(
                "prompt",
                "no prompt: write one below the frontmatter, or as `prompt` in settings",
            );
        }
        let definition = AgentDefinition {
            name: name.unwrap_or_default(),
            description: one_line(&description.unwrap_or_default()),
            prompt: prompt.trim().to_owned(),
            tools: self.tools(),
            disallowed: self.tool_names("disallowedTools"),
            model: AgentModelOptions {
                choice: self.model(),
                effort: self.effort(),
                max_turns: self.number("maxTurns"),
            },
            memory: self.memory(),
            color: self.one_of("color", COLORS),
            background: self.flag("background"),
            isolation: self.isolation(),
            mode: self.mode(),
            initial_prompt: self.text("initialPrompt"),
            extensions: AgentExtensions {
                skills: self.words("skills"),
                mcp_servers: self.json("mcpServers"),
                hooks: self.json("hooks"),
            },
            source,
        };
        if self.failed {
            // None of the definition is used.
            let own = self.problems.iter_mut().filter(|problem| problem.place == self.place);
            own.for_each(|problem| problem.loaded = false);
            return None;
        }
        Some(definition)
    }

    fn get(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.get(key)? {
            Field::Text(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            Field::List(_) | Field::Map(_) => {
                self.unusable(key, &format!("`{key}` must be a text"));
                None
            }
        }
    }

    fn add_problem(&mut self, key: &str, problem: &str, loaded: bool) {
        let line = (self.line_of)(key);
        let (place, problem) = (self.place.to_owned(), problem.to_owned());
        self.problems.push(AgentProblem { place, line, problem, loaded });
    }

    /// Reports a problem that prevents the agent from loading.
    fn unusable(&mut self, key: &str, problem: &str) {
        self.failed = true;
        self.add_problem(key, problem, false);
    }

    /// Reports a key without effect.
    fn ignored(&mut self, key: &str, problem: &str) {
        self.add_problem(key, problem, true);
    }

    fn unknown_keys(&mut self) {
        let keys: Vec<String> = self.fields.iter().map(|(key, _)| key.clone()).collect();
        for key in keys.iter().filter(|key| !KEYS.contains(&key.as_str())) {
            let meant = nearest_name(key, KEYS.iter().map(|known| (*known).to_owned()));
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            self.ignored(key, &format!("`{key}` has no effect{meant}"));
        }
    }

    fn checked_name(&mut self, name: Option<String>) -> Option<String> {
        let Some(name) = name else {
            self.unusable("name", "`name` is missing");
            return None;
        };
        if is_name(&name) {
            return Some(name);
        }
        let why = format!(
            "`{name}` is not a valid agent name: use lowercase letters, digits, `-` and `_`, at most {MAX_NAME}, a letter first"
        );
        self.unusable("name", &why);
        None
    }

    fn tools(&mut self) -> AgentTools {
        match self.get("tools") {
            None => AgentTools::All,
            Some(Field::Text(text)) if text.trim() == "*" => AgentTools::All,
            Some(_) => AgentTools::Only(self.tool_names("tools")),
        }
    }

    /// Reads tool names and reports unknown ones. Tools of MCP servers are not checked here.
    fn tool_names(&mut self, key: &str) -> Vec<String> {
        let words = self.words(key);
        let known = if words.is_empty() { Vec::new() } else { known_tools() };
        for word in &words {
            let name = tool_of_rule(word);
            let of_servers = name.starts_with("mcp__") || name.ends_with('*');
            if of_servers || known.iter().any(|known| known == name) {
                continue;
            }
            let meant = nearest_name(name, known.iter().cloned());
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            self.ignored(key, &format!("`{key}`: unknown tool `{name}`{meant}"));
        }
        words
    }

    /// Reads a list, or a text separated by whitespace or commas.
    fn words(&mut self, key: &str) -> Vec<String> {
        let words: Vec<String> = match self.get(key) {
            None => return Vec::new(),
            Some(Field::Text(text)) => text
                .split(|c: char| c == ',' || c.is_whitespace())
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
            Some(list @ Field::List(_)) => list.texts().into_iter().map(str::to_owned).collect(),
            Some(Field::Map(_)) => {
                self.unusable(key, &format!("`{key}` must be a list of names"));
                return Vec::new();
            }
        };
        words
    }

    fn model(&mut self) -> AgentModel {
        match self.text("model").as_deref() {
            None | Some("inherit") => AgentModel::Inherit,
            Some("haiku" | "small") => AgentModel::Small,
            Some(family) if is_model_family(family) => AgentModel::Family(family.to_owned()),
            Some(name) => AgentModel::Named(name.to_owned()),
        }
    }

    fn effort(&mut self) -> Option<Effort> {
        let value = self.one_of("effort", &Effort::ALL.map(|(name, _)| name))?;
        Effort::ALL.into_iter().find(|(name, _)| *name == value).map(|(_, effort)| effort)
    }

    fn one_of(&mut self, key: &str, known: &[&str]) -> Option<String> {
        let value = self.text(key)?;
        if known.contains(&value.as_str()) {
            return Some(value);
        }
        self.ignored(key, &format!("`{key}: {value}` is not one of {}", known.join(", ")));
        None
    }

    fn number(&mut self, key: &str) -> Option<u32> {
        let value = self.text(key)?;
        match value.parse() {
            Ok(number) if number > 0 => Some(number),
            Ok(_) | Err(_) => {
                self.unusable(key, &format!("`{key}: {value}` is not a positive number"));
                None
            }
        }
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.text(key).as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => {
                self.ignored(key, &format!("`{key}: {other}` is neither true nor false"));
                false
            }
        }
    }

    /// `memory: project`, or `memory: {scope: project}`.
    fn memory(&mut self) -> Option<MemoryScope> {
        let value = match self.get("memory")? {
            Field::Text(text) => text.clone(),
            Field::Map(keys) => keys
                .iter()
                .find(|(key, _)| key == "scope")
                .and_then(|(_, value)| value.as_text())
                .unwrap_or_default()
                .to_owned(),
            Field::List(_) => String::new(),
        };
        match value.trim() {
            "user" => Some(MemoryScope::User),
            "project" => Some(MemoryScope::Project),
            "local" => Some(MemoryScope::Local),
            "" | "none" | "false" => None,
            other => {
                self.unusable(
                    "memory",
                    &format!("`memory: {other}` is not one of user, project, local"),
                );
                None
            }
        }
    }

    fn isolation(&mut self) -> Isolation {
        match self.text("isolation").as_deref() {
            None | Some("none") => Isolation::None,
            Some("worktree") => Isolation::Worktree,
            Some(other) => {
                self.unusable(
                    "isolation",
                    &format!("`isolation: {other}` is not supported; use `worktree`"),
                );
                Isolation::None
            }
        }
    }

    fn mode(&mut self) -> Option<PermissionMode> {
        match self.text("permissionMode").as_deref()? {
            "default" => Some(PermissionMode::Default),
            "acceptEdits" | "accept-edits" => Some(PermissionMode::AcceptEdits),
            "plan" => Some(PermissionMode::Plan),
            "bypassPermissions" | "bypass" => Some(PermissionMode::Bypass),
            other => {
                self.unusable(
                    "permissionMode",
                    &format!("`permissionMode: {other}` is not one of default, acceptEdits, plan, bypassPermissions"),
                );
                None
            }
        }
    }

    fn json(&mut self, key: &str) -> Value {
        match self.get(key) {
            None => Value::Null,
            Some(value @ (Field::Map(_) | Field::List(_))) => json(value),
            Some(Field::Text(text)) if text.is_empty() => Value::Null,
            Some(Field::Text(_)) => {
                self.unusable(key, &format!("`{key}` must be a mapping"));
                Value::Null
            }
        }
    }
}

/// Returns all tool names except those of MCP servers.
fn known_tools() -> Vec<String> {
    KNOWN_TOOLS.iter().map(|tool| tool.name.to_owned()).collect()
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(plain)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Converts scalars, which are texts in frontmatter, to numbers and booleans where they look like that.
fn json(field: &Field) -> Value {
    match field {
        Field::Text(text) => match text.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => text.parse::<i64>().map_or_else(
                |_| Value::String(text.to_owned()),
                |number| Value::Number(number.into()),
            ),
        },
        Field::List(items) => Value::Array(items.iter().map(json).collect()),
        Field::Map(keys) => Value::Object(
            keys.iter().map(|(key, value)| (key.clone(), json(value))).collect::<Map<_, _>>(),
        ),
    }
}

fn field(value: &Value) -> Field {
    match value {
        Value::Null => Field::Text(String::new()),
        Value::Bool(on) => Field::Text(on.to_string()),
        Value::Number(number) => Field::Text(number.to_string()),
        Value::String(text) => Field::Text(text.clone()),
        Value::Array(items) => Field::List(items.iter().map(field).collect()),
        Value::Object(keys) => {
            Field::Map(keys.iter().map(|(key, value)| (key.clone(), field(value))).collect())
        }
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
