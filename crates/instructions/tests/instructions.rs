//! Instruction files in real folders: order, names, rules, includes, what is hostile (L-20, L-21).

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use dormouse_instructions::{
    ApprovedPaths, FileProblem, InstructionFile, InstructionKind, InstructionNote,
    InstructionRoots, Instructions, LoadOccasion, LoadReason, prompt_sections,
};

/// A machine with a person and a project on it.
struct World {
    _keep: tempfile::TempDir,
    top: PathBuf,
}

impl World {
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let top = keep.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("home")).unwrap();
        fs::create_dir_all(top.join("project/app/src")).unwrap();
        Self { _keep: keep, top }
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, target: &str, link: &str) {
        fs::create_dir_all(self.at(link).parent().unwrap()).unwrap();
        symlink(target, self.at(link)).unwrap();
    }

    fn at(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    fn roots(&self) -> InstructionRoots {
        InstructionRoots {
            managed: self.at("etc/AGENTS.md"),
            home: self.at("home"),
            dormouse: self.at("home/.dormouse"),
            claude: self.at("home/.claude"),
            checkout: self.at("project"),
            working: self.at("project/app"),
        }
    }

    fn load(&self) -> Instructions {
        Instructions::load(self.roots(), ApprovedPaths::default(), LoadOccasion::Start)
    }

    fn load_approving(&self, path: &str) -> Instructions {
        Instructions::load(self.roots(), ApprovedPaths::new([self.at(path)]), LoadOccasion::Start)
    }

    /// Paths below the top, for reading.
    fn names(&self, loaded: &[InstructionFile]) -> Vec<String> {
        loaded.iter().map(|file| self.name(&file.path)).collect()
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.top).unwrap_or(path).display().to_string()
    }
}

fn texts(loaded: &[InstructionFile]) -> Vec<&str> {
    loaded.iter().map(|file| file.text.trim()).collect()
}

/// Every place there is, each with its own path as its text.
const EVERYWHERE: [&str; 24] = [
    "etc/AGENTS.md",
    "home/.dormouse/AGENTS.md",
    "home/.claude/CLAUDE.md",
    "home/.dormouse/rules/a.md",
    "home/.claude/rules/b.md",
    "project/AGENTS.md",
    "project/CLAUDE.md",
    "project/.dormouse/AGENTS.md",
    "project/.claude/CLAUDE.md",
    "project/.dormouse/rules/a.md",
    "project/.dormouse/rules/deep/er/b.md",
    "project/.claude/rules/a.md",
    "project/.claude/rules/z.md",
    "project/app/AGENTS.md",
    "project/app/CLAUDE.md",
    "project/app/.dormouse/AGENTS.md",
    "project/app/.claude/CLAUDE.md",
    "project/app/.dormouse/rules/a.md",
    "project/app/.claude/rules/a.md",
    "project/AGENTS.local.md",
    "project/CLAUDE.local.md",
    "project/app/AGENTS.local.md",
    "project/app/CLAUDE.local.md",
    "project/app/src/AGENTS.md",
];

#[test]
fn lowest_to_highest() {
    let world = World::new();
    for path in EVERYWHERE {
        world.write(path, path);
    }
    let mut instructions = world.load();
    assert_eq!(
        world.names(instructions.loaded()),
        EVERYWHERE[..23],
        "the last is below the working directory"
    );
    assert_eq!(texts(instructions.loaded()), EVERYWHERE[..23]);
    let kinds: Vec<InstructionKind> = instructions.loaded().iter().map(|file| file.kind).collect();
    let expected = [
        vec![InstructionKind::Managed],
        vec![InstructionKind::User; 4],
        vec![InstructionKind::Project; 14],
        vec![InstructionKind::Local; 4],
    ];
    assert_eq!(kinds, expected.concat());
    assert!(instructions.loaded().iter().all(|file| file.reason == LoadReason::SessionStart));
    assert_eq!(instructions.take_notes(), []);

    let again =
        Instructions::load(world.roots(), ApprovedPaths::default(), LoadOccasion::Compaction);
    assert!(again.loaded().iter().all(|file| file.reason.as_str() == "compact"));

    let parts = prompt_sections(instructions.loaded(), 100_000);
    assert_eq!(parts.len(), 23);
    assert!(parts[0].0.ends_with("etc/AGENTS.md") && parts[0].1 == "etc/AGENTS.md");
}

