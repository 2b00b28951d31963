//! Agents below a conversation, and plugins, as their hooks meet them.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::{AgentId, Dir, Environment, SessionId, SettingsSource};
use dormouse_hooks::{HookLayer, HookOrigin, Hooks, PluginPaths, SessionEndReason};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::spending::tests::config;
use crate::{
    Engine, EngineConfig, SessionFolder, SubagentSession, Surroundings, TurnContext, TurnEnd,
};

fn with_hooks(home: &Path, turns: usize, layers: Vec<HookLayer>) -> EngineConfig {
    let (hooks, problems) = Hooks::read(layers);
    assert!(problems.is_empty(), "{problems:?}");
    let mut config = config(home, turns, 1e9);
    config.extensions.hooks = Arc::new(hooks);
    config.tools.environment = Environment::of_process();
    config
}

fn user(hooks: Value) -> HookLayer {
    HookLayer::of_value(HookOrigin::Settings(SettingsSource::User), "settings.json", hooks, None)
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_agent_has_events_of_its_own() {
    dormouse_testkit::needs!("python");
    let home = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/hooks/subagent_stop.py");
    let record =
        json!([{"matcher": "explore", "hooks": [{"command": format!("python3 {script}")}]}]);
    let never = json!([{"hooks": [{"command": "touch wrong"}]}]);
    let hooks = json!({
        "SubagentStart": record,
        "SubagentStop": record,
        "SessionStart": never,
        "UserPromptSubmit": never,
        "Stop": never,
        "SessionEnd": never,
    });
    let config = with_hooks(home.path(), 2, vec![user(hooks)]);
    let project = config.project.clone();
    let around = Surroundings::look(
        &project,
        &Environment::default(),
        &*config.services.clock,
        &config.services.deadlines,
    )
    .await;
    let session = SessionId::generate(&*config.services.ids);
    let side = SubagentSession {
        agent: AgentId::generate(&*config.services.ids),
        agent_type: "explore".to_owned(),
        depth: 1,
        session,
        session_folder: Dir::create(home.path().join(session.to_string())).unwrap(),
    };
    let mut engine = Engine::begin_subagent(config, &side, &around).unwrap();
    let (never, mut sink) = (CancellationToken::new(), |_| ());
    let report = engine
        .run_turn("look", &around, None, &mut TurnContext::new(&never, &mut sink))
        .await
        .unwrap();
    engine.end(SessionEndReason::Other, &mut sink).await;
    // It had not named its sources, and went on.
    assert_eq!((report.end, report.requests), (TurnEnd::Completed, 2));
    let said: Vec<String> =
        engine.conversation().history().messages().iter().map(|m| m.text()).collect();
    assert!(said[0].contains("agents of this project name their sources"), "{said:?}");
    assert!(said.iter().any(|text| text.contains("name your sources")), "{said:?}");
    let told = lines(&project.checkout.join("agents.jsonl"));
    let names: Vec<_> = told.iter().map(|event| event["hook_event_name"].clone()).collect();
    assert_eq!(names, ["SubagentStart", "SubagentStop", "SubagentStop"]);
    for event in &told {
        assert_eq!(event["agent_type"], "explore");
        assert_eq!(event["agent_id"], side.agent.to_string());
        assert_eq!(event["session_id"], session.to_string());
    }
    let stop = &told[1];
    assert_eq!(
        stop["agent_transcript_path"],
        engine.conversation().transcript_path().display().to_string()
    );
    let of_session = home.path().join(format!("{session}.jsonl")).display().to_string();
    assert_eq!(stop["transcript_path"], of_session);
    assert_eq!(
        (&stop["stop_hook_active"], &told[2]["stop_hook_active"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(stop["last_assistant_message"], "well");
    assert!(!project.folder.join("wrong").exists());
}

#[tokio::test]
async fn a_plugins_hooks_know_where_it_is() {
    let home = tempfile::tempdir().unwrap();
    let plugin = PluginPaths {
        name: "lint".to_owned(),
        root: home.path().join("plugin root"),
        data: home.path().join("plugin data"),
    };
    let dir = Dir::create(&plugin.root).unwrap();
    let script = "cat > /dev/null; echo \"$1 $CLAUDE_PLUGIN_ROOT $DORMOUSE_PLUGIN_DATA\" >> \"$CLAUDE_PROJECT_DIR/seen\"";
    dir.replace(&dormouse_base::RelPath::new("hook.sh").unwrap(), script.as_bytes()).unwrap();
    let text = r#"{"description": "x", "hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "sh \"${CLAUDE_PLUGIN_ROOT}/hook.sh\" line"},
        {"type": "command", "command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/hook.sh", "exec"]},
        {"type": "command", "command": "exit 0", "async": "x"}]}]}}"#;
    let file = plugin.root.join("hooks/hooks.json");
    let layer = HookLayer::of_json(HookOrigin::Plugin(plugin.clone()), &file, text);
    let (hooks, problems) = Hooks::read([layer]);
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].to_string(),
        format!(
            "plugin lint, {}, line 4, hooks.Stop[0].hooks[2]: invalid type: string \"x\", expected a boolean",
            file.display()
        )
    );
    let mut config = with_hooks(home.path(), 1, Vec::new());
    config.extensions.hooks = Arc::new(hooks);
    let project = config.project.clone();
    let around = Surroundings::look(
        &project,
        &Environment::default(),
        &*config.services.clock,
        &config.services.deadlines,
    )
    .await;
    let folder = SessionFolder::open(home.path(), &project).unwrap();
    let mut engine = Engine::begin(config, &folder, &around).unwrap();
    let (never, mut sink) = (CancellationToken::new(), |_| ());
    engine.run_turn("hi", &around, None, &mut TurnContext::new(&never, &mut sink)).await.unwrap();
    let seen = std::fs::read_to_string(project.checkout.join("seen")).unwrap();
    let mut seen: Vec<&str> = seen.lines().collect();
    seen.sort_unstable();
    let (root, data) = (plugin.root.display(), plugin.data.display());
    assert_eq!(seen, [format!("exec {root} {data}"), format!("line {root} {data}")]);
}

