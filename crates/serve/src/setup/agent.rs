//! The agents that can be set up, with the entries for each of their files.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::config_edit::ConfigEdit;
use super::json_item::JsonItem;
use super::toml_table::TomlTable;
use super::yaml_entry::YamlEntry;

/// Another agent.
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

/// A configuration file and its new entries.
#[derive(Debug)]
pub(super) struct ConfigFile {
    pub(super) file: PathBuf,
    pub(super) edits: Vec<ConfigEdit>,
}

/// The folders of the configuration files, and the command that the agent runs.
#[derive(Debug, Clone)]
pub struct SetupPaths {
    /// Home folder of the user.
    pub home: PathBuf,
    /// Root of the project.
    pub project: PathBuf,
    /// Name or path of the program in the agent's configuration.
    pub program: String,
    /// The words after `hook stop` that have memories extracted; none where they are not.
    pub extract: Option<String>,
}

impl Agent {
    /// Name in arguments and file names.
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

    pub(super) fn config_files(self, paths: &SetupPaths) -> Vec<ConfigFile> {
        let home = &paths.home;
        let program = paths.program.as_str();
        let one = |file: PathBuf, edit: ConfigEdit| vec![ConfigFile { file, edits: vec![edit] }];
        let plain = json!({"command": program, "args": ["mcp"]});
        let servers = |value: &serde_json::Value| member(&["mcpServers"], value);
        match self {
            Self::ClaudeCode => vec![
                ConfigFile { file: home.join(".claude.json"), edits: vec![servers(&plain)] },
                ConfigFile {
                    file: home.join(".claude/settings.json"),
                    edits: hooks(program, paths.extract.as_deref()),
                },
            ],
            Self::Codex => one(
                home.join(".codex/config.toml"),
                ConfigEdit::Toml(TomlTable {
                    parent: "mcp_servers",
                    key: "dormouse",
                    entries: vec![
                        ("command", program.into()),
                        ("args", toml_edit::Array::from_iter(["mcp"]).into()),
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
                one(paths.project.join(".vscode/mcp.json"), member(&["servers"], &value))
            }
        }
    }
}

fn member(path: &'static [&'static str], value: &serde_json::Value) -> ConfigEdit {
    let value = value.to_string();
    ConfigEdit::Json(JsonItem { path, key: Some("dormouse"), value, mark: "dormouse" })
}

/// Entries for the hook events that `dormouse hook` handles.
fn hooks(program: &str, extract: Option<&str>) -> Vec<ConfigEdit> {
    let stop = extract.map_or_else(|| "stop".to_owned(), |words| format!("stop {words}"));
    let events: [(&'static [&'static str], &str); 3] = [
        (&["hooks", "SessionStart"], "session-start"),
        (&["hooks", "UserPromptSubmit"], "prompt"),
        (&["hooks", "Stop"], &stop),
    ];
    let hook = |(path, event): (&'static [&'static str], &str)| {
        let command = json!({"type": "command", "command": format!("{program} hook {event}")});
        let value = json!({"hooks": [command]}).to_string();
        ConfigEdit::Json(JsonItem { path, key: None, value, mark: "dormouse hook " })
    };
    events.into_iter().map(hook).collect()
}

/// The file with comments if it exists, otherwise the usual one.
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