#[test]
fn nothing_anywhere_is_nothing() {
    let mut instructions = World::new().load();
    assert_eq!(instructions.loaded(), []);
    assert_eq!(instructions.take_notes(), []);
    assert_eq!(instructions.load_for_file(Path::new("/nowhere/at/all")), []);
}

#[test]
fn a_folder_below_loads_when_a_file_there_is_touched() {
    let world = World::with(&[
        ("project/app/src/CLAUDE.md", "in src"),
        ("project/app/src/deep/AGENTS.md", "in deep"),
        ("project/app/src/deep/AGENTS.local.md", "mine in deep"),
        ("project/app/src/deep/.claude/rules/r.md", "rule in deep"),
        ("project/other/AGENTS.md", "beside"),
        ("elsewhere/AGENTS.md", "elsewhere"),
    ]);
    let mut instructions = world.load();
    assert_eq!(instructions.loaded(), []);
    assert_eq!(instructions.load_for_file(&world.at("project/app/main.rs")), []);
    // Not there yet, as a file that is about to be written.
    let touched = world.at("project/app/src/deep/new/file.rs");
    let loaded = instructions.load_for_file(&touched);
    assert_eq!(texts(&loaded), ["in src", "in deep", "rule in deep", "mine in deep"]);
    assert!(loaded.iter().all(|file| file.reason == LoadReason::NestedTraversal));
    assert!(loaded.iter().all(|file| file.trigger.as_ref() == Some(&touched)));
    assert_eq!(instructions.load_for_file(&touched), [], "each once");
    for beside in ["project/other/x.rs", "elsewhere/x.rs", "project/app/src/../../other/x.rs"] {
        assert_eq!(instructions.load_for_file(&world.at(beside)), [], "{beside}");
    }
    assert_eq!(
        world.load().load_for_file(Path::new("src/x.rs")).len(),
        1,
        "from the working directory"
    );
}

#[test]
fn a_folder_that_leads_outside_brings_nothing() {
    let world = World::with(&[("outside/AGENTS.md", "outside"), ("outside/x.rs", "")]);
    world.link("../../outside", "project/app/linked");
    assert_eq!(world.load().load_for_file(&world.at("project/app/linked/x.rs")), []);
}

#[test]
fn rules_with_paths_wait_for_a_file_that_matches() {
    let world = World::with(&[
        ("home/.claude/rules/rust.md", "---\npaths: \"**/*.rs\"\n---\nperson's rust"),
        ("project/.claude/rules/always.md", "---\ntitle: x\n---\nalways"),
        (
            "project/.claude/rules/api.md",
            "---\npaths:\n  - app/api/**\n  - *.toml\n---\napi @./more.txt",
        ),
        ("project/.claude/rules/more.txt", "more"),
        ("project/app/.dormouse/rules/top.md", "---\npaths: *.rs\n---\ntop of app"),
    ]);
    let mut instructions = world.load();
    assert_eq!(texts(instructions.loaded()), ["always"]);

    assert_eq!(instructions.load_for_file(&world.at("project/app/readme")), []);
    let loaded = instructions.load_for_file(&world.at("project/app/api/v1/x.go"));
    assert_eq!(texts(&loaded), ["more", "api @./more.txt"]);
    assert_eq!(loaded[1].globs, ["app/api/**", "*.toml"]);
    assert_eq!(loaded[1].reason, LoadReason::PathGlobMatch);
    assert_eq!(loaded[1].trigger, Some(world.at("project/app/api/v1/x.go")));
    assert_eq!(loaded[0].reason, LoadReason::Include);

    let loaded = instructions.load_for_file(&world.at("project/app/src/main.rs"));
    assert_eq!(texts(&loaded), ["person's rust"], "*.rs means the top only");
    assert_eq!(
        texts(&instructions.load_for_file(&world.at("project/app/build.rs"))),
        ["top of app"]
    );
    assert_eq!(instructions.load_for_file(&world.at("project/Cargo.toml")), [], "loaded before");
    assert_eq!(instructions.take_notes(), []);
}

