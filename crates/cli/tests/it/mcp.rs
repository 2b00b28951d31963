//! Memory for other agents: the MCP server, spoken to line by line as a client does.

use std::path::PathBuf;
use std::process::Command;

use dormouse_testkit::{Running, TestHome, needs};
use serde_json::{Value, json};

use crate::program::dormouse;

/// Which era of the protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// It shakes hands first.
    Handshake,
    /// Every request says all there is to say.
    Stateless,
}

const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];

/// A client and the server that it started.
pub(crate) struct Client {
    running: Running,
    era: Era,
    name: String,
    last: u64,
}

impl Client {
    pub(crate) fn start(home: &TestHome, era: Era) -> Self {
        Self::of(home, &mut dormouse(home, &["mcp"]), era, "tester")
    }

    pub(crate) fn of(home: &TestHome, command: &mut Command, era: Era, name: &str) -> Self {
        let running = home.spawn(command);
        let mut client = Self { running, era, name: name.to_owned(), last: 0 };
        if era == Era::Handshake {
            let hello = client.request(
                "initialize",
                json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client.info()}),
            );
            assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        client
    }

    fn info(&self) -> Value {
        json!({"name": self.name, "version": "1"})
    }

    fn send(&mut self, message: &Value) {
        self.running.type_text(&format!("{message}\n"));
    }

    /// Asks, without waiting.
    fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": self.info(),
            });
        }
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.wait_for(|message| message["id"] == id)
    }

    /// Waits for a message; whatever else came before it stays.
    fn wait_for(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.running.wait_for_stdout(|text| messages(text).iter().any(&wanted));
        messages(&self.running.stdout()).into_iter().find(wanted).unwrap()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let answer = self.request("tools/call", params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// The structured part of an answer that is no error.
    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// The words of an answer that is an error.
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub(crate) fn end(mut self) {
        self.running.close_stdin();
        let output = self.running.wait();
        output.success();
        // Whole lines of protocol, and nothing else.
        for line in output.stdout.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
        }
    }
}

/// The whole lines so far.
fn messages(text: &str) -> Vec<Value> {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn fact(name: &str, content: &str) -> Value {
    json!({"name": name, "description": "what it is about", "type": "project", "content": content})
}

/// The folder of this project's memories.
pub(crate) fn folder(home: &TestHome) -> PathBuf {
    let projects = home.dormouse_home().join("projects");
    let project = projects.read_dir().unwrap().next().unwrap().unwrap().path();
    project.join("memory")
}

fn memory(home: &TestHome, arguments: &[&str]) -> Value {
    let mut command = dormouse(home, &["memory"]);
    let output = home.run(command.args(arguments).arg("--json"));
    serde_json::from_str(&output.success().stdout).unwrap()
}

#[test]
fn an_agent_keeps_memories_in_both_eras() {
    for era in ERAS {
        let home = TestHome::new();
        let mut client = Client::start(&home, era);
        let saved = client.done("memory_save", fact("Build server", "It is called badger."));
        assert_eq!(saved["files"][0], json!({"file": "build-server.md", "effect": "added"}));
        client.done("memory_save", fact("Coffee machine", "On the second floor."));
        let listed = client.done("memory_list", json!({}));
        assert_eq!(listed["total"], 2, "{listed}");
        let found = client.done("memory_search", json!({"query": "badger"}));
        assert_eq!(found["memories"][0]["name"], "Build server", "{found}");
        assert_eq!(found["memories"].as_array().unwrap().len(), 1, "{found}");
        let question = json!({"query": "which build server do we use?"});
        let recalled = client.done("memory_recall", question);
        let text = recalled["memories"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("Memory (saved today): ") && text.ends_with("badger."), "{text}");
        assert_eq!(recalled["memories"].as_array().unwrap().len(), 1, "{recalled}");
        let nothing = client.done("memory_recall", json!({"query": "how do I bake a cake"}));
        assert_eq!(nothing["memories"], json!([]));
        let change = json!({"name": "Build server", "content": "It is called otter."});
        client.done("memory_update", change);
        let read = client.done("memory_read", json!({"name": "build-server.md"}));
        let text = read["text"].as_str().unwrap();
        assert!(text.contains("otter") && text.contains("description: what it is about"), "{text}");
        assert!(text.contains("trust: concluded") && text.contains("client:tester"), "{text}");
        client.done("memory_delete", json!({"name": "coffee-machine.md"}));
        assert!(!home.read(folder(&home).join("MEMORY.md")).contains("coffee"));
        client.done("memory_undo", json!({}));
        assert!(home.read(folder(&home).join("MEMORY.md")).contains("coffee"));
        client.end();
        let log = memory(&home, &["log"]);
        assert_eq!(log[0]["author"], "client:tester", "{log}");
    }
}

#[test]
fn the_list_of_tools_says_what_each_does() {
    let mut lists = Vec::new();
    for era in ERAS {
        let home = TestHome::new();
        let mut client = Client::start(&home, era);
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        for tool in tools.as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            let hints = &tool["annotations"];
            assert_eq!(hints["openWorldHint"], false, "{tool}");
            let (name, reads) = (tool["name"].as_str().unwrap(), hints["readOnlyHint"] == true);
            let looks = ["memory_search", "memory_recall", "memory_list", "memory_read"];
            assert_eq!(reads, looks.contains(&name), "{tool}");
            let replaces = ["memory_update", "memory_delete", "memory_undo"].contains(&name);
            assert_eq!(hints["destructiveHint"] == true, replaces, "{tool}");
        }
        client.end();
        // Looking at the tools touches no memory.
        assert!(!home.dormouse_home().join("projects").exists());
        lists.push(tools);
    }
    assert_eq!(lists[0].as_array().unwrap().len(), 8);
    assert_eq!(lists[0], lists[1]);
}

