//! Sessions that change files by tools and by commands, rewound to each of their messages: the tree is what it was, byte for
//! byte.
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests change files as tools and commands would"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use dormouse_base::{Dir, MessageId, SeededIds, SystemClock};
use dormouse_checkpoint::{
    Checkpoints, ContentStore, Rewind, RewindObstacle, RewindPlan, RewindRequest, RewindScope,
    RewindTarget, load_log, net_changes, remove_old_checkpoints,
};
use tempfile::TempDir;

/// Every path below a folder, with its mode and content; git's own files left out.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

struct Session {
    keep: TempDir,
    checkpoints: Checkpoints,
    ids: SeededIds,
    line: u64,
    points: Vec<(RewindTarget, Tree)>,
}

impl Session {
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let project = keep.path().join("project");
        fs::create_dir(&project).unwrap();
        let session = Dir::create(keep.path().join("session")).unwrap();
        let clock = Arc::new(SystemClock::default());
        let checkpoints = Checkpoints::new(session, &[project], None, clock);
        Self {
            keep,
            checkpoints,
            ids: SeededIds::new(Arc::new(SystemClock::default()), 7),
            line: 0,
            points: Vec::new(),
        }
    }

    fn in_git() -> Self {
        let session = Self::new();
        session.git(&["init", "-q", "-b", "main"]);
        session
    }

    fn path(&self, name: &str) -> PathBuf {
        self.keep.path().join("project").join(name)
    }

    fn session(&self) -> Dir {
        Dir::open(self.keep.path().join("session")).unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.path("."), arguments)
    }

    fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        collect(&self.path("."), &mut tree);
        tree
    }

    /// A turn: what the tools write, and what a command does.
    fn turn(&mut self, work: impl FnOnce(&Self)) {
        self.line += 10;
        let id = MessageId::generate(&self.ids);
        self.points.push((RewindTarget { message: id, line: self.line }, self.tree()));
        self.checkpoints.begin_turn(id, self.line);
        work(self);
        self.checkpoints.end_turn();
    }

    /// A tool writes a file.
    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        self.checkpoints.before_write(&path);
        self.put(name, content);
        self.checkpoints.after_write(&path);
    }

    /// A command runs.
    fn command(&self, work: impl FnOnce(&Self)) {
        self.checkpoints.before_command();
        work(self);
        self.checkpoints.after_command();
    }

    fn shell(&self, line: &str) {
        self.command(|session| {
            let run =
                Command::new("sh").args(["-ec", line]).current_dir(session.path(".")).output();
            let run = run.unwrap();
            assert!(run.status.success(), "{line}: {run:?}");
        });
    }

    fn plan(&self, line: u64) -> RewindPlan {
        let turns = load_log(&self.session()).unwrap();
        RewindPlan::make(&turns, line, Some(&self.path("."))).unwrap()
    }

    fn rewind(&mut self, target: RewindTarget, overwrite: bool) -> Vec<PathBuf> {
        let plan = self.plan(target.line);
        self.line += 10;
        let id = MessageId::generate(&self.ids);
        self.points.push((RewindTarget { message: id, line: self.line }, self.tree()));
        let request = RewindRequest { target, scope: RewindScope::Code, overwrite };
        let rewind = Rewind::begin(&self.session(), &plan, request, id, self.line).unwrap();
        let report = rewind.restore_files().unwrap();
        rewind.finish().unwrap();
        report.skipped.into_iter().map(|skipped| skipped.path).collect()
    }

    /// Goes back to every point, the newest first, then to every point again in another order.
    fn rewind_to_each(&mut self) {
        let points = self.points.clone();
        let newest_first = points.iter().rev();
        for (target, tree) in newest_first.chain(points.iter()) {
            assert_eq!(self.plan(target.line).with_obstacle(RewindObstacle::NotKept).count(), 0);
            let skipped = self.rewind(*target, false);
            assert_eq!(skipped, Vec::<PathBuf>::new());
            same(&self.tree(), tree, target.line);
        }
    }
}

fn same(now: &Tree, then: &Tree, line: u64) {
    let differing: Vec<&PathBuf> =
        now.keys().chain(then.keys()).filter(|path| now.get(*path) != then.get(*path)).collect();
    assert!(differing.is_empty(), "at {line}: {differing:?}");
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let run = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(run.status.success(), "git {arguments:?}: {run:?}");
    String::from_utf8(run.stdout).unwrap()
}

