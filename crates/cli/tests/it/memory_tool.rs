//! The Anthropic memory tool over a memory directory: each documented answer and error, and the ways out
//! that there are not.

use std::os::unix::fs::symlink;

use dormouse_testkit::TestHome;
use serde_json::{Value, json};

use crate::mcp::{Client, Era, folder};
use crate::program::dormouse;

struct Tool {
    home: TestHome,
    client: Client,
}

impl Tool {
    fn start() -> Self {
        let home = TestHome::new();
        let mut command = dormouse(&home, &["mcp", "--memory-tool"]);
        let client = Client::of(&home, &mut command, Era::Handshake, "filer");
        Self { home, client }
    }

    fn run(&mut self, input: Value) -> (bool, String) {
        let result = self.client.call("memory", input);
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (result["isError"] == true, text)
    }

    #[track_caller]
    fn says(&mut self, input: Value, expected: &str) {
        assert_eq!(self.run(input), (false, expected.to_owned()));
    }

    #[track_caller]
    fn refuses(&mut self, input: Value, expected: &str) {
        assert_eq!(self.run(input), (true, expected.to_owned()));
    }

    fn create(&mut self, path: &str, text: &str) {
        let said = format!("File created successfully at: {path}");
        self.says(json!({"command": "create", "path": path, "file_text": text}), &said);
    }
}

const EMPTY: &str = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and \
                     node_modules:\n4.0K\t/memories";

#[test]
fn every_command_answers_as_documented() {
    let mut tool = Tool::start();
    tool.says(json!({"command": "view", "path": "/memories"}), EMPTY);
    tool.create("/memories/notes.txt", "one\ntwo\nthree\nfour\nfive\nsix");
    tool.create("/memories/deep/er/still/plan.md", "hidden by depth");
    tool.create("/memories/deep/plan.md", "a plan");
    let (_, listed) = tool.run(json!({"command": "view", "path": "/memories/"}));
    let paths: Vec<&str> =
        listed.lines().skip(2).map(|line| line.split_once('\t').unwrap().1).collect();
    assert_eq!(
        paths,
        [
            "/memories/MEMORY.md",
            "/memories/deep/",
            "/memories/deep/er/",
            "/memories/deep/plan.md",
            "/memories/notes.txt"
        ]
    );
    let (_, listed) = tool.run(json!({"command": "view", "path": "/memories/deep"}));
    assert!(
        listed.contains("in /memories/deep, ") && listed.contains("\t/memories/deep/er/still/\n"),
        "{listed}"
    );
    tool.says(
        json!({"command": "view", "path": "/memories/notes.txt", "view_range": [2, 3]}),
        "Here's the content of /memories/notes.txt with line numbers:\n     2\ttwo\n     3\tthree",
    );
    tool.says(
        json!({"command": "view", "path": "/memories/notes.txt", "view_range": [6, -1]}),
        "Here's the content of /memories/notes.txt with line numbers:\n     6\tsix",
    );
    tool.says(
        json!({"command": "str_replace", "path": "/memories/notes.txt", "old_str": "four", "new_str": "4"}),
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     \
         2\ttwo\n     3\tthree\n     4\t4\n     5\tfive\n     6\tsix",
    );
    tool.says(
        json!({"command": "str_replace", "path": "/memories/notes.txt", "old_str": "one\n"}),
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     \
         1\ttwo\n     2\tthree\n     3\t4",
    );
    let edited = "The file /memories/notes.txt has been edited.";
    let insert = |line: i64, text: &str| json!({"command": "insert", "path": "/memories/notes.txt", "insert_line": line, "insert_text": text});
    tool.says(insert(0, "zero\n"), edited);
    tool.says(insert(6, "seven"), edited);
    tool.says(
        json!({"command": "view", "path": "/memories/notes.txt"}),
        "Here's the content of /memories/notes.txt with line numbers:\n     1\tzero\n     2\ttwo\n     3\tthree\n     \
         4\t4\n     5\tfive\n     6\tsix\n     7\tseven\n     8\t",
    );
    tool.says(
        json!({"command": "rename", "old_path": "/memories/notes.txt", "new_path": "/memories/old/notes.txt"}),
        "Successfully renamed /memories/notes.txt to /memories/old/notes.txt",
    );
    tool.says(
        json!({"command": "rename", "old_path": "/memories/deep", "new_path": "/memories/flat"}),
        "Successfully renamed /memories/deep to /memories/flat",
    );
    let memories = folder(&tool.home);
    assert!(
        memories.join("flat/er/still/plan.md").exists()
            && memories.join("old/notes.txt.md").exists()
    );
    let file = tool.home.read(memories.join("old/notes.txt.md"));
    assert!(file.contains("trust: concluded") && file.contains("client:filer"), "{file}");
    assert!(tool.home.read(memories.join("MEMORY.md")).contains("(old/notes.txt.md)"));
    tool.says(
        json!({"command": "delete", "path": "/memories/old/notes.txt"}),
        "Successfully deleted /memories/old/notes.txt",
    );
    tool.says(
        json!({"command": "delete", "path": "/memories/flat"}),
        "Successfully deleted /memories/flat",
    );
    tool.says(json!({"command": "view", "path": "/memories"}), EMPTY);
    // Nothing is lost: it is all in the history.
    let log = tool.home.run(&mut dormouse(&tool.home, &["memory", "log", "--json"]));
    assert!(log.success().stdout.matches("client:filer").count() >= 9, "{}", log.stdout);
    tool.client.end();
}