#[test]
fn what_concerns_the_person_waits_for_them() {
    let home = TestHome::new();
    let mut client = Client::start(&home, Era::Handshake);
    for kind in ["user", "feedback"] {
        let mut about = fact("Likes tea", "Tea.");
        about["type"] = json!(kind);
        let saved = client.done("memory_save", about);
        assert_eq!((&saved["status"], &saved["scope"]), (&json!("proposed"), &json!("user")));
    }
    assert_eq!(memory(&home, &["list"]), json!([]));
    assert_eq!(memory(&home, &["inbox"]).as_array().unwrap().len(), 2);
    // What a person wrote is not the agent's to replace, remove or undo.
    let added = memory_add(&home, "Release day", "Thursday.");
    let change = json!({"name": added, "content": "Friday."});
    assert_eq!(client.done("memory_update", change)["status"], "proposed");
    assert_eq!(client.done("memory_delete", json!({"name": added}))["status"], "proposed");
    assert!(client.refused("memory_undo", json!({})).contains("no change of yours"));
    let theirs = memory(&home, &["log"])[0]["id"].clone();
    assert!(
        client.refused("memory_undo", json!({"change": theirs})).contains("no change of yours")
    );
    assert!(home.read(folder(&home).join(&added)).contains("Thursday."));
    client.end();
}

