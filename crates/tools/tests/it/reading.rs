//! What may be read without a question (L-37), and what a rule that denies reading keeps from every tool and command.

use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_permissions::{
    PermissionDecision, PermissionGate, PermissionMode, PermissionRules, PermissionVerdict,
    ReadingScope,
};
use dormouse_tools::ToolSet;
use serde_json::json;
use serde_json::value::to_raw_value;

use PermissionVerdict::{Allow, Ask, Deny};

/// A home with credentials, a project in it, and a folder beside the project.
struct Place {
    home: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        // Not in the temporary folder of the system, which may be read.
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = Self { home };
        for (name, text) in [
            (".ssh/id_ed25519", "key"),
            (".aws/credentials", "key"),
            (".netrc", "key"),
            (".config/gh/hosts.yml", "key"),
            (".cargo/registry/src/a/lib.rs", "source"),
            (".cargo/credentials.toml", "key"),
            ("notes/todo.txt", "private"),
            ("notes/.env", "key"),
            ("work/shop/src/a.rs", "code"),
            ("work/shop/.env", "own"),
            ("work/other/src/b.rs", "code"),
            ("added/c.rs", "code"),
        ] {
            let path = place.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    fn gate(&self, mode: PermissionMode, rules: PermissionRules) -> PermissionGate {
        let project = self.path("work/shop");
        PermissionGate::new(mode, rules)
            .with_folders([self.path("added")])
            .with_reading(ReadingScope::new(Some(self.path("")), [project]))
    }

    fn decide(&self, gate: &PermissionGate, call: &str) -> PermissionDecision {
        let (tool, argument) = call.split_once(' ').unwrap();
        let home = self.path("").display().to_string();
        let argument = argument.replace("HOME", home.trim_end_matches('/'));
        let input = match tool {
            "Bash" => json!({ "command": argument }),
            "Grep" => json!({ "pattern": "x", "path": argument }),
            "Glob" => json!({ "pattern": "*", "path": argument }),
            _ => json!({ "file_path": argument }),
        };
        let tools = ToolSet::builtin();
        let input = to_raw_value(&input).unwrap();
        gate.decide(&tools.get(tool).unwrap().permission_request(&input, &self.path("work/shop")))
    }

    #[track_caller]
    fn check(&self, gate: &PermissionGate, call: &str, verdict: PermissionVerdict) {
        let decision = self.decide(gate, call);
        assert_eq!(decision.verdict, verdict, "{call}: {}", decision.why);
    }
}

fn rules(allow: &[&str], deny: &[&str]) -> PermissionRules {
    let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
    PermissionRules { allow: parse(allow), ask: Vec::new(), deny: parse(deny) }
}

#[test]
fn the_project_and_what_is_no_secret_are_read_without_a_question() {
    let place = Place::new();
    let gate = place.gate(PermissionMode::Default, PermissionRules::default());
    for call in [
        "Read src/a.rs",
        "Read .env",
        "Read ../shop/src/a.rs",
        "Read HOME/added/c.rs",
        "Read HOME/.cargo/registry/src/a/lib.rs",
        "Read /usr/share/missing",
        "Grep .",
        "Glob src",
        "Bash cat src/a.rs .env",
        "Bash cat HOME/added/*.rs",
        "Bash grep -rn x .",
        "Bash grep /api/users src/a.rs",
        "Bash ls ..",
        "Bash echo /etc/passwd ~/.ssh",
        "Bash cat /proc/cpuinfo /etc/os-release",
        "Bash wc -l src/*.rs 2>/dev/null",
    ] {
        place.check(&gate, call, Allow);
    }
}

#[test]
fn reading_outside_asks_once_for_a_folder() {
    let place = Place::new();
    let outside = [
        "Read HOME/notes/todo.txt",
        "Read ../../notes/todo.txt",
        "Grep HOME/notes",
        "Glob ../other",
        "Bash cat HOME/notes/todo.txt",
        "Bash cat ~/notes/todo.txt",
        "Bash cat ../../notes/t*",
        "Bash cd ../other && cat src/b.rs",
        "Bash cd; cat notes/todo.txt",
        "Bash ls && head -n1 ../other/src/b.rs | wc -l",
        "Bash grep -r x ../other",
        "Bash cat /etc/passwd",
    ];
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan] {
        let gate = place.gate(mode, PermissionRules::default());
        for call in outside {
            place.check(&gate, call, Ask);
        }
    }
    let bypass = place.gate(PermissionMode::Bypass, PermissionRules::default());
    for call in outside {
        place.check(&bypass, call, Allow);
    }

