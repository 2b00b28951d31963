//! A fork's gate against lists of attacks: shell lines, paths, links, and a link that is swapped in between.

use std::borrow::Cow;
use std::os::unix::fs::symlink;
use std::sync::Mutex;

use dormouse_base::{Dir, Environment, RelPath};
use dormouse_conversation::known_tools::SKILL;
use dormouse_conversation::{ResultContent, ToolUse, ToolUseId};
use dormouse_permissions::{PermissionRule, PermissionRules, PermissionVerdict};
use dormouse_tools::{
    CallContext, CallResult, CallRunner, ResultLimit, ToolClass, ToolError, ToolOutput, ToolSet,
    ToolSpec,
};
use futures_util::future::BoxFuture;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// The lines that the shell's verdict is tested with.
#[path = "../../../permissions/tests/it/shell_lines.rs"]
mod shell_lines;

#[track_caller]
fn check(writes: &Writes, path: &str, expected: bool) {
    assert_eq!(writes.covers(Path::new(path)), expected, "{path}");
}

#[test]
fn a_place_is_that_place() {
    let file = Writes::File("/s/notes.md".into());
    check(&file, "/s/notes.md", true);
    for other in
        ["/s/notes.md.bak", "/s/../s/notes.md", "/s/Notes.md", "/s", "notes.md", "/s/notes.md/x"]
    {
        check(&file, other, false);
    }
    let below = Writes::Below("/m".into());
    check(&below, "/m/a/b.md", true);
    for other in ["/m", "/m/../x", "/m/a/../../x", "/mm/a", "/M/a", "m/a"] {
        check(&below, other, false);
    }
    check(&Writes::Nowhere, "/", false);
}

/// Only reads, as far as its class says.
struct Skill(ToolSpec);

impl Skill {
    fn new() -> Self {
        let (full, short) = (Cow::Borrowed(""), Cow::Borrowed(""));
        let schema = Cow::Borrowed(r#"{"type":"object"}"#);
        let (class, limit) = (ToolClass::ReadOnly, ResultLimit::OwnBound);
        Self(ToolSpec {
            name: Cow::Borrowed(SKILL.name),
            full,
            short,
            schema,
            class,
            limit,
            traits: SKILL.traits,
        })
    }
}

impl Tool for Skill {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _: &'a RawValue,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::text("in use")) })
    }
}

/// A folder that the fork may write to, and something outside that it may not.
struct World {
    root: TempDir,
    tools: Arc<ToolSet>,
    /// What a parent that may do everything has.
    parent: PermissionGate,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["mine", "mine/sub", "outside"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        let outside = Dir::open(root.path().canonicalize().unwrap().join("outside")).unwrap();
        outside.replace(&RelPath::new("kept").unwrap(), b"kept").unwrap();
        let bash = "Bash".parse::<PermissionRule>().unwrap();
        let rules = PermissionRules { allow: vec![bash], ..PermissionRules::default() };
        let tools = ToolSet::builtin().with([Arc::new(Skill::new()) as Arc<dyn Tool>]);
        Self {
            root,
            tools: Arc::new(tools),
            parent: PermissionGate::new(PermissionMode::Bypass, rules),
        }
    }

    fn path(&self, name: &str) -> String {
        self.root.path().canonicalize().unwrap().join(name).display().to_string()
    }

    fn writer(&self) -> ForkGate {
        ForkGate { reads: true, writes: Writes::Below(self.path("mine").into()), tools: &[] }
    }

    /// A call as a fork makes it: through its gate, its guard, and a caller.
    fn call(
        &self,
        gate: &ForkGate,
        guard: Option<Arc<dyn FileGuard>>,
        name: &str,
        input: &serde_json::Value,
    ) -> CallResult {
        let input = RawValue::from_string(input.to_string()).unwrap();
        let tool = self.tools.get(name).unwrap();
        let folder = PathBuf::from(self.path(""));
        let admitted = match gate.admit(&**tool, &input, &folder, &self.parent) {
            Ok(admitted) => admitted,
            Err(denial) => return denied(denial.to_string()),
        };
        let mut context = CallContext::new(&folder, Environment::default(), 1_000);
        context.file_guard =
            Some(Arc::new(ForkGuard { writes: gate.writes.clone(), parent: guard }));
        let (id, caller) =
            (ToolUseId::new("c"), CallRunner::new(Arc::clone(&self.tools), admitted));
        let call = ToolUse { id: &id, name, input: &input };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(caller.run(call, &context))
    }

    /// Nothing outside the fork's folder is other than it was.
    #[track_caller]
    fn outside_is_as_it_was(&self, what: &str) {
        let names = |folder: &str| {
            let entries = self.root.path().join(folder).read_dir().unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        };
        assert_eq!(names("outside"), ["kept"], "{what}");
        assert_eq!(names("").len(), 2, "{what}: {:?}", names(""));
        let kept = std::fs::read_to_string(self.root.path().join("outside/kept")).unwrap();
        assert_eq!(kept, "kept", "{what}");
    }
}

fn denied(why: String) -> CallResult {
    CallResult {
        content: ResultContent::Text(why),
        is_error: true,
        is_interrupted: false,
        spilled: None,
        verdict: Some(PermissionVerdict::Deny),
        notes: Vec::new(),
        halt: None,
        changed: None,
    }
}