/// The same words name another file in each.
#[tokio::test]
async fn two_plugins_with_the_same_command_both_run() {
    let home = tempfile::tempdir().unwrap();
    let stop = json!([{"hooks": [{"command": "basename \"${CLAUDE_PLUGIN_ROOT}\" >> \"$CLAUDE_PROJECT_DIR/seen\""}]}]);
    let layers = ["one", "two"].map(|name| {
        let root = home.path().join(name);
        let plugin = PluginPaths { name: name.to_owned(), root: root.clone(), data: root };
        HookLayer::of_value(HookOrigin::Plugin(plugin), "hooks.json", json!({"Stop": stop}), None)
    });
    let config = with_hooks(home.path(), 1, layers.into());
    let project = config.project.clone();
    let around = Surroundings::look(
        &project,
        &Environment::default(),
        &*config.services.clock,
        &config.services.deadlines,
    )
    .await;
    let folder = SessionFolder::open(home.path(), &project).unwrap();
    let mut engine = Engine::begin(config, &folder, &around).unwrap();
    let (never, mut sink) = (CancellationToken::new(), |_| ());
    engine.run_turn("hi", &around, None, &mut TurnContext::new(&never, &mut sink)).await.unwrap();
    let seen = std::fs::read_to_string(project.checkout.join("seen")).unwrap();
    let mut seen: Vec<&str> = seen.lines().collect();
    seen.sort_unstable();
    assert_eq!(seen, ["one", "two"]);
}

/// A file that is no JSON at all keeps nobody else's hooks from running.
#[test]
fn a_plugins_file_that_is_broken_is_told_with_its_line() {
    let plugin = PluginPaths { name: "p".to_owned(), root: "/p".into(), data: "/d".into() };
    let broken = HookLayer::of_json(
        HookOrigin::Plugin(plugin),
        "/p/hooks/hooks.json",
        "{\n\"hooks\": {,}\n}",
    );
    let good = user(json!({"Stop": [{"hooks": [{"command": "true"}]}]}));
    let (hooks, problems) = Hooks::read([broken, good]);
    assert_eq!((hooks.list().count(), problems.len()), (1, 1));
    let said = problems[0].to_string();
    assert!(
        said.starts_with("plugin p, /p/hooks/hooks.json, line 2, hooks: invalid JSON"),
        "{said}"
    );
}