#[test]
fn every_error_is_as_documented() {
    let mut tool = Tool::start();
    let gone = "/memories/gone.md";
    tool.refuses(
        json!({"command": "view", "path": gone}),
        "The path /memories/gone.md does not exist. Please provide a valid path.",
    );
    tool.refuses(
        json!({"command": "str_replace", "path": gone, "old_str": "a", "new_str": "b"}),
        "Error: The path /memories/gone.md does not exist. Please provide a valid path.",
    );
    let missing = "Error: The path /memories/gone.md does not exist";
    tool.refuses(
        json!({"command": "insert", "path": gone, "insert_line": 0, "insert_text": "x"}),
        missing,
    );
    tool.refuses(json!({"command": "delete", "path": gone}), missing);
    tool.refuses(
        json!({"command": "rename", "old_path": gone, "new_path": "/memories/b.md"}),
        missing,
    );
    tool.create("/memories/a.md", "x y x\nx");
    tool.create("/memories/b.md", "b");
    tool.refuses(
        json!({"command": "create", "path": "/memories/a.md", "file_text": "new"}),
        "Error: File /memories/a.md already exists",
    );
    tool.refuses(
        json!({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"}),
        "Error: The destination /memories/b.md already exists",
    );
    tool.refuses(
        json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "nowhere", "new_str": ""}),
        "No replacement was performed, old_str `nowhere` did not appear verbatim in /memories/a.md.",
    );
    tool.refuses(
        json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "x", "new_str": ""}),
        "No replacement was performed. Multiple occurrences of old_str `x` in lines: 1, 1, 2. Please ensure it is unique",
    );
    for line in [-1, 3] {
        tool.refuses(
            json!({"command": "insert", "path": "/memories/a.md", "insert_line": line, "insert_text": "x"}),
            &format!(
                "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, 2]"
            ),
        );
    }
    tool.create("/memories/long.md", &"\n".repeat(1_000_000));
    tool.refuses(
        json!({"command": "view", "path": "/memories/long.md"}),
        "File /memories/long.md exceeds maximum line limit of 999,999 lines.",
    );
    let root = json!({"command": "delete", "path": "/memories/"});
    tool.refuses(root, "Cannot delete the /memories directory itself");
    tool.refuses(
        json!({"command": "rename", "old_path": "/memories", "new_path": "/memories/x"}),
        "Cannot rename the /memories directory itself",
    );
    for input in [json!({}), json!({"command": "explode"}), json!({"command": "view"})] {
        let (is_error, text) = tool.run(input);
        assert!(is_error && text.starts_with("Error: "), "{text}");
    }
    tool.client.end();
}

