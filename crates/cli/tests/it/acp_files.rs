//! Files that go through the editor: buffers that are not saved, edits, and what stays on disk.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, needs};
use serde_json::{Value, json};

use crate::acp::{LIBRARIES, all, heard, says};
use crate::program::{BOTH, dormouse, server};

fn offers(reads: bool, writes: bool) -> Value {
    json!(["offers", {"fs": {"readTextFile": reads, "writeTextFile": writes}}])
}

fn read(id: &str, file: &str) -> ScriptedTurn {
    ScriptedTurn::new().call(id, "Read", json!({ "file_path": file }).to_string())
}

fn edit(id: &str, file: &str, old: &str, new: &str) -> ScriptedTurn {
    let input = json!({"file_path": file, "old_string": old, "new_string": new});
    ScriptedTurn::new().call(id, "Edit", input.to_string())
}

fn buffer(home: &TestHome, file: &str, text: &str) -> Value {
    let path = home.project().join(file).display().to_string();
    json!(["buffer", { path: text }])
}

/// The files of the project that the editor was asked for.
fn files(heard: &[Value], key: &'static str, home: &TestHome) -> Vec<String> {
    let folder = format!("{}/", home.project().display());
    let paths = all(heard, key).map(|path| path.as_str().unwrap());
    paths.map(|path| path.strip_prefix(&folder).unwrap_or(path).to_owned()).collect()
}

#[test]
fn unsaved_changes_are_read_and_edited_and_a_rewind_brings_them_back() {
    needs!("acp-clients");
    for (wire, library) in BOTH.into_iter().zip(LIBRARIES) {
        let model = server(wire)
            .reply(read("r", "a.txt"))
            .reply(ScriptedTurn::new().text("Read."))
            .reply(edit("e", "a.txt", "typed", "edited"))
            .reply(edit("e2", "a.txt", "edited", "edited again"))
            .reply(ScriptedTurn::new().call(
                "w",
                "Write",
                r#"{"file_path":"new/b.txt","content":"new\n"}"#,
            ))
            .reply(ScriptedTurn::new().text("Edited."))
            .start();
        let home = TestHome::new().with_server(&model);
        home.git_init();
        home.write("a.txt", "saved\n");
        let steps = json!([
            offers(true, true),
            ["new"],
            buffer(&home, "a.txt", "saved\ntyped\n"),
            ["prompt", says("read a.txt")],
            ["prompt", says("edit it")],
        ]);
        let heard = heard(&home, library, &steps);
        let seen = model.requests()[1].text();
        assert!(seen.contains("typed"), "{seen}");
        let asked: Vec<_> = all(&heard, "asked").collect();
        assert!(asked[0]["content"].to_string().contains(r"saved\ntyped"), "{asked:?}");
        let wrote = files(&heard, "wrote", &home);
        assert_eq!(wrote, ["a.txt", "a.txt", "a.txt", "new/b.txt"]);
        let contents: Vec<_> = all(&heard, "content").collect();
        assert_eq!(contents[0], "saved\ntyped\n", "what the user typed is saved first");
        assert_eq!(home.read("a.txt"), "saved\nedited again\n");
        assert_eq!(home.read("new/b.txt"), "new\n");
        let opened = all(&heard, "opened").next().unwrap();
        let id = opened["sessionId"].as_str().unwrap();
        home.run(&mut dormouse(&home, &["rewind", id, "2", "--code"])).success();
        assert_eq!(home.read("a.txt"), "saved\ntyped\n");
        assert!(!home.project().join("new").exists());
        model.finish();
    }
}

#[test]
fn what_changed_in_the_editor_or_on_disk_since_it_was_read_is_not_overwritten() {
    needs!("acp-clients");
    let model = server(BOTH[0])
        .reply(read("r", "a.txt"))
        .reply(read("r2", "b.txt"))
        .reply(ScriptedTurn::new().text("Read."))
        .reply(edit("e", "a.txt", "one", "ONE"))
        .reply(ScriptedTurn::new().text("No."))
        .reply(ScriptedTurn::new().call("s", "Bash", r#"{"command":"echo three > b.txt"}"#))
        .reply(edit("e2", "b.txt", "two", "TWO"))
        .reply(ScriptedTurn::new().text("No."))
        .start();
    let home = TestHome::new().with_server(&model);
    home.write("a.txt", "one\n");
    home.write("b.txt", "two\n");
    let steps = json!([
        offers(true, true),
        ["new"],
        // The editor has not noticed yet what the command does.
        buffer(&home, "b.txt", "two\n"),
        ["prompt", says("read")],
        buffer(&home, "a.txt", "one\ntwo\n"),
        ["prompt", says("edit a.txt")],
        ["prompt", says("change b.txt")],
    ]);
    let heard = heard(&home, "current", &steps);
    assert_eq!(files(&heard, "wrote", &home), Vec::<String>::new());
    let requests = model.requests();
    for request in [&requests[4], &requests[7]] {
        let text = request.text();
        assert!(text.contains("was changed in the editor or on disk since it was read"), "{text}");
    }
    assert_eq!((home.read("a.txt"), home.read("b.txt")), ("one\n".into(), "three\n".into()));
    model.finish();
}

#[test]
fn notebooks_pictures_and_files_outside_stay_on_disk() {
    needs!("acp-clients");
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("outside.txt");
    std::fs::write(&file, "outside\n").unwrap();
    let model = server(BOTH[0])
        .reply(read("r", "n.ipynb"))
        .reply(read("r2", file.to_str().unwrap()))
        .reply(read("r3", "binary"))
        .reply(read("r4", "a.txt"))
        .reply(edit("e", "a.txt", "typed", "edited"))
        .reply(ScriptedTurn::new().text("Done."))
        .start();
    let home = TestHome::new().with_server(&model);
    home.write("n.ipynb", r#"{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}"#);
    home.write("binary", b"\0\0");
    home.write("a.txt", "saved\n");
    let steps = json!([
        offers(true, false),
        ["new"],
        buffer(&home, "a.txt", "typed\n"),
        ["prompt", says("read all")],
    ]);
    let heard = heard(&home, "earlier", &steps);
    assert!(files(&heard, "read", &home).iter().all(|file| file == "a.txt"));
    let last = model.requests().last().unwrap().text();
    assert!(last.contains("changes in the editor that are not saved"), "{last}");
    assert_eq!(home.read("a.txt"), "saved\n", "this editor reads only");
    model.finish();
}
