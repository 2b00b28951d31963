//! Attempts to write outside, or to what is not a memory: each gets a clear error or a safe name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use dormouse_memory::{ChangeError, Expected, MemoryFile, NewMemory, Store};

use crate::child;
use crate::world::{World, assert_sound, file, files_below, person};

/// Paths that must be refused before anything is opened.
const PATHS: &[&str] = &[
    "",
    ".",
    "..",
    "/",
    "//",
    "../a.md",
    "../../a.md",
    "a/../../b.md",
    "a/../b.md",
    "./../a.md",
    "sub/../../a.md",
    "/etc/passwd",
    "/etc/passwd.md",
    "//etc/a.md",
    "/tmp/a.md",
    "a\0.md",
    "\0",
    "a.md\0.txt",
    "..\\a.md",
    "..\\..\\a.md",
    "C:\\a.md",
    "C:/a.md",
    "\\\\server\\share\\a.md",
    "sub\\a.md",
    "%2e%2e%2fa.md",
    "%2E%2E/a.md",
    "a%2fb.md",
    "a%5cb.md",
    "a%00.md",
    ".hidden.md",
    ".git/a.md",
    "sub/.hidden.md",
    ".dormouse/a.md",
    "...md",
    ".md",
    "MEMORY.md",
    "memory.md",
    "Memory.MD",
    "sub/MEMORY.md",
    "ＭＥＭＯＲＹ.md",
    "logs/2026/a.md",
    "LOGS/a.md",
    "a.txt",
    "a",
    "a.MD",
    "a.md/",
    "a.md/b",
    "CON.md",
    "con.md",
    "nul.md",
    "aux.md",
    "prn.md",
    "com1.md",
    "LPT9.md",
    "sub/com1/a.md",
    "a:b.md",
    "a.md:stream.md",
    "a*.md",
    "a?.md",
    "a|b.md",
    "<a>.md",
    "a\".md",
    "a\u{202e}dm.exe.md",
    "a\u{200b}.md",
    "a\u{feff}.md",
    "a\u{2028}.md",
    "a\nb.md",
    "a\rb.md",
    "a\tb.md",
    "a\u{1b}[2J.md",
    "a\u{7f}.md",
    "cafe\u{301}.md",
    " a.md",
    "dir /a.md",
    "dir./a.md",
    "a/b/c/d/e/f/g/h/i.md",
    "~/../a.md/..",
];

/// Names that people or models give: each becomes a safe file name.
const NAMES: &[&str] = &[
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "",
    "...",
    "~/.ssh/id",
    "C:\\Windows",
    "CON",
    "nul",
    "MEMORY",
    "memory.md",
    ".git",
    "a\0b",
    "\u{202e}gnp.exe",
    "🐭",
    "%2e%2e%2f",
    "-rf",
    "logs",
    "a/b",
    "\n\n",
    "ＣＯＮ",
];

#[test]
fn no_path_leads_out() {
    let world = World::new();
    let store = world.store();
    assert!(PATHS.len() >= 60, "{}", PATHS.len());
    for path in PATHS {
        // A name that is only odd could be there already; making it new is refused all the same.
        let error = match MemoryFile::existing(path) {
            Err(error) => error.to_string(),
            Ok(file) => store
                .change(&person(), |plan| plan.write(&file, b"x", &Expected::Anything))
                .expect_err(path)
                .to_string(),
        };
        assert!(
            error.len() > 15 && !error.contains('\u{1b}') && !error.contains('\0'),
            "{path:?}: {error}"
        );
    }
    assert!(world.files().is_empty());
    assert_eq!(fs::read_dir(&world.root).unwrap().count(), 2, "memory and state");
}

#[test]
fn any_name_becomes_a_safe_one() {
    let world = World::new();
    let store = world.store();
    for name in NAMES {
        store
            .change(&person(), |plan| plan.save(&NewMemory::new(name, "d", "x")).map(drop))
            .unwrap();
    }
    assert_eq!(world.files().len(), NAMES.len() + 1);
    assert_eq!(fs::read_dir(&world.root).unwrap().count(), 2, "memory and state");
    assert_sound(&store);
}

/// A folder beside the memory directory that nothing may touch.
fn with_outside() -> (World, Store) {
    let world = World::new();
    let store = world.store();
    fs::create_dir(world.root.join("outside")).unwrap();
    fs::write(world.root.join("outside/precious.md"), "precious").unwrap();
    (world, store)
}