#[test]
fn there_is_no_way_out() {
    let mut tool = Tool::start();
    tool.create("/memories/a.md", "inside");
    let memories = folder(&tool.home);
    let outside = tool.home.root().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.md"), "secret").unwrap();
    symlink(outside.join("secret.md"), memories.join("link.md")).unwrap();
    symlink(&outside, memories.join("linked")).unwrap();
    for path in [
        "/memories/../outside/secret.md",
        "/memories/linked/secret.md",
        "/memories/link.md",
        "/memories/%2e%2e%2foutside/secret.md",
        "/memories/..\\secret.md",
        "/etc/passwd",
        "/memories/.hidden.md",
        "/memories/sub/.git/x.md",
        "/memories/a\u{0}b.md",
        "/memoriesx/a.md",
    ] {
        for input in [
            json!({"command": "view", "path": path}),
            json!({"command": "create", "path": path, "file_text": "taken over"}),
            json!({"command": "str_replace", "path": path, "old_str": "secret", "new_str": "taken over"}),
            json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "taken over"}),
            json!({"command": "delete", "path": path}),
            json!({"command": "rename", "old_path": path, "new_path": "/memories/mine.md"}),
            json!({"command": "rename", "old_path": "/memories/a.md", "new_path": path}),
        ] {
            let (is_error, text) = tool.run(input.clone());
            assert!(is_error, "{input}: {text}");
            assert!(!text.contains("taken over"), "{text}");
        }
    }
    assert_eq!(std::fs::read_to_string(outside.join("secret.md")).unwrap(), "secret");
    assert_eq!(outside.read_dir().unwrap().count(), 1);
    tool.client.end();
}

#[test]
fn it_is_the_same_door() {
    let mut tool = Tool::start();
    let key = ["ghp_", "R7kPq2WzX9vTn4LmB8sYc1Hd6Fj3GtUe5aQo"].concat();
    let (is_error, text) =
        tool.run(json!({"command": "create", "path": "/memories/k.md", "file_text": key}));
    assert!(is_error && text.contains("github") && !text.contains(&key), "{text}");
    // About the user, or over what they wrote: they see it first.
    let about = "---\nname: Tea\ntype: user\ntrust: typed\n---\nLikes tea.\n";
    let (is_error, text) =
        tool.run(json!({"command": "create", "path": "/memories/tea.md", "file_text": about}));
    assert!(is_error && text.contains("inbox"), "{text}");
    let memories = folder(&tool.home);
    tool.home.write(memories.join("mine.md"), "---\nname: Mine\n---\nby hand\n");
    let hidden = "---\nname: Hidden\nquarantined: true\n---\nfrom outside\n";
    tool.home.write(memories.join("hidden.md"), hidden);
    let (is_error, text) =
        tool.run(json!({"command": "str_replace", "path": "/memories/mine.md", "old_str": "by hand", "new_str": "x"}));
    assert!(is_error && text.contains("inbox"), "{text}");
    assert!(tool.run(json!({"command": "delete", "path": "/memories/mine.md"})).0);
    assert!(tool.run(json!({"command": "view", "path": "/memories/hidden.md"})).0);
    let (_, listed) = tool.run(json!({"command": "view", "path": "/memories"}));
    assert!(!listed.contains("hidden.md") && listed.contains("mine.md"), "{listed}");
    let taken = json!({"command": "create", "path": "/memories/hidden.md", "file_text": "x"});
    tool.refuses(taken, "Error: File /memories/hidden.md already exists");
    tool.create("/memories/plain.md", "plain");
    let (is_error, text) = tool.run(
        json!({"command": "str_replace", "path": "/memories/MEMORY.md", "old_str": "plain", "new_str": "obey me"}),
    );
    assert!(is_error && text.contains("index"), "{text}");
    assert!(tool.home.read(memories.join("mine.md")).contains("by hand"));
    tool.client.end();
    // Without the switch there is no such tool.
    let home = TestHome::new();
    let mut client = Client::start(&home, Era::Stateless);
    let call = client.request(
        "tools/call",
        json!({"name": "memory", "arguments": {"command": "view", "path": "/memories"}}),
    );
    assert_eq!(call["error"]["code"], -32602, "{call}");
    client.end();
}
