//! The real program against the scripted server: one binary for all end-to-end tests.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod acp;
mod acp_background;
mod acp_commands;
mod acp_files;
mod acp_servers;
mod acp_terminals;
mod agents;
mod agents_attack;
mod agents_interrupted;
mod agents_memory;
mod anchors;
mod bad_input;
mod chinese;
mod compacting;
mod compaction;
mod compaction_by_hand;
mod compaction_faults;
mod compaction_loops;
mod compaction_refused;
mod compaction_restored;
mod compaction_switches;
mod compaction_windows;
mod completions;
mod composer_input;
mod conversation;
mod doctor;
mod dream;
mod dream_harm;
mod dream_lock;
mod dream_talk;
mod effect;
mod embeddings;
mod extraction;
mod extraction_due;
mod faults;
mod figures;
mod first_request;
mod first_run;
mod forks;
mod guards;
mod hardening;
mod hook;
mod hooks;
mod hooks_contract;
mod hooks_events;
mod hooks_kinds;
mod hooks_mcp;
mod hooks_mistakes;
mod instructions;
mod interface;
mod interrupt;
mod layers;
mod layers_of_the_server;
mod mcp;
mod mcp_client;
mod mcp_client_changes;
mod mcp_client_http;
mod mcp_commands;
mod mcp_http;
mod mcp_login;
mod mcp_mean;
mod mcp_prompts;
mod mcp_questions;
mod mcp_servers;
mod memory;
mod memory_attack;
mod memory_cli;
mod memory_in_place;
mod memory_lint;
mod memory_places;
mod memory_rules;
mod memory_session;
mod memory_tool;
mod memory_tool_session;
mod messages;
mod messages_killed;
mod notebook;
mod notes_compaction;
mod other_agents;
mod output;
mod permissions;
mod plan;
mod plugins;
mod poison;
mod profile;
mod profile_sessions;
mod program;
mod provenance_paths;
mod reaper;
mod recall;
mod recall_message;
mod recall_turn;
mod released_home;
mod rewind;
mod sandbox;
mod screens;
mod sections;
mod server_compaction;
mod session_notes;
mod session_notes_harm;
mod sessions;
mod settings;
mod setup;
mod skills;
mod slash_commands;
mod small_models;
mod snapshots;
mod stats;
mod stored;
mod stream_json;
mod talk;
mod talk_looks;
mod talk_memory;
mod talk_questions;
mod team;
mod team_faults;
mod team_secrets;
mod team_server;
mod team_session;
mod tidy;
mod tool_advice;
mod trust;
mod ui;
mod ui_browser;
mod ui_browser_large;
mod ui_client;
mod ui_port;
mod ui_recalled;
mod verbatim;
mod web_search;

#[test]
fn no_test_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in folder.read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Other entries are the folder of snapshots.
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(
            module == "main" || main.contains(&format!("mod {module};")),
            "{name} is in no test binary"
        );
    }
}