/// Every line that does harm, for a fork of a parent that may run anything.
#[test]
fn shell_lines_that_do_harm_are_denied() {
    let world = World::new();
    for line in shell_lines::HARMFUL {
        let input = json!({ "command": line });
        for gate in [ForkGate::nothing(), world.writer()] {
            let result = world.call(&gate, None, "Bash", &input);
            assert_eq!(
                (result.verdict, result.is_error),
                (Some(PermissionVerdict::Deny), true),
                "{line}"
            );
        }
    }
    world.outside_is_as_it_was("shell");
    let input = json!({"command": "cat outside/kept"});
    assert!(!world.call(&world.writer(), None, "Bash", &input).is_error, "reading is allowed");
    assert!(world.call(&ForkGate::nothing(), None, "Bash", &input).is_error);
}

#[test]
fn paths_that_lead_outside_are_denied() {
    let world = World::new();
    let (mine, outside) = (world.path("mine"), world.path("outside"));
    symlink(&outside, format!("{mine}/folder")).unwrap();
    symlink(format!("{outside}/kept"), format!("{mine}/file")).unwrap();
    symlink(format!("{outside}/new"), format!("{mine}/dangling")).unwrap();
    symlink("folder", format!("{mine}/twice")).unwrap();
    symlink(&mine, format!("{mine}/sub/round")).unwrap();
    let paths = [
        format!("{mine}/../outside/kept"),
        format!("{mine}/sub/../../outside/kept"),
        format!("{mine}/folder/kept"),
        format!("{mine}/folder/new"),
        format!("{mine}/file"),
        format!("{mine}/dangling"),
        format!("{mine}/twice/kept"),
        format!("{mine}/sub/round/../../outside/kept"),
        format!("/proc/self/root{outside}/kept"),
        format!("{}/kept", world.path("Mine")),
        format!("{}/kept", world.path("MINE")),
        format!("{outside}/kept"),
        "outside/kept".to_owned(),
        "../kept".to_owned(),
        "~/kept".to_owned(),
        format!("{mine}\0/kept"),
        format!("{mine}%2f..%2foutside%2fkept/"),
        mine.clone(),
        format!("{mine}/"),
        String::new(),
    ];
    for path in paths {
        for (name, input) in [
            ("Write", json!({"file_path": path, "content": "harm"})),
            ("Edit", json!({"file_path": path, "old_string": "kept", "new_string": "harm"})),
        ] {
            let result = world.call(&world.writer(), None, name, &input);
            assert!(result.is_error, "{name} {path:?}: {result:?}");
        }
        world.outside_is_as_it_was(&path);
    }
    // What is inside may be written, in new folders too.
    for path in [format!("{mine}/a.md"), format!("{mine}/sub/b/c.md")] {
        let input = json!({"file_path": path, "content": "fine"});
        let result = world.call(&world.writer(), None, "Write", &input);
        assert!(!result.is_error, "{path}: {result:?}");
        assert!(world.call(&ForkGate::nothing(), None, "Write", &input).is_error);
    }
}

/// Makes a link of the folder, after everybody has looked at the path and before it is written.
struct Swaps {
    folder: PathBuf,
    to: PathBuf,
    done: Mutex<u32>,
    /// Which look is the last.
    at: u32,
}

impl FileGuard for Swaps {
    fn route(&self, _: &Path) -> FileRoute {
        let mut done = self.done.lock().unwrap();
        *done += 1;
        if *done == self.at {
            std::fs::remove_dir_all(&self.folder).unwrap();
            symlink(&self.to, &self.folder).unwrap();
        }
        FileRoute::Plain
    }
}

#[test]
fn a_link_that_is_swapped_in_between_is_no_way_out() {
    for at in 1..=2 {
        for file in ["kept", "new"] {
            let world = World::new();
            let swaps = Swaps {
                folder: world.path("mine/sub").into(),
                to: world.path("outside").into(),
                done: Mutex::new(0),
                at,
            };
            let path = world.path(&format!("mine/sub/{file}"));
            let input = json!({"file_path": path, "content": "harm"});
            let result = world.call(&world.writer(), Some(Arc::new(swaps)), "Write", &input);
            assert!(Path::new(&world.path("mine")).join("sub").is_symlink(), "it was swapped");
            assert!(result.is_error, "{at} {file}: {result:?}");
            world.outside_is_as_it_was(file);
        }
    }
}

/// What is no reading and has no place of its own is denied, and the model is told what it can do.
#[test]
fn everything_else_is_denied_with_a_reason() {
    let world = World::new();
    let fetch = world.call(
        &world.writer(),
        None,
        "WebFetch",
        &json!({"url": "http://127.0.0.1:9/", "prompt": "x"}),
    );
    let ResultContent::Text(why) = fetch.content else { panic!("text") };
    assert!(
        why.contains("WebFetch may not be called here") && why.contains("You can read and search"),
        "{why}"
    );
    // A skill in use would lend its rules to the parent.
    let skill = world.call(&world.writer(), None, "Skill", &json!({"skill": "deploy"}));
    assert_eq!(skill.verdict, Some(PermissionVerdict::Deny), "{skill:?}");
    let read = json!({"file_path": "outside/kept"});
    assert!(!world.call(&world.writer(), None, "Read", &read).is_error);
    let ResultContent::Text(why) = world.call(&ForkGate::nothing(), None, "Read", &read).content
    else {
        panic!("text")
    };
    assert!(why.contains("answer in text, with what you know already"), "{why}");
    // A rule of the user's holds for forks.
    let deny = PermissionRules {
        deny: vec!["Read(outside/**)".parse::<PermissionRule>().unwrap()],
        ..PermissionRules::default()
    };
    let strict = World { parent: PermissionGate::new(PermissionMode::Bypass, deny), ..world };
    let result = strict.call(&strict.writer(), None, "Read", &read);
    assert_eq!(result.verdict, Some(PermissionVerdict::Deny), "{result:?}");
}