    let gate = place.gate(PermissionMode::Default, PermissionRules::default());
    let decision = place.decide(&gate, "Read HOME/notes/todo.txt");
    assert!(decision.why.ends_with("notes/todo.txt, outside the project"), "{}", decision.why);
    gate.allow_reading(decision.reads_folder.unwrap());
    place.check(&gate, "Read HOME/notes/other.txt", Allow);
    place.check(&gate, "Bash cat ~/notes/todo.txt", Allow);
    place.check(&gate, "Bash cd ../other && cat src/b.rs", Ask);
    let rule = place.decide(&gate, "Bash cat ../other/src/b.rs").rule;
    gate.grant(rule);
    place.check(&gate, "Read ../other/src/b.rs", Allow);

    let gate = place.gate(PermissionMode::Default, rules(&["Bash(cat:*)", "Grep"], &[]));
    place.check(&gate, "Bash cat ~/notes/todo.txt", Allow);
    place.check(&gate, "Bash cat src/a.rs && head ~/notes/todo.txt", Ask);
    place.check(&gate, "Grep ../other", Allow);
    place.check(&gate, "Read ../other/src/b.rs", Ask);
}

#[test]
fn credentials_ask_each_time_and_need_a_rule_of_their_own() {
    let place = Place::new();
    std::os::unix::fs::symlink(place.path(".ssh"), place.path("work/shop/keys")).unwrap();
    let calls = [
        "Read HOME/.ssh/id_ed25519",
        "Read keys/id_ed25519",
        "Read HOME/.aws/credentials",
        "Read HOME/.netrc",
        "Read HOME/.gnupg/not-there-yet",
        "Read HOME/.cargo/credentials.toml",
        "Read HOME/notes/.env",
        "Read /etc/shadow",
        "Grep HOME",
        "Grep HOME/.config",
        "Glob HOME/.ssh",
        "Bash cat ~/.ssh/id_ed25519",
        "Bash cat HOME/.ssh/*",
        "Bash cd ~/.ssh && cat id*",
        "Bash cd ~ && cat .ss?/id_ed25519",
        "Bash cat keys/id_ed25519",
        "Bash grep -r token ~",
        "Bash rg --hidden token ~/.config",
        "Bash cp ~/.netrc /tmp/x",
        "Bash base64 -w0 ~/.netrc",
        "Bash cat < ~/.netrc",
        "Bash x=$(cat ~/.netrc)",
        "Bash tar cf - ~",
    ];
    let gate = place.gate(
        PermissionMode::Default,
        rules(
            &["Read", "Grep", "Glob", "Bash(cat:*)", "Bash(cp:*)", "Bash(tar:*)", "Bash(base64:*)"],
            &[],
        ),
    );
    for call in calls {
        place.check(&gate, call, Ask);
        let folder = place.decide(&gate, call).reads_folder;
        assert_eq!(folder, None, "{call}");
    }
    let gate = place.gate(PermissionMode::Default, rules(&["Bash(cat ~/.netrc)"], &[]));
    place.check(&gate, "Bash cat ~/.netrc", Allow);
    let gate = place.gate(PermissionMode::Default, PermissionRules::default());
    gate.grant(place.decide(&gate, "Read HOME/.netrc").rule);
    place.check(&gate, "Read HOME/.netrc", Allow);
    place.check(&gate, "Read HOME/.aws/credentials", Ask);
}