#[track_caller]
fn outside_is_untouched(world: &World) {
    let files = files_below(&world.root.join("outside"));
    assert_eq!(files.len(), 1, "{:?}", files.keys());
    assert_eq!(files["precious.md"], b"precious");
}

#[test]
fn links_are_not_followed() {
    let (world, store) = with_outside();
    let memory = world.memory();
    symlink(world.root.join("outside/precious.md"), memory.join("link.md")).unwrap();
    symlink(world.root.join("outside/new.md"), memory.join("dangling.md")).unwrap();
    symlink(world.root.join("outside"), memory.join("folder")).unwrap();
    symlink("..", memory.join("up")).unwrap();
    symlink("/proc/self/root", memory.join("magic")).unwrap();
    symlink("loop.md", memory.join("loop.md")).unwrap();
    fs::hard_link(world.root.join("outside/precious.md"), memory.join("hard.md")).unwrap();
    rustix_fifo(&memory.join("pipe.md"));
    fs::create_dir(memory.join("folder.md")).unwrap();
    let attempts = [
        "link.md",
        "dangling.md",
        "folder/new.md",
        "folder/precious.md",
        "up/new.md",
        "up/outside/precious.md",
        "magic/tmp/new.md",
        "loop.md",
        "pipe.md",
        "folder.md",
    ];
    for path in attempts {
        let file = file(path);
        for error in [
            store
                .change(&person(), |plan| plan.write(&file, b"x", &Expected::Anything))
                .expect_err(path),
            store
                .change(&person(), |plan| plan.delete(&file, &Expected::Anything))
                .expect_err(path),
            store.read(&file).expect_err(path),
        ] {
            assert!(!matches!(error, ChangeError::Lock(_)), "{path}: {error}");
        }
    }
    // Another name of a file outside: the name gets a file of its own.
    store
        .change(&person(), |plan| plan.write(&file("hard.md"), b"mine", &Expected::Anything))
        .unwrap();
    outside_is_untouched(&world);
    // The index as a link.
    fs::remove_file(memory.join("MEMORY.md")).unwrap();
    symlink(world.root.join("outside/precious.md"), memory.join("MEMORY.md")).unwrap();
    let error = store
        .change(&person(), |plan| plan.write(&file("a.md"), b"x", &Expected::Anything))
        .unwrap_err();
    assert!(matches!(error, ChangeError::NotPlain(_)), "{error}");
    outside_is_untouched(&world);
}

fn rustix_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// The other process: swaps a folder for a link to the outside and back, for ever.
pub(crate) fn swap_for_ever(root: &Path) {
    let memory = root.join("memory");
    let (folder, kept, link) = (memory.join("sub"), memory.join("kept"), memory.join("link"));
    symlink(root.join("outside"), &link).unwrap();
    loop {
        drop(fs::rename(&folder, &kept));
        drop(fs::rename(&link, &folder));
        drop(fs::rename(&folder, &link));
        if fs::rename(&kept, &folder).is_err() {
            // A write made the folder in the meantime: without this, no rename would succeed any more.
            drop(fs::remove_dir_all(&kept));
        }
    }
}

#[test]
fn a_race_for_a_link_can_not_be_won() {
    let (world, store) = with_outside();
    fs::create_dir(world.memory().join("sub")).unwrap();
    let mut swapper = child::start("swap", &world.root, None);
    wait_for(&world.memory().join("link"));
    let (mut written, mut refused) = (0, 0);
    // On a busy machine it takes longer until both have happened.
    for round in 0..40_000 {
        if round >= 400 && written > 0 && refused > 0 {
            break;
        }
        let path = format!("sub/n{round}.md");
        match store.change(&person(), |plan| plan.write(&file(&path), b"x", &Expected::Anything)) {
            Ok(_) => written += 1,
            Err(_) => refused += 1,
        }
    }
    swapper.kill().unwrap();
    swapper.wait().unwrap();
    outside_is_untouched(&world);
    assert!(written > 0 && refused > 0, "{written} written, {refused} refused: there was no race");
}

fn wait_for(path: &Path) {
    while fs::symlink_metadata(path).is_err() {
        std::thread::yield_now();
    }
}
