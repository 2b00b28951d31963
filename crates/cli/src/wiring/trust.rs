//! Project trust: shows what a project's settings would run or allow, asks, and records the answer (L-29).

use std::io::IsTerminal;

use dormouse_base::{Project, SettingsStack, TrustState, TrustStore};
use serde_json::Value;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::input;
use crate::wiring::mcp_project_file;
use crate::wiring::print;
use crate::wiring::world::World;

/// Longer values are truncated; the file has them in full.
const LONGEST_SHOWN: usize = 2_000;

/// The key of a project's skills in the trust list.
pub(crate) const SKILLS: &str = "skills";

/// The key of a project's agents in the trust list.
pub(crate) const AGENTS: &str = "agents";

/// What to do about a project that is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untrusted {
    /// Ask the user.
    Ask,
    /// Continue without its settings, with a notice.
    Tell,
    /// Continue without its settings and without a notice.
    Pass,
}

/// Asks the user. Without a terminal nothing is trusted.
pub(crate) fn ask(
    store: &TrustStore,
    project: &Project,
    stack: &SettingsStack,
    standing: TrustState,
    world: &World,
) -> Result<TrustState, Failure> {
    if !std::io::stdin().is_terminal() {
        tell(stack, standing);
        return Ok(standing);
    }
    list(stack, standing);
    print::note("Trust this project? Answer yes only if you know who wrote it. [y/N]");
    if !input::confirm() {
        print::note("Not trusted: the project's settings can only restrict permissions.");
        return Ok(standing);
    }
    store.grant(project, stack, world.clock.now())?;
    Ok(TrustState::Trusted)
}

pub(crate) fn list(stack: &SettingsStack, standing: TrustState) {
    print::note(match standing {
        TrustState::Changed => {
            "This project's settings have changed since you trusted them. They ask for:"
        }
        TrustState::NotNeeded | TrustState::Undecided | TrustState::Trusted => {
            "This project's settings ask for:"
        }
    });
    for part in stack.trust_requests() {
        for wish in wishes(&part.request) {
            print::note(&format!("  {wish}"));
        }
    }
}