fn collect(folder: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_symlink() {
            path.read_link().unwrap().into_os_string().into_encoded_bytes()
        } else if metadata.is_dir() {
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        tree.insert(path.clone(), (metadata.permissions().mode(), content));
        if metadata.is_dir() {
            collect(&path, tree);
        }
    }
}

fn everything(session: &mut Session) {
    session.turn(|session| {
        session.write("src/new/deep.rs", "fn deep() {}\n");
        session.write("src/a.rs", "fn a() { 1 }\n");
    });
    session.turn(|session| {
        session.shell("sed -i 's/fn/pub fn/' src/*.rs; rm src/b.rs; mv src/c.rs src/d.rs");
    });
    session.turn(|_| {});
    session.turn(|session| {
        session.shell(
            "chmod 755 src/a.rs; ln -s a.rs src/link; mkdir -p out/empty; printf x > '文 件'",
        );
        session.write("src/a.rs", "fn a() { 2 }\n");
        session.shell("rm -r src/new; printf 'fn a() { 3 }\\n' > src/a.rs; ln -sfn d.rs src/link");
    });
    session.turn(|session| {
        session.shell(
            "rm src/d.rs; mkdir src/d.rs; printf y > src/d.rs/inside; rm -r out; printf z > out",
        );
    });
    session.turn(|session| {
        // Within one tick of the clock, with the same size.
        session.shell("printf 'fn a() { 4 }\\n' > src/a.rs");
        session.shell("printf 'fn a() { 5 }\\n' > src/a.rs");
        session.write("src/a.rs", "fn a() { 6 }\n");
    });
}

fn sources(session: &Session) {
    for (name, text) in [("a", "fn a() {}\n"), ("b", "fn b() {}\n"), ("c", "fn c() {}\n")] {
        session.put(&format!("src/{name}.rs"), text);
    }
}

#[test]
fn a_folder_without_git() {
    let mut session = Session::new();
    sources(&session);
    everything(&mut session);
    session.rewind_to_each();
}

#[test]
fn a_repository_with_committed_staged_and_untracked_files() {
    let mut session = Session::in_git();
    sources(&session);
    session.put(".gitignore", "target/\n");
    session.git(&["add", "-A"]);
    session.git(&["commit", "-qm", "one"]);
    session.put("src/b.rs", "fn b() { dirty }\n");
    session.put("src/c.rs", "fn c() { staged }\n");
    session.git(&["add", "src/c.rs"]);
    session.put("notes.txt", "untracked\n");
    everything(&mut session);
    session.rewind_to_each();
}

#[test]
fn a_formatter_a_generator_and_a_checkout_over_many_files() {
    let mut session = Session::in_git();
    for number in 0..500 {
        session.put(&format!("src/m{}/f{number}.rs", number % 7), &format!("fn f{number}(){{}}\n"));
    }
    session.git(&["add", "-A"]);
    session.git(&["commit", "-qm", "one"]);
    session.git(&["checkout", "-qb", "other"]);
    for number in 0..200 {
        session.put(&format!("src/m{}/f{number}.rs", number % 7), "fn other() {}\n");
    }
    session.put("only-there.txt", "x");
    session.git(&["rm", "-q", "src/m0/f357.rs"]);
    session.git(&["add", "-A"]);
    session.git(&["commit", "-qm", "two"]);
    session.git(&["checkout", "-q", "main"]);
    session.turn(|session| session.shell("find src -name '*.rs' -exec sed -i 's/(){/() {/' {} +"));
    session.turn(|session| session.shell("git checkout -q -f other"));
    session.turn(|session| {
        session.shell("mkdir gen; for n in $(seq 300); do echo $n > gen/$n.txt; done");
    });
    session.turn(|session| session.shell("git stash -q -u; git gc -q --prune=now"));
    let (first, _) = session.points[0];
    let plan = session.plan(first.line);
    let (then, now) = (plan.moved_from.unwrap(), plan.head.unwrap());
    assert!(then.starts_with("main ") && now.starts_with("other "), "{then} {now}");
    session.rewind_to_each();
}