#[test]
fn paths_that_can_not_be_used_are_said() {
    let world = World::with(&[("project/.claude/rules/bad.md", "---\npaths: a{\n---\nnever")]);
    let mut instructions = world.load();
    assert_eq!(instructions.loaded(), []);
    let notes = instructions.take_notes();
    assert!(
        matches!(&notes[..], [InstructionNote::BadPaths { path, .. }] if path.ends_with("bad.md")),
        "{notes:?}"
    );
}

#[test]
fn one_file_under_two_names_is_loaded_once() {
    let world = World::with(&[
        ("project/AGENTS.md", "the same"),
        ("project/.claude/CLAUDE.md", "the same"),
    ]);
    world.link("AGENTS.md", "project/CLAUDE.md");
    fs::create_dir_all(world.at("project/.dormouse")).unwrap();
    fs::hard_link(world.at("project/AGENTS.md"), world.at("project/.dormouse/AGENTS.md")).unwrap();
    let mut instructions = world.load();
    assert_eq!(world.names(instructions.loaded()), ["project/AGENTS.md"]);
    let notes = instructions.take_notes();
    let duplicates = notes.iter().filter(|note| matches!(note, InstructionNote::Duplicate { .. }));
    assert_eq!((duplicates.count(), notes.len()), (3, 3), "link, hard link, copy");
    assert!(notes.iter().all(|note| !note.is_warning()));
}

#[test]
fn a_copy_still_includes_from_its_own_place() {
    let world = World::with(&[
        ("project/CLAUDE.md", "@./notes.md"),
        ("project/notes.md", "upper"),
        ("project/app/CLAUDE.md", "@./notes.md"),
        ("project/app/notes.md", "lower"),
    ]);
    assert_eq!(texts(world.load().loaded()), ["upper", "@./notes.md", "lower"]);
}

#[test]
fn the_home_as_project_has_its_files_once() {
    let world =
        World::with(&[("home/.claude/CLAUDE.md", "mine"), ("home/AGENTS.md", "of the home")]);
    let roots =
        InstructionRoots { checkout: world.at("home"), working: world.at("home"), ..world.roots() };
    let instructions = Instructions::load(roots, ApprovedPaths::default(), LoadOccasion::Start);
    assert_eq!(texts(instructions.loaded()), ["mine", "of the home"]);
    assert_eq!(instructions.loaded()[0].kind, InstructionKind::User);
}

#[test]
fn includes_of_every_form() {
    let world = World::with(&[
        (
            "project/app/AGENTS.md",
            "Read @./relative.md and @sub/named.md, also @../up.md and @noextension.\n`@./code.md`\n```\n@./code.md\n```\n",
        ),
        ("project/app/relative.md", "relative"),
        ("project/app/sub/named.md", "named"),
        ("project/up.md", "up"),
        ("project/app/noextension", "no extension"),
        ("project/app/code.md", "code"),
        ("home/.claude/CLAUDE.md", "@~/notes.md"),
        ("home/notes.md", "home"),
    ]);
    world.write("project/AGENTS.md", format!("@{}", world.at("project/absolute.md").display()));
    world.write("project/absolute.md", "absolute");
    let mut instructions = world.load();
    let loaded = instructions.loaded();
    let expected = ["home", "@~/notes.md", "absolute"];
    assert_eq!(texts(loaded)[..3], expected);
    assert_eq!(texts(loaded)[4..8], ["relative", "named", "up", "no extension"]);
    assert_eq!(loaded.len(), 9, "nothing from code");
    assert_eq!(loaded[4].reason, LoadReason::Include);
    assert_eq!(loaded[4].parent, Some(world.at("project/app/AGENTS.md")));
    assert_eq!(loaded[0].kind, InstructionKind::User);
    assert_eq!(instructions.take_notes(), []);
}