/// Says which settings have no effect.
pub(crate) fn tell(stack: &SettingsStack, standing: TrustState) {
    let mut keys: Vec<String> = Vec::new();
    for wish in stack.trust_requests().iter().flat_map(|part| wishes(&part.request)) {
        let key = wish.split([':', ' ']).next().unwrap_or_default().to_owned();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let keys = keys.join(", ");
    print::note(&match standing {
        TrustState::Changed => msg!("trust-no-effect-changed", keys = keys),
        TrustState::NotNeeded | TrustState::Undecided | TrustState::Trusted => {
            msg!("trust-no-effect", keys = keys)
        }
    });
}

/// What a project asks for, one line each.
pub(crate) fn wishes(waiting: &Value) -> Vec<String> {
    let Value::Object(keys) = waiting else { return Vec::new() };
    let mut lines = Vec::new();
    for (key, value) in keys {
        match (key.as_str(), value) {
            ("hooks", Value::Object(events)) => {
                for (event, groups) in events {
                    let mut commands = Vec::new();
                    collect_commands(groups, &mut commands);
                    if commands.is_empty() {
                        lines.push(format!("hooks: {event}: {}", shown(groups)));
                    }
                    lines
                        .extend(commands.iter().map(|c| format!("hooks: {event} runs {}", cut(c))));
                }
            }
            (SKILLS, Value::Object(skills)) => {
                lines.extend(skills.iter().map(|(name, wish)| skill(name, wish)));
            }
            (mcp_project_file::KEY | mcp_project_file::FILE, Value::Object(servers)) => {
                lines.extend(servers.iter().map(|(name, entry)| server(key, name, entry)));
            }
            (_, Value::Object(fields)) => {
                for (name, value) in fields {
                    // One row per rule: a truncated list cannot be judged.
                    match value {
                        Value::Array(items) => lines.extend(
                            items.iter().map(|item| format!("{key}.{name}: {}", shown(item))),
                        ),
                        value => lines.push(format!("{key}.{name}: {}", shown(value))),
                    }
                }
            }
            _ => lines.push(format!("{key}: {}", shown(value))),
        }
    }
    lines
}

/// A skill: its description, what it allows and runs, and its file.
fn skill(name: &str, wish: &Value) -> String {
    let text = |field: &str| wish.get(field).and_then(Value::as_str).unwrap_or_default();
    let rules = wish.get("allowed-tools").and_then(Value::as_array).cloned().unwrap_or_default();
    let rules: Vec<&str> = rules.iter().filter_map(Value::as_str).collect();
    let allows =
        if rules.is_empty() { String::new() } else { format!("; allows {}", rules.join(", ")) };
    let mut commands = Vec::new();
    if let Some(Value::Object(events)) = wish.get("hooks") {
        events.values().for_each(|groups| collect_commands(groups, &mut commands));
    }
    let runs =
        if commands.is_empty() { String::new() } else { format!("; runs {}", commands.join(", ")) };
    cut(&on_one_row(&format!(
        "skills: {name} ({}){allows}{runs}, in {}",
        text("description"),
        text("file")
    )))
}

/// An MCP server: its command or address, and its whole entry.
fn server(key: &str, name: &str, entry: &Value) -> String {
    let text = |field: &str| entry.get(field).and_then(Value::as_str);
    let what = match (text("command"), text("url")) {
        (Some(command), _) => {
            let args = entry.get("args").map(|args| format!(" {args}")).unwrap_or_default();
            format!("runs {command}{args}")
        }
        (None, Some(url)) => format!("connects to {url}"),
        (None, None) => "has no command".to_owned(),
    };
    cut(&on_one_row(&format!("{key}.{name}: an MCP server that {what}; its entry is {entry}")))
}

fn collect_commands(value: &Value, commands: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_commands(item, commands)),
        Value::Object(fields) => {
            let arguments = fields.get("args").map(|args| format!(" {args}")).unwrap_or_default();
            for name in ["command", "url", "prompt"] {
                let text = fields.get(name).and_then(Value::as_str);
                commands.extend(text.map(|text| format!("{}{arguments}", on_one_row(text))));
            }
            if let (Some(server), Some(tool)) = (fields.get("server"), fields.get("tool")) {
                let input = fields.get("input").map(|input| format!(" with {input}"));
                let input = input.unwrap_or_default();
                commands.push(on_one_row(&format!("the MCP tool {tool} of {server}{input}")));
            }
            if let Some(hooks) = fields.get("hooks") {
                collect_commands(hooks, commands);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A line break in a command must not start a row.
fn on_one_row(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r")
}

fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST_SHOWN {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LONGEST_SHOWN).collect();
    format!("{kept}… (truncated; see the file)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_command_has_its_line() {
        let waiting = json!({
            "env": {"PATH": "/evil"},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}, {"command": "b"},
                {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 1}}]}], "X": 1},
            "contextWindows": 5,
            ".mcp.json": {"mem": {"command": "npx", "args": ["x"]}},
            "mcpServers": {"web": {"type": "http", "url": "http://h"}},
        });
        assert_eq!(
            wishes(&waiting),
            [
                ".mcp.json.mem: an MCP server that runs npx [\"x\"]; its entry is {\"args\":[\"x\"],\"command\":\"npx\"}",
                "contextWindows: 5",
                "env.PATH: \"/evil\"",
                "hooks: Stop runs a",
                "hooks: Stop runs b",
                "hooks: Stop runs the MCP tool \"t\" of \"s\" with {\"a\":1}",
                "hooks: X: 1",
                "mcpServers.web: an MCP server that connects to http://h; its entry is {\"type\":\"http\",\"url\":\"http://h\"}",
            ]
        );
    }
}
