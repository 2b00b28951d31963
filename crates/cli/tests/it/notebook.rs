//! `NotebookEdit`: cells are changed in place, under the rules of Edit.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server};

/// As Jupyter writes it, with a number and an order of keys that only its own bytes keep.
const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"aa\",\n   \"metadata\": {\"zeta\": 1.10, \"a\": 1},\n   \"source\": [\n    \"# Title\\n\",\n    \"text\"\n   ]\n  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"bb\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"x = 1\"\n   ]\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

fn call(id: &str, tool: &str, input: &Value) -> ScriptedTurn {
    ScriptedTurn::new().call(id, tool, input.to_string())
}

/// A call through the tool that announces it.
fn edit(id: &str, arguments: &Value) -> ScriptedTurn {
    call(id, "MoreTools", &json!({"tool": "NotebookEdit", "arguments": arguments}))
}

fn read() -> ScriptedTurn {
    call("r", "Read", &json!({"file_path": "n.ipynb"}))
}

#[test]
fn cells_are_changed_in_place_and_come_back() {
    for wire in [WireFormat::Anthropic, WireFormat::OpenAi] {
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        home.write("n.ipynb", NOTEBOOK);
        server.push(read());
        let file = "n.ipynb";
        server
            .push(edit("e1", &json!({"file_path": file, "cell": "bb", "new_source": "x = 2\ny"})));
        let new = json!({"file_path": file, "edit_mode": "insert", "cell": 1,
            "cell_type": "markdown", "new_source": "between"});
        server.push(edit("e2", &new));
        server.push(edit("e3", &json!({"file_path": file, "edit_mode": "delete", "cell": "aa"})));
        server.push(ScriptedTurn::new().text("done"));
        home.run(&mut ask(&home, &["--allowed-tools", "Edit", "change it"])).success();
        let last = server.requests().pop().unwrap().text();
        assert!(last.contains("[cell 2: code, id bb]"), "{last}");
        assert!(last.contains("changed cell 2 (code)"), "{last}");
        assert!(last.contains("inserted cell 2 (markdown)"), "{last}");
        assert!(last.contains("deleted cell 1 (markdown)"), "{last}");
        let changed = home.read("n.ipynb");
        let rest = NOTEBOOK.split_once("  {\n   \"cell_type\": \"code\"").unwrap().1;
        let rest = rest.replace("    \"x = 1\"\n", "    \"x = 2\\n\",\n    \"y\"\n");
        assert!(changed.ends_with(&rest), "{changed}");
        let value: Value = serde_json::from_str(&changed).unwrap();
        assert_eq!(value["cells"][0]["source"][0], "between");
        assert_eq!(value["cells"].as_array().unwrap().len(), 2);
        // It is a change like any other: a checkpoint has the file as it was.
        let session = home.transcripts()[0].file_stem().unwrap().to_str().unwrap().to_owned();
        home.run(&mut dormouse(&home, &["rewind", &session, "1", "--code"])).success();
        assert_eq!(home.read("n.ipynb"), NOTEBOOK);
        server.finish();
    }
}

#[test]
fn the_rules_of_edit_hold() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write("n.ipynb", NOTEBOOK);
    let change = json!({"file_path": "n.ipynb", "cell": "bb", "new_source": "x"});
    server.push(edit("e1", &change));
    server.push(read());
    // Its text is not what was shown.
    let text = json!({"file_path": "n.ipynb", "old_string": "x = 1", "new_string": "x = 2"});
    server.push(call("e2", "Edit", &text));
    server.push(edit("e3", &json!({"file_path": "n.ipynb", "cell": "zz", "new_source": "x"})));
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["--allowed-tools", "Edit", "change it"])).success();
    let said = server.requests().pop().unwrap().text();
    assert!(said.contains("has not been read in this conversation"), "{said}");
    assert!(said.contains("change a notebook with NotebookEdit"), "{said}");
    assert!(said.contains("has no cell with this id"), "{said}");
    // Without a rule it needs a confirmation, as an edit does.
    server.push(read());
    server.push(edit("e4", &change));
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["-c", "once more"])).success();
    let said = server.requests().pop().unwrap().text();
    assert!(said.contains("no terminal for confirmation"), "{said}");
    assert_eq!(home.read("n.ipynb"), NOTEBOOK);
    server.finish();
}