#[test]
fn a_large_file_of_gits_does_not_cost_the_others() {
    let mut session = Session::in_git();
    session.put("b.bin", &"large".repeat(3 * 1024 * 1024));
    for name in ["a", "c", "d", "e"] {
        session.put(name, &format!("{name} as committed\n"));
    }
    let hour = std::time::Duration::from_hours(1);
    for name in ["a", "b.bin", "c", "d", "e"] {
        let file = fs::File::options().append(true).open(session.path(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - hour).unwrap();
    }
    session.git(&["add", "-A"]);
    session.git(&["commit", "-qm", "one"]);
    session.turn(|session| session.shell("for f in a b.bin c d e; do echo x > $f; done"));
    let plan = session.plan(session.points[0].0.line);
    let lost: Vec<_> =
        plan.with_obstacle(RewindObstacle::NotKept).map(|lost| lost.path.clone()).collect();
    assert_eq!(lost, [session.path("b.bin")]);
    session.rewind(session.points[0].0, false);
    for name in ["a", "c", "d", "e"] {
        let text = fs::read_to_string(session.path(name)).unwrap();
        assert_eq!(text, format!("{name} as committed\n"));
    }
}

#[test]
fn worktrees_and_submodules() {
    let mut session = Session::new();
    let library = session.keep.path().join("library");
    fs::create_dir(&library).unwrap();
    git_in(&library, &["init", "-q"]);
    fs::write(library.join("lib.c"), "int x;\n").unwrap();
    git_in(&library, &["add", "-A"]);
    git_in(&library, &["commit", "-qm", "one"]);
    let main = session.keep.path().join("main");
    fs::create_dir(&main).unwrap();
    git_in(&main, &["init", "-q"]);
    fs::write(main.join("a.c"), "int a;\n").unwrap();
    git_in(&main, &["submodule", "-q", "add", library.to_str().unwrap(), "deps/library"]);
    git_in(&main, &["add", "-A"]);
    git_in(&main, &["commit", "-qm", "one"]);
    let project = session.path("");
    git_in(&main, &["worktree", "add", "-q", "-f", project.to_str().unwrap(), "-b", "side"]);
    session.git(&["submodule", "-q", "update", "--init"]);
    session
        .turn(|session| session.shell("echo 'int y;' >> deps/library/lib.c; echo 'int b;' >> a.c"));
    session.turn(|session| {
        session.shell("rm deps/library/lib.c; echo n > deps/library/new.c; rm a.c");
    });
    session.rewind_to_each();
}

#[test]
fn line_ends_that_git_converts_come_back_as_they_were() {
    let mut session = Session::in_git();
    session.put(".gitattributes", "*.bat eol=crlf\n*.id ident\n");
    session.put("run.bat", "echo one\r\necho two\r\n");
    session.put("version.id", "$Id$\n");
    session.put("plain.txt", "one\ntwo\n");
    session.git(&["add", "-A"]);
    session.git(&["commit", "-qm", "one"]);
    fs::remove_file(session.path("version.id")).unwrap();
    session.git(&["checkout", "-q", "version.id"]);
    assert_eq!(session.git(&["status", "--short"]), "");
    session.turn(|session| {
        session.shell("printf x > run.bat; printf y > plain.txt; printf z > version.id");
    });
    session.rewind_to_each();
}

#[test]
fn what_the_user_changed_is_named_and_left() {
    let mut session = Session::new();
    session.put("a", "1");
    session.put("b", "1");
    session.put("c", "1");
    session.turn(|session| {
        session.write("a", "2");
        session.write("b", "2");
        session.shell("printf 2 > c");
    });
    session.put("b", "the user's own");
    session.put("d", "the user's own too");
    session.turn(|session| session.write("b", "3"));
    session.put("c", "edited after");
    let first = session.points[0].0;
    let plan = session.plan(first.line);
    let named: Vec<_> = plan
        .with_obstacle(RewindObstacle::ChangedSince)
        .map(|change| change.path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(named, ["b", "c"]);
    session.rewind(first, false);
    let read = |name: &str| fs::read_to_string(session.path(name)).unwrap();
    assert_eq!(
        [read("a"), read("b"), read("c"), read("d")],
        ["1", "3", "edited after", "the user's own too"]
    );
    // Confirmed: overwritten, and the rewind itself can be taken back.
    session.rewind(first, true);
    let read = |name: &str| fs::read_to_string(session.path(name)).unwrap();
    assert_eq!([read("a"), read("b"), read("c"), read("d")], ["1", "1", "1", "the user's own too"]);
    let (rewind, tree) = session.points.last().unwrap().clone();
    session.rewind(rewind, false);
    same(&session.tree(), &tree, rewind.line);
}

#[test]
fn links_on_the_way_are_not_followed() {
    let mut session = Session::new();
    session.put("inner/a", "1");
    let outside = session.keep.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "2").unwrap();
    session.turn(|session| session.write("inner/a", "2"));
    fs::remove_dir_all(session.path("inner")).unwrap();
    symlink(&outside, session.path("inner")).unwrap();
    let target = session.points[0].0;
    let skipped = session.rewind(target, true);
    assert_eq!(skipped, [session.path("inner/a")]);
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "2");
}