#[test]
fn four_hops_and_no_more() {
    let world = World::new();
    world.write("project/AGENTS.md", "top @./1.md");
    for hop in 1..=6 {
        world.write(&format!("project/{hop}.md"), format!("hop {hop} @./{}.md", hop + 1));
    }
    let mut instructions = world.load();
    let firsts: Vec<&str> =
        texts(instructions.loaded()).iter().map(|text| text.get(..5).unwrap()).collect();
    assert_eq!(firsts, ["hop 4", "hop 3", "hop 2", "hop 1", "top @"]);
    let expected = InstructionNote::TooDeep {
        path: world.at("project/5.md"),
        parent: world.at("project/4.md"),
    };
    assert_eq!(instructions.take_notes(), [expected]);
}

#[test]
fn circles_end() {
    let world = World::with(&[
        ("project/AGENTS.md", "a @./b.md @./AGENTS.md"),
        ("project/b.md", "b @./c.md"),
        ("project/c.md", "c @./AGENTS.md @./b.md"),
    ]);
    let mut instructions = world.load();
    assert_eq!(
        world.names(instructions.loaded()),
        ["project/c.md", "project/b.md", "project/AGENTS.md"]
    );
    assert_eq!(instructions.take_notes(), []);
}

#[test]
fn what_is_missing_or_no_text_is_said() {
    let world = World::with(&[(
        "project/AGENTS.md",
        "@./missing.md @./picture.png @./folder @./latin.txt ask @alice about @types/node @folder",
    )]);
    world.write("project/picture.png", b"\x89PNG\0\0");
    world.write("project/latin.txt", b"caf\xe9");
    fs::create_dir_all(world.at("project/folder")).unwrap();
    let mut instructions = world.load();
    assert_eq!(instructions.loaded().len(), 1);
    let unusable = |name: &str, problem| InstructionNote::Unusable {
        path: world.at("project").join(name),
        problem,
    };
    let notes = instructions.take_notes();
    let expected = [
        InstructionNote::Missing {
            path: world.at("project/missing.md"),
            parent: world.at("project/AGENTS.md"),
        },
        unusable("picture.png", FileProblem::Binary),
        unusable("folder", FileProblem::Folder),
        unusable("latin.txt", FileProblem::NotUtf8),
    ];
    assert_eq!(notes, expected);
    assert!(notes[0].to_string().contains("does not exist"), "{}", notes[0]);
}

/// None of these may be read on behalf of a project, however it is asked for.
#[test]
fn a_project_does_not_read_outside() {
    let ways: [&dyn Fn(&World); 8] = [
        &|world| world.write("project/AGENTS.md", "@../outside/secret.md"),
        &|world| world.write("project/AGENTS.md", "@./../project/../outside/secret.md"),
        &|world| world.write("project/AGENTS.md", "@~/../outside/secret.md"),
        &|world| {
            let path = world.at("outside/secret.md");
            world.write("project/AGENTS.md", format!("@{}", path.display()));
        },
        &|world| world.link("../outside/secret.md", "project/CLAUDE.md"),
        &|world| {
            world.link("../outside", "project/docs");
            world.write("project/AGENTS.md", "@docs/secret.md");
        },
        &|world| world.link("../../../outside/secret.md", "project/.claude/rules/x.md"),
        &|world| {
            world.write("project/notes.md", "@../outside/secret.md");
            world.write(
                "home/.claude/CLAUDE.md",
                format!("@{}", world.at("project/notes.md").display()),
            );
        },
    ];
    for (number, prepare) in ways.iter().enumerate() {
        let world = World::with(&[("outside/secret.md", "outside")]);
        prepare(&world);
        let mut instructions = world.load();
        assert!(!texts(instructions.loaded()).contains(&"outside"), "way {number}");
        let notes = instructions.take_notes();
        let said = |note: &InstructionNote| matches!(note, InstructionNote::Outside { real, .. } if *real == world.at("outside/secret.md"));
        assert!(notes.len() == 1 && notes.iter().all(said), "way {number}: {notes:?}");

        let mut instructions = world.load_approving("outside/secret.md");
        assert!(texts(instructions.loaded()).contains(&"outside"), "way {number}, approved");
        assert_eq!(instructions.take_notes(), [], "way {number}, approved");
    }
}

