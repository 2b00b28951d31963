//! Definitions as people write them, right and wrong.

use super::*;

fn read(text: &str) -> (Option<AgentDefinition>, Vec<String>) {
    let mut problems = Vec::new();
    let path = Path::new("/a/x.md");
    let definition = parse_markdown_agent(path, text, AgentOrigin::User, &mut problems);
    (definition, problems.iter().map(ToString::to_string).collect())
}

#[test]
fn every_key() {
    let (definition, problems) = read(concat!(
        "---\nname: code-reviewer\ndescription: Reads changes\n  and says what is wrong.\n",
        "tools: Read, Grep\ndisallowedTools: [Bash]\nmodel: inherit\neffort: high\nmaxTurns: 12\nmemory:\n  scope: project\n",
        "color: blue\nbackground: true\nisolation: worktree\npermissionMode: plan\nskills: [style]\ninitialPrompt: Begin.\n",
        "mcpServers:\n  docs:\n    command: docs\n    args: [a]\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: ./x\n          timeout: 5\n---\n",
        "You review.\n"
    ));
    assert_eq!(problems, Vec::<String>::new());
    let agent = definition.unwrap();
    assert_eq!(agent.description, "Reads changes and says what is wrong.");
    assert_eq!(agent.tools, AgentTools::Only(vec!["Read".into(), "Grep".into()]));
    assert_eq!((agent.disallowed.len(), agent.model.max_turns), (1, Some(12)));
    assert_eq!((agent.memory, agent.isolation), (Some(MemoryScope::Project), Isolation::Worktree));
    assert_eq!((agent.mode, agent.background), (Some(PermissionMode::Plan), true));
    assert_eq!(agent.extensions.mcp_servers["docs"]["args"][0], "a");
    assert_eq!(agent.extensions.hooks["PreToolUse"][0]["hooks"][0]["timeout"], 5);
    assert_eq!(
        (agent.prompt.as_str(), agent.initial_prompt.as_deref()),
        ("You review.", Some("Begin."))
    );
}

#[test]
fn both_ways_to_say_memory() {
    for (front, scope) in [
        ("memory: local", Some(MemoryScope::Local)),
        ("memory: {scope: user}", Some(MemoryScope::User)),
        ("memory: none", None),
    ] {
        let (agent, _) = read(&format!("---\nname: a\ndescription: d\n{front}\n---\nbody"));
        assert_eq!(agent.unwrap().memory, scope, "{front}");
    }
}

#[test]
fn each_mistake_is_told_with_its_line() {
    for (text, expected) in [
        ("---\nname: x\nno end", "/a/x.md:1: the frontmatter has no closing"),
        ("just text", "/a/x.md:1: no frontmatter"),
        ("---\nname: x\nbad: [a\n---\nb", "/a/x.md:3: the frontmatter cannot be read"),
        ("---\ndescription: d\n---\nb", "/a/x.md: `name` is missing"),
        ("---\nname: a\n---\nb", "/a/x.md: `description` is missing"),
        ("---\nname: A b\ndescription: d\n---\nb", "/a/x.md:2: `A b` is not a valid agent name"),
        ("---\nname: a\ndescription: d\n---\n\n", "/a/x.md: no prompt"),
        ("---\nname: a\ndescription: [d]\n---\nb", "/a/x.md:3: `description` must be a text"),
        (
            "---\nname: a\ndescription: d\nmaxTurns: many\n---\nb",
            "/a/x.md:4: `maxTurns: many` is not a positive number",
        ),
        (
            "---\nname: a\ndescription: d\nmemory: team\n---\nb",
            "/a/x.md:4: `memory: team` is not one of",
        ),
        ("---\nname: a\ndescription: d\nisolation: vm\n---\nb", "/a/x.md:4: `isolation: vm`"),
        (
            "---\nname: a\ndescription: d\npermissionMode: yolo\n---\nb",
            "/a/x.md:4: `permissionMode: yolo`",
        ),
        ("---\nname: a\ndescription: d\nhooks: no\n---\nb", "/a/x.md:4: `hooks` must be a mapping"),
        (
            "---\nname: a\ndescription: d\ntools: {a: b}\n---\nb",
            "/a/x.md:4: `tools` must be a list",
        ),
    ] {
        let (agent, problems) = read(text);
        assert!(agent.is_none(), "{text}");
        assert!(problems.iter().any(|said| said.starts_with(expected)), "{text}: {problems:?}");
    }
}

#[test]
fn what_has_no_effect_is_said_and_the_agent_loads() {
    for (front, expected) in [
        ("tool: Read", "/a/x.md:4: `tool` has no effect; did you mean `tools`?"),
        ("color: mauve", "/a/x.md:4: `color: mauve` is not one of"),
        ("tools: Read, Wriite", "/a/x.md:4: `tools`: unknown tool `Wriite`; did you mean `Write`?"),
        ("background: maybe", "/a/x.md:4: `background: maybe` is neither"),
    ] {
        let (agent, problems) = read(&format!("---\nname: a\ndescription: d\n{front}\n---\nbody"));
        assert!(agent.is_some(), "{front}");
        assert!(problems.iter().any(|said| said.starts_with(expected)), "{front}: {problems:?}");
    }
}

#[test]
fn the_same_in_the_settings() {
    let mut problems = Vec::new();
    let object =
        serde_json::json!({"description": "d", "prompt": "p", "tools": ["Read"], "maxTurns": 3});
    let place = Path::new("/s.json");
    let agent = parse_settings_agent(place, "helper", &object, AgentOrigin::Managed, &mut problems)
        .unwrap();
    assert_eq!((agent.model.max_turns, problems.len()), (Some(3), 0));
    assert!(
        parse_settings_agent(
            place,
            "x",
            &serde_json::json!("no"),
            AgentOrigin::User,
            &mut problems
        )
        .is_none()
    );
    assert!(problems[0].to_string().starts_with("/s.json: agents.x: an object"), "{problems:?}");
}

#[test]
fn a_description_with_a_colon_needs_no_quotation_marks() {
    let (agent, problems) = read(
        "---\nname: a\ndescription: Use this when: it's late. Example: user: \"go\" # now\ntools: Read\n---\nbody",
    );
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(agent.unwrap().description, "Use this when: it's late. Example: user: \"go\" # now");
}