#[test]
fn build_output_is_left_out_and_said() {
    let mut session = Session::new();
    session.put("src/a", "1");
    fs::create_dir(session.path("build")).unwrap();
    for number in 0..8 {
        let file = fs::File::create(session.path(&format!("build/{number}.o"))).unwrap();
        file.set_len(128 * 1024 * 1024).unwrap();
    }
    session.turn(|session| {
        session.shell("printf 2 > src/a");
        let notices = session.checkpoints.take_notices().join("\n");
        assert!(
            notices.contains("8 files (1073.7 MB, most of it in") && notices.contains("build"),
            "{notices}"
        );
        session.shell("rm build/3.o; printf 3 > src/a");
    });
    assert_eq!(session.checkpoints.take_notices(), Vec::<String>::new());
    let plan = session.plan(session.points[0].0.line);
    let lost: Vec<_> =
        plan.with_obstacle(RewindObstacle::NotKept).map(|lost| lost.path.clone()).collect();
    assert_eq!(lost, [session.path("build/3.o")]);
    session.rewind(session.points[0].0, false);
    assert_eq!(fs::read_to_string(session.path("src/a")).unwrap(), "1");
    let kept =
        Command::new("du").args(["-sk"]).arg(session.keep.path().join("session")).output().unwrap();
    let kilobytes: u64 =
        String::from_utf8(kept.stdout).unwrap().split('\t').next().unwrap().parse().unwrap();
    assert!(kilobytes < 500, "{kilobytes}");
}

#[test]
fn a_turn_that_changes_nothing_leaves_nothing() {
    let mut session = Session::new();
    session.put("a", "1");
    session.turn(|_| {});
    assert!(!session.keep.path().join("session/checkpoints").exists());
    session.turn(|session| session.shell("cat a; touch a"));
    let turns = load_log(&session.session()).unwrap();
    assert_eq!(net_changes(&turns).len(), 0);
}

#[test]
fn contents_are_private_and_go_after_thirty_days() {
    let mut session = Session::new();
    session.put(".env", "KEY=1");
    session.turn(|session| session.write(".env", "KEY=2"));
    let mut tree = Tree::new();
    collect(&session.keep.path().join("session"), &mut tree);
    for (path, (mode, _)) in &tree {
        assert_eq!(mode & 0o077, 0, "{path:?}");
    }
    let project = Dir::open(session.keep.path()).unwrap();
    let now = std::time::SystemTime::now();
    assert_eq!(remove_old_checkpoints(&project, now).unwrap(), 0);
    let later = now + std::time::Duration::from_hours(31 * 24);
    assert_eq!(remove_old_checkpoints(&project, later).unwrap(), 1);
    assert!(!session.keep.path().join("session/checkpoints").exists());
}

#[test]
fn a_damaged_content_is_not_restored() {
    let mut session = Session::new();
    session.put("a", "1");
    session.turn(|session| session.write("a", "2"));
    let dir = Dir::open(session.keep.path().join("session/checkpoints")).unwrap();
    let before = load_log(&session.session()).unwrap()[0].changes[0].before.content().unwrap();
    let hex = before.to_string();
    let (folder, name) = hex.split_at(2);
    let place = dir.path().join("contents").join(folder).join(name);
    fs::write(place, "other").unwrap();
    assert!(ContentStore::new(dir).get(before).is_err());
    let target = session.points[0].0;
    assert_eq!(session.rewind(target, false), [session.path("a")]);
    assert_eq!(fs::read_to_string(session.path("a")).unwrap(), "2");
}

#[test]
fn a_home_folder_is_not_listed() {
    let mut session = Session::new();
    let home = session.path(".").canonicalize().unwrap();
    let clock = Arc::new(SystemClock::default());
    let folders = [home.clone()];
    session.checkpoints = Checkpoints::new(session.session(), &folders, Some(&home), clock);
    session.put("a", "1");
    session.turn(|session| session.shell("echo 2 > a"));
    assert_eq!(session.plan(0).changes.len(), 0);
    session.turn(|session| session.write("b", "1"));
    assert_eq!(session.plan(0).changes.len(), 1);
}