#[test]
fn an_agent_that_the_person_trusts_need_not_wait() {
    let home = TestHome::new();
    let settings = home.dormouse_home().join("settings.json");
    home.write(settings, r#"{"memory":{"trustedClients":["tester"]}}"#);
    // A project has no say in it.
    home.write(".dormouse/settings.json", r#"{"memory":{"trustedClients":["another"]}}"#);
    let mut client = Client::start(&home, Era::Handshake);
    let mut about = fact("Likes tea", "Tea.");
    about["type"] = json!("user");
    assert_eq!(client.done("memory_save", about)["status"], "done");
    client.end();
}

/// A person saves something; returns the file's name.
fn memory_add(home: &TestHome, name: &str, body: &str) -> String {
    let arguments =
        ["memory", "add", name, "--type", "project", "--description", "d", "--body", body];
    let output = home.run(&mut dormouse(home, &arguments));
    let path = PathBuf::from(output.success().stdout.trim());
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn secrets_and_what_is_in_quarantine_stay_out() {
    let home = TestHome::new();
    let mut client = Client::start(&home, Era::Stateless);
    let key = ["ghp_", "R7kPq2WzX9vTn4LmB8sYc1Hd6Fj3GtUe5aQo"].concat();
    let told = client.refused("memory_save", fact("Token", &key));
    assert!(told.contains("github") && !told.contains(&key), "{told}");
    client.done("memory_save", fact("Plain", "Plain text."));
    let change = json!({"name": "plain.md", "content": format!("now with {key}")});
    assert!(!client.refused("memory_update", change).contains(&key));
    let hidden = "---\nname: From outside\ndescription: badger\ntype: project\nquarantined: true\n---\nbadger\n";
    home.write(folder(&home).join("hidden.md"), hidden);
    for (tool, arguments) in [
        ("memory_list", json!({})),
        ("memory_search", json!({"query": "badger outside"})),
        ("memory_recall", json!({"query": "badger from outside"})),
    ] {
        let answer = client.call(tool, arguments);
        assert!(!answer.to_string().contains("badger"), "{answer}");
    }
    for tool in ["memory_read", "memory_update", "memory_delete"] {
        assert!(client.refused(tool, json!({"name": "hidden.md"})).contains("no memory"), "{tool}");
    }
    let listed = client.request("resources/list", json!({}));
    assert!(!listed.to_string().contains("hidden"), "{listed}");
    let read = client.request("resources/read", json!({"uri": "memory://project/hidden.md"}));
    assert_eq!(read["error"]["code"], -32602, "{read}");
    client.end();
}

#[test]
fn resources_and_the_rules_are_there() {
    for era in ERAS {
        let home = TestHome::new();
        let mut client = Client::start(&home, era);
        client.done("memory_save", fact("数据库 迁移", "迁移很慢"));
        let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
        assert_eq!(listed[0]["uri"], "memory://index");
        let uri = listed[1]["uri"].as_str().unwrap();
        assert!(uri.is_ascii(), "{uri}");
        let read = client.request("resources/read", json!({"uri": uri}));
        let contents = &read["result"]["contents"][0];
        assert!(contents["text"].as_str().unwrap().ends_with("迁移很慢\n"), "{read}");
        let index = client.request("resources/read", json!({"uri": "memory://index"}));
        assert!(index.to_string().contains("数据库 迁移"), "{index}");
        let templates = client.request("resources/templates/list", json!({}));
        assert!(templates.to_string().contains("memory://{scope}/{+file}"), "{templates}");
        for uri in
            ["memory://project/../../settings.json", "file:///etc/passwd", "memory://project/no.md"]
        {
            let error =
                client.request("resources/read", json!({"uri": uri}))["error"]["code"].clone();
            assert_eq!(error, if era == Era::Stateless { -32602 } else { -32002 }, "{uri}");
        }
        let prompts = client.request("prompts/list", json!({}));
        assert_eq!(prompts["result"]["prompts"][0]["name"], "memory_rules", "{prompts}");
        let rules = client.request("prompts/get", json!({"name": "memory_rules"})).to_string();
        assert!(rules.contains("Four kinds of memory") && rules.contains("memory_save"), "{rules}");
        assert!(!rules.contains("MemorySave"), "{rules}");
        client.end();
    }
}

/// Also of what another process did, and what somebody wrote with an editor.
#[test]
fn changes_are_told() {
    let home = TestHome::new();
    let kept = memory_add(&home, "Kept", "one");
    let uri = format!("memory://project/{kept}");
    let mut older = Client::start(&home, Era::Handshake);
    older.request("resources/subscribe", json!({"uri": uri}));
    older.request("resources/list", json!({}));
    let mut newer = Client::start(&home, Era::Stateless);
    newer.request("resources/list", json!({}));
    let asked = json!({"resourcesListChanged": true, "resourceSubscriptions": [uri]});
    let listening = newer.ask("subscriptions/listen", json!({"notifications": asked}));
    newer.wait_for(|message| message["method"] == "notifications/subscriptions/acknowledged");
    let list_changed =
        |message: &Value| message["method"] == "notifications/resources/list_changed";
    for client in [&older, &newer] {
        let told = messages(&client.running.stdout());
        assert!(!told.iter().any(list_changed), "{told:?}");
    }
    memory_add(&home, "Another", "two");
    older.wait_for(list_changed);
    let told = newer.wait_for(list_changed);
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening,
        "{told}"
    );
    home.write(folder(&home).join(&kept), "edited by hand, and longer than before\n");
    let updated = |message: &Value| {
        message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
    };
    older.wait_for(updated);
    newer.wait_for(updated);
    older.end();
    newer.end();
}

#[test]
fn odd_input_is_answered_or_passed_over() {
    for era in ERAS {
        let home = TestHome::new();
        let mut client = Client::start(&home, era);
        client.running.type_text("this is not JSON\n{\"half\": \n\n[]\n\u{0}\u{1}\n");
        client.running.type_text("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n");
        let unknown =
            client.request("tools/call", json!({"name": "memory_explode", "arguments": {}}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        assert_eq!(client.request("no/such/method", json!({}))["error"]["code"], -32601);
        assert!(client.refused("memory_search", json!({})).contains("query"));
        assert!(client.refused("memory_list", json!({"bogus": 1})).contains("bogus"));
        assert!(client.refused("memory_save", fact("", "x")).contains("empty"));
        assert!(
            client
                .refused("memory_read", json!({"name": "../../etc/passwd"}))
                .contains("no memory")
        );
        // Too large for a memory: told. Too large for a message: dropped, and the server lives.
        let large = "word ".repeat(300_000);
        assert!(client.refused("memory_save", fact("Large", &large)).contains("longer than"));
        client.ask(
            "tools/call",
            json!({"name": "memory_save", "arguments": fact("Huge", &large.repeat(14))}),
        );
        assert_eq!(client.done("memory_list", json!({}))["total"], 0);
        client.end();
    }
}

#[test]
fn a_client_that_only_starts_it_is_no_failure() {
    let home = TestHome::new();
    home.run(&mut dormouse(&home, &["mcp"])).success();
}

#[test]
fn with_memory_off_there_is_nothing() {
    for (name, value) in [("DORMOUSE_MEMORY", "0"), ("DORMOUSE_SIMPLE", "1")] {
        let mut home = TestHome::new();
        home.set_env(name, value);
        let mut client = Client::start(&home, Era::Handshake);
        for (method, list) in
            [("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts")]
        {
            assert_eq!(client.request(method, json!({}))["result"][list], json!([]), "{method}");
        }
        let call = client.request("tools/call", json!({"name": "memory_list", "arguments": {}}));
        assert_eq!(call["error"]["code"], -32602, "{call}");
        client.end();
        assert!(!home.dormouse_home().join("projects").exists());
        assert!(!home.dormouse_home().join("memory").exists());
    }
}

#[test]
fn eight_agents_share_one_directory() {
    let home = TestHome::new();
    let mut clients: Vec<Client> = (0..8)
        .map(|number| {
            let era = ERAS[number % 2];
            Client::of(&home, &mut dormouse(&home, &["mcp"]), era, &format!("agent{number}"))
        })
        .collect();
    // All at once: nobody waits for an answer before the next question.
    for (number, client) in clients.iter_mut().enumerate() {
        for round in 0..5 {
            let arguments =
                fact(&format!("Note {number} {round}"), &format!("Text {number} {round}."));
            client.ask("tools/call", json!({"name": "memory_save", "arguments": arguments}));
        }
    }
    for client in &clients {
        for id in client.last - 4..=client.last {
            let answer = client.wait_for(|message| message["id"] == id);
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
    }
    for client in &mut clients {
        assert_eq!(client.done("memory_list", json!({}))["total"], 40);
    }
    for client in &mut clients {
        // Its own last change, and nobody else's.
        client.done("memory_undo", json!({}));
    }
    for client in clients {
        client.end();
    }
    assert_eq!(memory(&home, &["list"]).as_array().unwrap().len(), 32);
    home.run(&mut dormouse(&home, &["memory", "doctor"])).success();
}

/// The example of the documentation.
#[test]
fn the_python_example_remembers() {
    needs!("python");
    let home = TestHome::new();
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let script = format!(
        "import sys; sys.path.insert(0, {:?}); from memory_over_mcp import Memory; \
         memory = Memory([{:?}, 'mcp']); \
         memory.call('memory_save', name='Build server', description='its name', type='project', content='It is called badger.'); \
         print(memory.call('memory_recall', query='what is the build server called?')); memory.close()",
        example.display().to_string(),
        env!("CARGO_BIN_EXE_dormouse"),
    );
    let mut python = home.command("python3");
    python.args(["-B", "-c", &script]);
    let output = home.run(&mut python);
    assert!(output.success().stdout.contains("It is called badger."), "{output:?}");
}
