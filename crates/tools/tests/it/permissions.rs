//! The permission gate with the real tools: modes, rules, paths that leave the project, protected files.

use std::path::Path;

use dormouse_permissions::{
    Access, InternalAccess, PermissionDecision, PermissionGate, PermissionMode, PermissionRequest,
    PermissionRule, PermissionRules, PermissionVerdict,
};
use dormouse_tools::ToolSet;
use serde_json::value::RawValue;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["src", ".git", "sub/.dormouse"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn decide(&self, gate: &PermissionGate, tool: &str, input: &str) -> PermissionDecision {
        let input = RawValue::from_string(input.to_owned()).unwrap();
        let tools = ToolSet::builtin();
        let tool = tools.get(tool).unwrap();
        gate.decide(&tool.permission_request(&input, self.folder.path()))
    }

    /// `Tool argument`: a command for Bash, else a file.
    #[track_caller]
    fn check(&self, gate: &PermissionGate, call: &str, verdict: PermissionVerdict) {
        let (tool, argument) = call.split_once(' ').unwrap();
        let argument = serde_json::Value::from(argument);
        let input = match tool {
            "Bash" => format!(r#"{{"command":{argument}}}"#),
            "Write" => format!(r#"{{"file_path":{argument},"content":"x"}}"#),
            _ => format!(r#"{{"file_path":{argument}}}"#),
        };
        let decision = self.decide(gate, tool, &input);
        assert_eq!(decision.verdict, verdict, "{call}: {}", decision.why);
    }
}

fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> PermissionRules {
    let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
    PermissionRules { allow: parse(allow), ask: parse(ask), deny: parse(deny) }
}

fn gate(mode: PermissionMode, rules: PermissionRules) -> PermissionGate {
    PermissionGate::new(mode, rules)
}

use PermissionVerdict::{Allow, Ask, Deny};

#[test]
fn modes() {
    let place = Place::new();
    let calls = ["Read a.txt", "Bash ls -la", "Bash touch x", "Write src/a.rs"];
    for (mode, verdicts) in [
        (PermissionMode::Default, [Allow, Allow, Ask, Ask]),
        (PermissionMode::AcceptEdits, [Allow, Allow, Ask, Allow]),
        (PermissionMode::Plan, [Allow, Allow, Deny, Deny]),
        (PermissionMode::Bypass, [Allow, Allow, Allow, Allow]),
    ] {
        for (call, verdict) in calls.into_iter().zip(verdicts) {
            place.check(&gate(mode, PermissionRules::default()), call, verdict);
        }
    }
}

#[test]
fn a_rule_is_suggested_that_covers_this_and_little_else() {
    let gate = gate(PermissionMode::Default, PermissionRules::default());
    for (line, rule) in [
        ("cargo test", "Bash(cargo test:*)"),
        ("cargo test -p a", "Bash(cargo test:*)"),
        ("rm a", "Bash(rm a)"),
        ("cargo --version && rm a", "Bash(cargo --version && rm a)"),
        ("git -C x push", "Bash(git -C x push)"),
        ("git commit -m $(date)", "Bash(git commit -m $(date))"),
    ] {
        let input = serde_json::json!({ "command": line }).to_string();
        let place = Place::new();
        let decision = place.decide(&gate, "Bash", &input);
        assert_eq!(decision.rule.to_string(), rule);
    }
}

#[test]
fn what_is_granted_holds_for_the_session_and_in_every_clone() {
    let place = Place::new();
    let gate = gate(PermissionMode::Default, rules(&[], &["Bash(make:*)"], &["Bash(git push:*)"]));
    let clone = gate.clone();
    for rule in ["Bash(cargo test:*)", "Bash(make:*)", "Bash(git push:*)"] {
        clone.grant(rule.parse().unwrap());
    }
    place.check(&gate, "Bash cargo test --all", Allow);
    place.check(&gate, "Bash make all", Allow);
    place.check(&gate, "Bash cargo test && touch x", Ask);
    // What is denied by a rule stays denied.
    place.check(&gate, "Bash git push", Deny);
    clone.set_mode(PermissionMode::Plan);
    place.check(&gate, "Bash cargo test", Deny);
}

#[test]
fn edits_are_accepted_in_further_folders() {
    let (place, other) = (Place::new(), tempfile::tempdir().unwrap());
    let call = format!("Write {}/a.txt", other.path().display());
    let gate = gate(PermissionMode::AcceptEdits, PermissionRules::default());
    place.check(&gate, &call, Ask);
    let gate = gate.with_folders([other.path().to_owned()]);
    place.check(&gate, &call, Allow);
    place.check(&gate, &format!("Write {}/.git/config", other.path().display()), Ask);
}

#[test]
fn accepted_edits_never_cover_files_that_configure_programs() {
    let place = Place::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), place.folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink(".git", place.folder.path().join("innocent")).unwrap();
    let gate = gate(PermissionMode::AcceptEdits, PermissionRules::default());
    for call in [
        "Write .git/hooks/pre-commit",
        "Write .GIT/config",
        "Write innocent/config",
        "Write sub/.dormouse/settings.json",
        "Write .claude/settings.json",
        "Write .bashrc",
        "Edit sub/.zshrc",
        "Write ../outside.txt",
        "Write src/../../outside.txt",
        "Write link/a.txt",
        "Write /etc/passwd",
    ] {
        place.check(&gate, call, Ask);
    }
    place.check(&gate, "Write src/new/deep/file.rs", Allow);
    place.check(&gate, "Edit src/.gitignore", Allow);
}

#[test]
fn rules_for_commands() {
    let place = Place::new();
    let gate = gate(
        PermissionMode::Default,
        rules(&["Bash(cargo test:*)", "Bash(make)"], &[], &["Bash(git push:*)"]),
    );
    place.check(&gate, "Bash cargo test", Allow);
    place.check(&gate, "Bash cargo test --workspace", Allow);
    place.check(&gate, "Bash cargo tester", Ask);
    place.check(&gate, "Bash make", Allow);
    place.check(&gate, "Bash make install", Ask);
    // Each command of a line has to be covered, or only read.
    place.check(&gate, "Bash cargo test && ls", Allow);
    place.check(&gate, "Bash cargo test | tail -5", Allow);
    place.check(&gate, "Bash cargo test && touch x", Ask);
    place.check(&gate, "Bash cargo test > x", Ask);
    place.check(&gate, "Bash cargo test $(touch x)", Ask);
    place.check(&gate, "Bash git push origin", Deny);
    place.check(&gate, "Bash ls && git push", Deny);
}

#[test]
fn a_line_nobody_understands_might_be_what_is_denied() {
    let place = Place::new();
    place.check(
        &gate(PermissionMode::Bypass, rules(&[], &[], &["Bash(git push:*)"])),
        "Bash $(echo git push)",
        Deny,
    );
    place.check(
        &gate(PermissionMode::Bypass, rules(&[], &[], &["Bash(git push:*)"])),
        "Bash $(echo tig | rev) push",
        Ask,
    );
    place.check(
        &gate(PermissionMode::Bypass, PermissionRules::default()),
        "Bash $(echo git push)",
        Allow,
    );
}

#[test]
fn rules_for_files() {
    let place = Place::new();
    std::os::unix::fs::symlink(".env", place.folder.path().join("notes.txt")).unwrap();
    std::fs::File::create_new(place.folder.path().join(".env")).unwrap();
    let gate = gate(
        PermissionMode::Default,
        rules(&["Edit(src/**)"], &["Edit(src/secret/**)"], &["Read(.env)", "Edit(*.lock)"]),
    );
    place.check(&gate, "Edit src/a/b.rs", Allow);
    place.check(&gate, "Write src/a.rs", Allow);
    place.check(&gate, "Edit src/secret/a.rs", Ask);
    place.check(&gate, "Edit src/../a.rs", Ask);
    place.check(&gate, "Edit Cargo.lock", Deny);
    place.check(&gate, "Read .env", Deny);
    place.check(&gate, "Read src/../.env", Deny);
    place.check(&gate, "Read notes.txt", Deny);
    place.check(&gate, "Read other.txt", Allow);
}

#[test]
fn rules_that_are_none() {
    for text in ["", "(x)", "Bash(", "Bash(x", "Ba sh", "Edit([)"] {
        assert!(text.parse::<PermissionRule>().is_err(), "{text}");
    }
    assert_eq!(
        "Bash(git diff:*)".parse::<PermissionRule>().unwrap().to_string(),
        "Bash(git diff:*)"
    );
}

#[test]
fn rules_for_hosts() {
    let place = Place::new();
    let open = |url: &str| format!(r#"{{"url":"{url}"}}"#);
    let gate = gate(
        PermissionMode::Default,
        rules(
            &["WebFetch(domain:*.example.com)", "WebFetch(domain:localhost)"],
            &[],
            &["WebFetch(domain:bad.example.com)"],
        ),
    );
    for (url, verdict) in [
        ("https://docs.example.com/a", Allow),
        ("http://LOCALHOST:8080/", Allow),
        ("https://example.com/", Ask),
        ("https://docs.example.com.evil.test/", Ask),
        ("https://bad.example.com/", Deny),
        ("not an address", Ask),
    ] {
        assert_eq!(place.decide(&gate, "WebFetch", &open(url)).verdict, verdict, "{url}");
    }
    assert_eq!(gate.named_hosts().len(), 2);
    let decision = place.decide(&gate, "WebFetch", &open("https://a.test/x"));
    assert_eq!(decision.rule.to_string(), "WebFetch(domain:a.test)");
    gate.grant(decision.rule);
    assert_eq!(gate.named_hosts().len(), 3);
    for wrong in ["WebFetch(example.com)", "WebFetch(domain:)", "WebFetch(domain:https://x)"] {
        assert!(wrong.parse::<PermissionRule>().is_err(), "{wrong}");
    }
}

#[test]
fn what_must_not_be_read_is_not_read_by_a_command_either() {
    let place = Place::new();
    let gate = gate(
        PermissionMode::Default,
        rules(&["Bash(cat:*)"], &[], &["Read(.env)", "Read(secret/**)"]),
    );
    for call in [
        "Bash cat .env",
        "Bash cat ./src/../.env",
        "Bash head -n1 .env | wc -l",
        "Bash ls && cat secret/a/b",
    ] {
        place.check(&gate, call, Deny);
    }
    place.check(&gate, "Bash cat other.env", Allow);
}

#[test]
fn a_line_that_was_allowed_to_the_letter_runs() {
    let place = Place::new();
    for line in ["echo x > f.txt", "touch $(echo g)", "touch a && rm a", "cat <<E > f\nx\nE"] {
        let gate = gate(PermissionMode::Default, PermissionRules::default());
        place.check(&gate, &format!("Bash {line}"), Ask);
        let input = serde_json::json!({ "command": line }).to_string();
        gate.grant(place.decide(&gate, "Bash", &input).rule);
        place.check(&gate, &format!("Bash {line}"), Allow);
        place.check(&gate, &format!("Bash {line}; rm b"), Ask);
    }
}

#[test]
fn quotes_hide_nothing_from_rules() {
    let place = Place::new();
    let gate = gate(PermissionMode::Default, rules(&["Bash(cargo test:*)"], &[], &[]));
    place.check(&gate, r#"Bash find q -name "'" -exec touch pwned ";" -o -name "'""#, Ask);
    place.check(&gate, r#"Bash sort -k1 -t "'" -o evil -T "'" a"#, Ask);
    place.check(&gate, r#"Bash cargo test "a b" && wc -l "it's""#, Allow);
}

#[test]
fn a_permission_for_files_is_for_where_they_lead() {
    let place = Place::new();
    let outside = tempfile::tempdir().unwrap();
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, place.folder.path().join(name)).unwrap();
    };
    link(&outside.path().join("rc"), "src/notes.rs");
    link(Path::new("../.git"), "src/h");
    let gate = gate(PermissionMode::Default, rules(&["Edit(src/**)"], &[], &[]));
    place.check(&gate, "Write src/notes.rs", Ask);
    place.check(&gate, "Write src/h/hooks/pre-commit", Ask);
    place.check(&gate, "Write src/.git/x", Ask);
    place.check(&gate, "Write src/a.rs", Allow);
}

#[test]
fn always_covers_what_was_shown_and_no_more() {
    let place = Place::new();
    let gate = gate(PermissionMode::Default, PermissionRules::default());
    let grant = |call: &str, input: &str| gate.grant(place.decide(&gate, call, input).rule);
    grant("Bash", r#"{"command":"rm *"}"#);
    place.check(&gate, "Bash rm *", Allow);
    place.check(&gate, "Bash rm -rf x", Ask);
    grant("Write", r#"{"file_path":"**","content":"x"}"#);
    place.check(&gate, "Write src/other.rs", Ask);
    grant("Bash", r#"{"command":"uv run x"}"#);
    place.check(&gate, "Bash uv run rm", Ask);
}

#[test]
fn an_ask_rule_does_not_open_plan_mode() {
    let place = Place::new();
    place.check(
        &gate(PermissionMode::Plan, rules(&[], &["Bash", "Edit"], &[])),
        "Bash rm -rf x",
        Deny,
    );
}

#[test]
fn patterns_are_bounded() {
    let deep = format!("Read({}a{})", "{".repeat(5_000), "}".repeat(5_000));
    assert!(deep.parse::<PermissionRule>().is_err());
}

#[test]
fn in_plan_mode_memory_is_not_written_either() {
    let allow = rules(&["MemorySave", "Bash", "Write", "KillShell"], &[], &[]);
    let gate = gate(PermissionMode::Plan, allow);
    let internal = |denied_in_plan_mode| {
        Access::Internal(InternalAccess {
            reason: "it has a policy of its own",
            denied_in_plan_mode,
        })
    };
    for (name, access, verdict) in [
        ("MemorySave", internal(Some("it writes memory")), Deny),
        ("mcp__x__y", Access::Other, Deny),
        ("ExitPlan", internal(None), Allow),
    ] {
        let decision = gate.decide(&PermissionRequest::new(name, access, Path::new("/")));
        assert_eq!(decision.verdict, verdict, "{name}: {}", decision.why);
    }
    let place = Place::new();
    for (tool, verdict) in [("KillShell", Deny), ("TodoWrite", Allow)] {
        let decision = place.decide(&gate, tool, "{}");
        assert_eq!(decision.verdict, verdict, "{tool}: {}", decision.why);
    }
    place.check(&gate, "Bash touch x", Deny);
    place.check(&gate, "Write src/a.rs", Deny);
}

#[test]
fn rules_of_a_skill_are_weaker_than_those_of_the_user() {
    let place = Place::new();
    let gate = gate(PermissionMode::Default, rules(&[], &["Bash(make:*)"], &["Bash(git push:*)"]));
    gate.add_skill_rules(
        ["Bash(make:*)", "Bash(git push:*)", "Bash(touch:*)"].map(|r| r.parse().unwrap()),
    );
    place.check(&gate, "Bash touch x", Allow);
    place.check(&gate, "Bash make all", Ask);
    place.check(&gate, "Bash git push", Deny);
    gate.set_mode(PermissionMode::Plan);
    place.check(&gate, "Bash touch x", Deny);
    gate.set_mode(PermissionMode::Default);
    gate.clear_skill_rules();
    place.check(&gate, "Bash touch x", Ask);
}

#[test]
fn a_flag_is_the_same_wherever_it_stands() {
    let place = Place::new();
    let bypass = gate(
        PermissionMode::Bypass,
        rules(&[], &["Bash(make * prod)"], &["Bash(git push * --force:*)"]),
    );
    for (line, verdict) in [
        ("git push --force", Deny),
        ("git push --force origin main", Deny),
        ("git push origin main --force", Deny),
        ("cd sub && git push -u origin --force --tags", Deny),
        ("git push --force-with-lease", Allow),
        ("git push origin", Allow),
        ("git stash push --force", Allow),
        ("echo git push --force", Allow),
        ("echo 'git push * --force'", Allow),
        // A line that is not understood: the words count wherever they stand, in their order.
        ("for x in a; do git push $x --force; done", Deny),
        ("make deploy prod", Ask),
        ("make prod", Ask),
        ("make deploy prod now", Allow),
    ] {
        place.check(&bypass, &format!("Bash {line}"), verdict);
    }
    // A permission opens what it says to the letter.
    let allowing = gate(PermissionMode::Default, rules(&["Bash(git push * --tags:*)"], &[], &[]));
    place.check(&allowing, "Bash git push origin --tags", Ask);
}

#[test]
fn restrictions_take_effect_at_once() {
    let place = Place::new();
    let running = gate(PermissionMode::Bypass, rules(&[], &[], &["Bash(rm:*)"]));
    running
        .clone()
        .restrict(vec!["Bash(npm:*)".parse().unwrap()], vec!["Edit(gen/**)".parse().unwrap()]);
    place.check(&running, "Bash npm install", Deny);
    place.check(&running, "Bash rm x", Deny);
    place.check(&running, "Write gen/a.ts", Ask);
    running.restrict(Vec::new(), Vec::new());
    place.check(&running, "Bash npm install", Allow);
    place.check(&running, "Bash rm x", Deny);
}

#[test]
fn rules_for_the_tools_of_mcp_servers() {
    let fits =
        |rule: &str, tool: &str| rule.parse::<PermissionRule>().unwrap().is_for_tool(tool, None);
    for (rule, covered, others) in [
        ("mcp__a", vec!["mcp__a__x", "mcp__a__x__y"], vec!["mcp__ab__x", "Bash"]),
        ("mcp__a__*", vec!["mcp__a__x", "mcp__a__x__y"], vec!["mcp__ab__x", "mcp__a_b__x"]),
        ("mcp__a__x", vec!["mcp__a__x"], vec!["mcp__a__xy", "mcp__a__x__y", "mcp__b__x"]),
        ("mcp__a__x*", vec!["mcp__a__x", "mcp__a__xy"], vec!["mcp__a__y"]),
        ("mcp__*", vec!["mcp__a__x", "mcp__b__y"], vec!["McpCall", "mcp"]),
    ] {
        assert!(covered.iter().all(|tool| fits(rule, tool)), "{rule}");
        assert!(!others.iter().any(|tool| fits(rule, tool)), "{rule}");
    }
    for wrong in ["*", "Bash*", "mcp__a*b", "mcp_*"] {
        assert!(wrong.parse::<PermissionRule>().is_err(), "{wrong}");
    }
}

/// A pattern keeps what it may expand to: it is the parsed command that is judged, not its words quoted again.
#[test]
fn a_pattern_beside_an_allowed_command_is_judged_as_a_pattern() {
    let place = Place::new();
    let gate = gate(PermissionMode::Default, rules(&["Bash(make:*)"], &[], &[]));
    place.check(&gate, "Bash make && cd src && awk *", Ask);
    place.check(&gate, "Bash make && sort *", Ask);
    place.check(&gate, "Bash make; find *", Ask);
    place.check(&gate, "Bash make && uniq src/*", Ask);
    place.check(&gate, "Bash make && sort ./*", Allow);
    place.check(&gate, "Bash make && wc -l src/*.rs", Allow);
}

#[test]
fn a_denied_program_is_denied_behind_others_and_by_its_path() {
    let place = Place::new();
    let gate = gate(
        PermissionMode::Bypass,
        rules(&[], &[], &["Bash(rm:*)", "Bash(git push:*)", "Bash(curl * --upload-file)"]),
    );
    for call in [
        "Bash /bin/rm x",
        "Bash ../../bin/rm x",
        "Bash command rm x",
        "Bash builtin rm x",
        "Bash exec rm x",
        "Bash env rm x",
        "Bash env -i A=1 rm x",
        "Bash nice -n 5 rm x",
        "Bash nohup nice rm x",
        "Bash time -p rm x",
        "Bash timeout 5 rm x",
        "Bash xargs rm",
        "Bash ls | xargs -n1 /bin/rm",
        "Bash find . -exec rm a ';'",
        "Bash sudo -u root rm x",
        "Bash sh -c 'rm x'",
        "Bash bash -c 'ls && rm x'",
        "Bash bash -lc 'sh -c \"rm x\"'",
        "Bash eval rm x",
        "Bash eval 'rm x'",
        "Bash sh -c 'cd a; rm $X'",
        "Bash busybox rm x",
        "Bash r\\m x",
        "Bash git -C . push",
        "Bash git --no-pager push",
        "Bash git -c a=b --git-dir=.git push origin main",
        "Bash git --git-dir .git push",
        "Bash /usr/bin/git push",
        "Bash nice git -C . push",
        "Bash env curl -s --upload-file",
    ] {
        place.check(&gate, call, Deny);
    }
    for call in [
        "Bash git pull",
        "Bash git -C push status",
        "Bash ls rm",
        "Bash env ls",
        "Bash sh -c 'ls x'",
    ] {
        place.check(&gate, call, Allow);
    }
}

/// What each program offers to start something else, beside the use that "always" was meant for.
#[test]
fn always_does_not_cover_what_starts_other_programs() {
    let place = Place::new();
    for (usual, also, escapes) in [
        (
            "cargo test",
            &["cargo test -p a --release -- --nocapture", "cargo test --workspace"][..],
            &[
                "cargo test --config build.rustc-wrapper='x'",
                "cargo test --config=a.toml",
                "cargo test -Zscript",
                "cargo test --manifest-path ../x/Cargo.toml",
                "cargo test *",
            ][..],
        ),
        (
            "go test ./...",
            &["go test -count=1 -v ./a", "go test -run X -race"],
            &[
                "go test -exec ./x",
                "go test --exec=./x",
                "go test -toolexec x ./...",
                "go test -vettool=x",
                "go test -ldflags=-extld=x",
                "go test -modfile=x",
                "go test -overlay x",
                "go test -o x",
            ],
        ),
        ("go build", &["go build ./cmd/a"], &["go build -toolexec=x", "go build -C /x"]),
        (
            "git commit -m x",
            &["git commit -am 'x y'", "git commit --amend --no-edit"],
            &["git commit -S -m x", "git commit --gpg-sign=x", "git commit --gpg", "git commit -p"],
        ),
        (
            "git add a",
            &["git add -A", "git add -u"],
            &["git add -p", "git add --interactive", "git add -e"],
        ),
        (
            "npm test",
            &["npm test -- --watch=false"],
            &[
                "npm test --script-shell=x",
                "npm test --prefix ../x",
                "npm test --node-options=--require=x",
                "npm test -C x",
            ],
        ),
        ("pnpm test", &[], &["pnpm test --config.script-shell=x", "pnpm test --dir /x"]),
        ("yarn test", &[], &["yarn test --cwd x", "yarn test --use-yarnrc x"]),
    ] {
        let gate = gate(PermissionMode::Default, PermissionRules::default());
        let input = serde_json::json!({ "command": usual }).to_string();
        gate.grant(place.decide(&gate, "Bash", &input).rule);
        place.check(&gate, &format!("Bash {usual}"), Allow);
        for line in also {
            place.check(&gate, &format!("Bash {line}"), Allow);
        }
        for line in escapes {
            place.check(&gate, &format!("Bash {line}"), Ask);
            let input = serde_json::json!({ "command": line }).to_string();
            assert!(!place.decide(&gate, "Bash", &input).rule.to_string().contains(":*"), "{line}");
        }
    }
    // A package is somebody else's code, each time another's.
    for line in ["npm install x", "pnpm install x", "yarn install x", "dotnet build -p:X=y"] {
        let gate = gate(PermissionMode::Default, PermissionRules::default());
        let input = serde_json::json!({ "command": line }).to_string();
        assert_eq!(place.decide(&gate, "Bash", &input).rule.to_string(), format!("Bash({line})"));
    }
    let gate = gate(PermissionMode::Default, rules(&["Bash(go test -exec:*)"], &[], &[]));
    place.check(&gate, "Bash go test -exec sudo", Allow);
}