/// Somebody swaps a file, and a folder, for a link that leads outside, all the while.
#[test]
fn a_race_does_not_read_outside() {
    let world = World::with(&[
        ("outside/secret.md", "outside"),
        ("project/AGENTS.md", "@./file.md @./folder/secret.md"),
        ("project/spare/secret.md", "inside"),
    ]);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                symlink("../outside/secret.md", world.at("project/link")).unwrap();
                fs::rename(world.at("project/link"), world.at("project/file.md")).unwrap();
                world.write("project/plain", "plain");
                fs::rename(world.at("project/plain"), world.at("project/file.md")).unwrap();
                symlink("../outside", world.at("project/folder")).unwrap();
                fs::remove_file(world.at("project/folder")).unwrap();
                fs::rename(world.at("project/spare"), world.at("project/folder")).unwrap();
                fs::rename(world.at("project/folder"), world.at("project/spare")).unwrap();
            }
        });
        let mut inside = 0;
        // On a busy machine it takes longer until something of the inside is seen.
        for round in 0..200_000 {
            if round >= 2_000 && inside > 0 {
                break;
            }
            let instructions = world.load();
            let texts = texts(instructions.loaded());
            inside += usize::from(texts.contains(&"plain") || texts.contains(&"inside"));
            if texts.contains(&"outside") {
                done.store(true, std::sync::atomic::Ordering::Relaxed);
                panic!("outside was read");
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(inside > 0, "the files inside were never seen");
    });
}

#[test]
fn an_approved_file_approves_no_other() {
    let world = World::with(&[
        ("project/AGENTS.md", "@../outside/a.md"),
        ("outside/a.md", "a @./b.md"),
        ("outside/b.md", "b"),
    ]);
    let mut instructions = world.load_approving("outside/a.md");
    assert_eq!(instructions.loaded().len(), 2);
    assert!(
        matches!(&instructions.take_notes()[..], [InstructionNote::Outside { real, .. }] if *real == world.at("outside/b.md"))
    );
    assert_eq!(world.load_approving("outside").loaded().len(), 3, "a folder covers what is in it");
}

#[test]
fn a_folder_of_rules_that_leads_outside_is_not_listed() {
    let world = World::with(&[("outside/rules/x.md", "x"), ("outside/rules/y.md", "y")]);
    world.link("../../outside/rules", "project/.claude/rules");
    let mut instructions = world.load();
    assert_eq!(instructions.loaded(), []);
    assert!(
        matches!(&instructions.take_notes()[..], [InstructionNote::Outside { real, .. }] if *real == world.at("outside/rules"))
    );
    assert_eq!(texts(world.load_approving("outside/rules").loaded()), ["x", "y"]);
}

#[test]
fn links_inside_the_project_and_of_the_person_are_fine() {
    let world = World::with(&[
        ("project/docs/rules.md", "rules @./more.md"),
        ("project/docs/more.md", "more"),
    ]);
    world.write("dotfiles/claude.md", "dotfiles");
    world.link("../../dotfiles/claude.md", "home/.claude/CLAUDE.md");
    world.link("docs/rules.md", "project/CLAUDE.md");
    world.link("../rules", "project/.claude/rules/circle");
    world.link("..", "project/.claude/rules/up");
    let mut instructions = world.load();
    assert_eq!(texts(instructions.loaded()), ["dotfiles", "more", "rules @./more.md"]);
    assert_eq!(instructions.take_notes(), []);
}

#[test]
fn long_is_loaded_and_huge_is_not() {
    let world = World::new();
    world.write("project/AGENTS.md", "é".repeat(40_001));
    world.write("project/CLAUDE.md", "x".repeat(4 * 1024 * 1024 + 1));
    world.write("project/app/AGENTS.md", "y".repeat(40_000));
    let mut instructions = world.load();
    assert_eq!(world.names(instructions.loaded()), ["project/AGENTS.md", "project/app/AGENTS.md"]);
    let notes = instructions.take_notes();
    let expected = [
        InstructionNote::Long { path: world.at("project/AGENTS.md"), characters: 40_001 },
        InstructionNote::Unusable {
            path: world.at("project/CLAUDE.md"),
            problem: FileProblem::TooLarge(4 * 1024 * 1024 + 1),
        },
    ];
    assert_eq!(notes, expected);
}

