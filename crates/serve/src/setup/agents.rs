//! The agents that can be set up: which file of theirs gets which lines.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::jsonc::JsonItem;
use super::lines::{TomlTable, YamlEntry};

/// An agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code: server and hooks.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// opencode.
    Opencode,
    /// goose.
    Goose,
    /// Cursor.
    Cursor,
    /// VS Code, for one project.
    VsCode,
}

/// One change to one file.
#[derive(Debug, Clone)]
pub(super) enum ConfigEdit {
    Json(JsonItem),
    Toml(TomlTable),
    Yaml(YamlEntry),
}

/// A file, and what goes into it.
#[derive(Debug)]
pub(super) struct ConfigFile {
    pub(super) file: PathBuf,
    pub(super) changes: Vec<ConfigEdit>,
}

/// Where the user's and the project's files are, and how the program is called.
#[derive(Debug, Clone)]
pub struct SetupPaths {
    /// The user's home folder.
    pub home: PathBuf,
    /// The project's root.
    pub project: PathBuf,
    /// The program, as the agent is to call it.
    pub program: String,
}

impl Agent {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
        }
    }

    pub(super) fn targets(self, place: &SetupPaths) -> Vec<ConfigFile> {
        let (home, program) = (&place.home, place.program.as_str());
        let one =
            |file: PathBuf, change: ConfigEdit| vec![ConfigFile { file, changes: vec![change] }];
        let plain = json!({"command": program, "args": ["mcp"]});
        let servers = |value: &serde_json::Value| member(&["mcpServers"], value);
        match self {
            Self::ClaudeCode => vec![
                ConfigFile { file: home.join(".claude.json"), changes: vec![servers(&plain)] },
                ConfigFile { file: home.join(".claude/settings.json"), changes: hooks(program) },
            ],
            Self::Codex => one(
                home.join(".codex/config.toml"),
                ConfigEdit::Toml(TomlTable {
                    header: "mcp_servers.dormouse",
                    parent: "mcp_servers",
                    lines: vec![
                        format!("command = {}", json!(program)),
                        "args = [\"mcp\"]".to_owned(),
                    ],
                }),
            ),
            Self::GeminiCli => one(home.join(".gemini/settings.json"), servers(&plain)),
            Self::Opencode => {
                let value = json!({"type": "local", "command": [program, "mcp"], "enabled": true});
                one(opencode_file(home), member(&["mcp"], &value))
            }
            Self::Goose => one(home.join(".config/goose/config.yaml"), goose(program)),
            Self::Cursor => one(home.join(".cursor/mcp.json"), servers(&plain)),
            Self::VsCode => {
                let value = json!({"type": "stdio", "command": program, "args": ["mcp"]});
                one(place.project.join(".vscode/mcp.json"), member(&["servers"], &value))
            }
        }
    }
}

fn member(path: &'static [&'static str], value: &serde_json::Value) -> ConfigEdit {
    let value = value.to_string();
    ConfigEdit::Json(JsonItem { path, key: Some("dormouse"), value, mark: "dormouse" })
}

/// The events that are answered, as Claude Code has them.
fn hooks(program: &str) -> Vec<ConfigEdit> {
    let events: [(&'static [&'static str], &str); 3] = [
        (&["hooks", "SessionStart"], "session-start"),
        (&["hooks", "UserPromptSubmit"], "prompt"),
        (&["hooks", "Stop"], "stop"),
    ];
    let hook = |(path, event): (&'static [&'static str], &str)| {
        let command = json!({"type": "command", "command": format!("{program} hook {event}")});
        let value = json!({"hooks": [command]}).to_string();
        ConfigEdit::Json(JsonItem { path, key: None, value, mark: "dormouse hook " })
    };
    events.into_iter().map(hook).collect()
}

/// The one that exists, else the usual one.
fn opencode_file(home: &Path) -> PathBuf {
    let folder = home.join(".config/opencode");
    let commented = folder.join("opencode.jsonc");
    if commented.exists() { commented } else { folder.join("opencode.json") }
}

fn goose(program: &str) -> ConfigEdit {
    let lines = [
        "type: stdio".to_owned(),
        "name: dormouse".to_owned(),
        format!("cmd: {}", json!(program)),
        "args: [mcp]".to_owned(),
        "enabled: true".to_owned(),
        "timeout: 300".to_owned(),
    ];
    ConfigEdit::Yaml(YamlEntry { map: "extensions", key: "dormouse", lines: lines.to_vec() })
}