/// The home folder as the project: the keys in it are still not for reading.
#[test]
fn working_in_the_home_folder_does_not_open_its_credentials() {
    let place = Place::new();
    let gate = PermissionGate::new(PermissionMode::Default, PermissionRules::default())
        .with_reading(ReadingScope::new(Some(place.path("")), [place.path("")]))
        .with_folders([place.path("")]);
    place.check(&gate, "Read HOME/notes/todo.txt", Allow);
    place.check(&gate, "Read HOME/.ssh/id_ed25519", Ask);
    place.check(&gate, "Bash cat ~/.aws/credentials", Ask);
}

/// Also where nothing says which folders may be read.
#[test]
fn environments_of_processes_are_not_read() {
    let place = Place::new();
    std::os::unix::fs::symlink("/proc/self", place.path("work/shop/me")).unwrap();
    let gates = [
        PermissionGate::new(PermissionMode::Default, PermissionRules::default()),
        place.gate(PermissionMode::Default, rules(&["Bash(cat:*)"], &[])),
    ];
    for gate in &gates {
        for call in [
            "Bash cat /proc/self/environ",
            "Bash cat /proc/self/envi*",
            "Bash cat /proc/self/[e]nviron",
            "Bash cat /proc/*/e*",
            "Bash cd /proc/self && cat ./e*",
            "Bash cd /proc && cd self && strings ./e*",
            "Bash cat me/e*",
            "Bash cd me/. && cat ./env*",
            "Bash grep -r KEY /proc/self/",
            "Bash grep -ra KEY me/",
            "Bash rg -uu KEY /proc/self",
            "Bash grep -rs KEY /",
            "Bash cat ../../../../../../../../../../../../proc/self/e*",
            "Read /proc/self/environ",
            "Grep /proc/self",
        ] {
            place.check(gate, call, Ask);
        }
        place.check(gate, "Bash cat /proc/cpuinfo", Allow);
    }
}

#[test]
fn a_denied_file_is_out_of_reach_of_every_command() {
    let place = Place::new();
    let project = place.path("work/shop");
    let git = |arguments: &[&str]| {
        let run = Command::new("git").args(arguments).current_dir(&project).output().unwrap();
        assert!(run.status.success(), "{run:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    let gate = place.gate(PermissionMode::Bypass, rules(&[], &["Read(.env)"]));
    for call in [
        "Bash cat .env",
        "Bash cat .en?",
        "Bash cat .*",
        "Bash cat ./.e*",
        "Bash cd src && cat ../.env",
        "Bash cd src && cat ../.e*",
        "Bash cat < .env",
        "Bash echo $(cat .env)",
        "Bash cat <.env>x",
        "Bash grep -r x .",
        "Bash grep -R x",
        "Bash rg --hidden x",
        "Bash git show HEAD:.env",
        "Bash git show :.env",
        "Bash git grep x",
        "Bash git diff",
        "Bash git log -p",
        "Bash git cat-file -p HEAD:.env",
        "Bash tar cf - .",
        "Bash cp -r . /tmp/x",
        "Bash sort --files0-from=.env",
    ] {
        let decision = place.decide(&gate, call);
        assert_eq!(decision.verdict, Deny, "{call}: {}", decision.why);
    }
    for call in [
        "Bash cat src/*",
        "Bash cd src && grep -r x .",
        "Bash git log",
        "Bash git status",
        "Bash ls -a",
    ] {
        place.check(&gate, call, Allow);
    }
    // More names than are looked at one by one.
    let many = project.join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..5_001 {
        std::fs::File::create_new(many.join(format!("f{number}"))).unwrap();
    }
    std::fs::write(many.join("secret"), "own").unwrap();
    let strict = place.gate(PermissionMode::Bypass, rules(&[], &["Read(many/secret)"]));
    place.check(&strict, "Bash cat many/*", Deny);
    git(&["rm", "-q", "--cached", ".env"]);
    place.check(&gate, "Bash git grep x", Allow);
    place.check(&gate, "Bash git diff", Allow);
    let said = place.decide(&gate, "Bash grep -r x .").why;
    assert!(
        said.starts_with("the rule `Read(.env)` denies reading")
            && said.ends_with(", which it can reach"),
        "{said}"
    );
    assert!(Path::new(&project).join(".env").exists());
}