#[test]
fn what_is_no_plain_file_neither_hangs_nor_crashes() {
    let world = World::new();
    fs::create_dir_all(world.at("project/AGENTS.md")).unwrap();
    fs::create_dir_all(world.at("project/.claude")).unwrap();
    let fifo = |path: &str| {
        let path = world.at(path);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
    };
    fifo("project/CLAUDE.md");
    world.link("/dev/zero", "home/.claude/CLAUDE.md");
    let _socket =
        std::os::unix::net::UnixListener::bind(world.at("project/.claude/CLAUDE.md")).unwrap();
    world.link("gone.md", "project/app/AGENTS.md");
    world.link("CLAUDE.md", "project/app/CLAUDE.md");
    world.write("project/app/AGENTS.local.md", b"\0\0\0");
    world.write("project/app/CLAUDE.local.md", b"\xff\xfe");
    world.write("project/AGENTS.local.md", "");
    world.write("project/CLAUDE.local.md", "\u{feff}with a mark\r\n");
    let mut instructions = world.load();
    assert_eq!(texts(instructions.loaded()), ["with a mark"]);
    let notes: Vec<(String, FileProblem)> = instructions
        .take_notes()
        .into_iter()
        .map(|note| match note {
            InstructionNote::Unusable { path, problem } => (world.name(&path), problem),
            other => panic!("{other}"),
        })
        .collect();
    let expect = |index: usize, name: &str, problem: FileProblem| {
        assert_eq!(notes[index], (name.to_owned(), problem));
    };
    expect(0, "home/.claude/CLAUDE.md", FileProblem::Special);
    expect(1, "project/AGENTS.md", FileProblem::Folder);
    expect(2, "project/CLAUDE.md", FileProblem::Special);
    expect(3, "project/.claude/CLAUDE.md", FileProblem::Special);
    expect(4, "project/app/AGENTS.md", FileProblem::Dangling);
    assert!(
        matches!(&notes[5], (name, FileProblem::Refused(_)) if name == "project/app/CLAUDE.md"),
        "a link to itself"
    );
    expect(6, "project/app/AGENTS.local.md", FileProblem::Binary);
    expect(7, "project/app/CLAUDE.local.md", FileProblem::NotUtf8);
    assert_eq!(notes.len(), 8);
}

#[test]
fn comments_are_for_people() {
    let world = World::with(&[(
        "project/AGENTS.md",
        "keep\n<!-- for people @./x.md -->\n```\n<!-- code -->\n```\n",
    )]);
    assert_eq!(texts(world.load().loaded()), ["keep\n```\n<!-- code -->\n```"]);
}

#[test]
fn a_flood_of_files_is_bounded_and_said() {
    let world = World::new();
    for number in 0..520 {
        world.write(&format!("project/.claude/rules/{number:03}.md"), format!("rule {number}"));
    }
    let many: String =
        (0..300).map(|number| format!("@./no/{number}.md")).collect::<Vec<_>>().join("\n");
    world.write("project/AGENTS.md", many);
    let mut instructions = world.load();
    assert_eq!(instructions.loaded().len(), 501);
    let notes = instructions.take_notes();
    assert_eq!(
        notes.iter().filter(|note| matches!(note, InstructionNote::Missing { .. })).count(),
        200
    );
    assert_eq!(
        notes.iter().filter(|note| matches!(note, InstructionNote::TooManyIncludes { .. })).count(),
        1
    );
    assert_eq!(
        notes.iter().filter(|note| matches!(note, InstructionNote::Unusable { .. })).count(),
        20
    );
}

/// The committed corpus of the fuzz target, as an ordinary test.
#[test]
fn the_fuzz_corpus_of_rules_reads() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/rule_read");
    let mut files = 0;
    for entry in corpus.read_dir().unwrap() {
        files += 1;
        let text = String::from_utf8_lossy(&fs::read(entry.unwrap().path()).unwrap()).into_owned();
        let (_, cleaned, _) = dormouse_instructions::read_rule_for_fuzzing(&text);
        assert!(cleaned.len() <= text.len());
    }
    assert!(files >= 3);
}
