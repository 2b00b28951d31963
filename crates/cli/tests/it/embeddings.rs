//! Vectors of memories, from the real program: a server that behaves, servers that do not, and a file of word
//! vectors (R-5). Nothing here may make a search fail, and nothing is asked while a turn waits.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    EmbeddingReply, EmbeddingRequest, EmbeddingServer, Output, TestHome, WireFormat,
};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server};

fn run(home: &TestHome, arguments: &[&str]) -> Output {
    home.run(&mut dormouse(home, arguments))
}

fn settings(home: &TestHome, embeddings: &Value) {
    let text = json!({ "embeddings": embeddings }).to_string();
    home.write(home.dormouse_home().join("settings.json"), text);
}

/// What is about the sea points one way, what is about food another.
fn meaning(text: &str) -> Vec<f32> {
    let has = |words: &[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
    let number = |known: bool| if known { 1.0 } else { 0.0 };
    vec![number(has(&["ship", "quay", "vessel"])), number(has(&["nut", "larder", "hungry"])), 0.1]
}

fn meanings(request: &EmbeddingRequest) -> EmbeddingReply {
    EmbeddingReply::Vectors(request.texts.iter().map(|text| meaning(text)).collect())
}

fn memories(home: &TestHome) {
    for (file, text) in [
        ("harbour.md", "---\nname: Harbour\n---\nA ship lands at the east quay.\n"),
        ("larder.md", "---\nname: Larder\n---\nA nut in store.\n"),
        ("cat.md", "---\nname: 猫\n---\n用户养了一只猫。\n"),
    ] {
        home.write(home.dormouse_home().join("memory").join(file), text);
    }
}

/// A home with memories and a server, and vectors of the one by the other.
fn home_with(server: &EmbeddingServer) -> TestHome {
    let home = TestHome::new();
    memories(&home);
    settings(&home, &json!({"baseUrl": server.url(), "model": "sea-1"}));
    home
}

fn recall(home: &TestHome, question: &str) -> (Vec<Value>, String) {
    let output = run(home, &["recall", question, "--json"]);
    (serde_json::from_str(&output.success().stdout).unwrap(), output.stderr)
}

fn files(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|found| found["file"].as_str()).collect()
}

#[test]
fn a_server_finds_what_has_no_word_of_the_question() {
    let server = EmbeddingServer::start(meanings);
    let home = home_with(&server);
    let (found, said) = recall(&home, "vessels");
    assert!(found.is_empty() && said.contains("run `dormouse memory embed`"), "{said}");
    let output = run(&home, &["memory", "embed"]);
    assert_eq!(
        output.success().stdout,
        "2 of 3 memories have embeddings, 2 of them new; 1 are in a language that the model does not support\n"
    );
    let sent = server.requests();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].model.as_str(), &sent[0].authorization), ("sea-1", &None));
    assert_eq!(
        sent[0].texts,
        [
            "Harbour\nA ship lands at the east quay.",
            "A ship lands at the east quay",
            "Larder\nA nut in store.",
            "A nut in store"
        ]
    );
    let (found, said) = recall(&home, "where do vessels go");
    assert_eq!(files(&found), ["harbour.md"], "{said}");
    assert_eq!(found[0]["sure"], true, "by far the most similar: {found:?}");
    assert_eq!(found[0]["places"]["vector_rank"], 1);
    assert_eq!(found[0]["places"]["word_rank"], Value::Null);
    let explained =
        run(&home, &["recall", "the quay of vessels", "--explain"]).success().stdout.clone();
    assert!(explained.contains("rank by words: 1 (score "), "{explained}");
    assert!(explained.contains("by embeddings: 1 (similarity 1.00)"), "{explained}");
    let found = run(&home, &["memory", "search", "hungry", "--json"]);
    assert_eq!(
        files(&serde_json::from_str::<Vec<Value>>(&found.success().stdout).unwrap()),
        ["larder.md"]
    );
    // Chinese is not sent, neither as a memory nor as a question; and what is known is not sent again.
    let before = server.requests().len();
    assert_eq!(files(&recall(&home, "猫").0), ["cat.md"]);
    let embed = run(&home, &["memory", "embed", "--json"]);
    let answer: Value = serde_json::from_str(&embed.success().stdout).unwrap();
    assert_eq!(
        answer,
        json!({"memories": 3, "with_vector": 2, "new": 0, "unknown_language": 1, "missing": 0})
    );
    assert_eq!(server.requests().len(), before);
    run(&home, &["memory", "embed", "--again"]).success();
    assert_eq!(server.requests().len(), before + 1);
}

#[test]
fn a_server_in_trouble_never_makes_a_search_fail() {
    let raw = |status, body: &str| EmbeddingReply::Raw(status, body.to_owned());
    let vector = |text: &str| format!(r#"{{"data":[{{"index":0,"embedding":{text}}}]}}"#);
    let troubles = [
        ("a vector of 2 numbers, not 3", EmbeddingReply::Vectors(vec![vec![1.0, 0.0]])),
        ("returned 0 vectors for 1 texts", EmbeddingReply::Vectors(Vec::new())),
        ("returned 2 vectors for 1 texts", EmbeddingReply::Vectors(vec![vec![1.0; 3]; 2])),
        ("all zero", EmbeddingReply::Vectors(vec![vec![0.0; 3]])),
        ("cannot be read", raw(200, &vector("[NaN, 1, 1]"))),
        ("cannot be read", raw(200, &vector("[null, 1, 1]"))),
        ("has an invalid number", raw(200, &vector("[1e39, 1, 1]"))),
        ("cannot be read", raw(200, "<html>hello</html>")),
        ("status 500", raw(500, r#"{"error":{"message":"out of memory"}}"#)),
        ("did not accept the key", raw(401, r#"{"error":{"message":"no"}}"#)),
        ("sent nothing for 2 seconds", EmbeddingReply::Hang),
    ];
    let next: std::sync::Arc<std::sync::Mutex<Option<EmbeddingReply>>> = std::sync::Arc::default();
    let of_server = std::sync::Arc::clone(&next);
    let server = EmbeddingServer::start(move |request| {
        of_server.lock().unwrap().clone().unwrap_or_else(|| meanings(request))
    });
    let home = home_with(&server);
    run(&home, &["memory", "embed"]).success();
    for (problem, reply) in troubles {
        *next.lock().unwrap() = Some(reply);
        let (found, said) = recall(&home, "the quay of vessels");
        assert_eq!(files(&found), ["harbour.md"], "{problem}");
        assert!(
            said.contains("ranked by words only") && said.contains(problem),
            "{problem}: {said}"
        );
        assert!(found[0].get("places").is_none(), "{problem}");
    }
    // Making vectors says why it can not, and what was there stays.
    *next.lock().unwrap() = Some(raw(500, "{}"));
    home.write(home.dormouse_home().join("memory/mast.md"), "The mast of a ship.\n");
    let output = run(&home, &["memory", "embed"]);
    assert_eq!(output.code, Some(1));
    assert!(
        output.stderr.contains("status 500") && output.stderr.contains(&server.url()),
        "{}",
        output.stderr
    );
    drop(server);
    let (found, said) = recall(&home, "the quay of vessels");
    assert_eq!(files(&found).first(), Some(&"harbour.md"));
    assert!(said.contains("there is no server at"), "{said}");
}

#[test]
fn vectors_of_another_model_are_not_used() {
    let server = EmbeddingServer::start(meanings);
    let home = home_with(&server);
    run(&home, &["memory", "embed"]).success();
    settings(&home, &json!({"baseUrl": server.url(), "model": "sea-2"}));
    let (found, said) = recall(&home, "vessels");
    assert!(found.is_empty() && said.contains("no memory has a vector of this model"), "{said}");
    let output = run(&home, &["memory", "embed"]);
    assert!(output.success().stdout.contains("2 of them new"), "{}", output.stdout);
    assert_eq!(files(&recall(&home, "vessels").0), ["harbour.md"]);
}

#[test]
fn a_turn_never_waits_for_the_server_and_its_key_goes_to_nobody_else() {
    let embeddings = EmbeddingServer::start(|request| match request.texts.as_slice() {
        [question] if question.contains("hear") => EmbeddingReply::Hang,
        _ => meanings(request),
    });
    let model = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&model);
    home.set_env("SEA_KEY", "sea-secret-0123456789");
    memories(&home);
    settings(&home, &json!({"baseUrl": embeddings.url(), "model": "sea-1", "keyEnv": "SEA_KEY"}));
    run(&home, &["memory", "embed"]).success();
    let sent = embeddings.requests();
    assert_eq!(sent[0].authorization.as_deref(), Some("Bearer sea-secret-0123456789"));
    model.push(ScriptedTurn::new().call("call_1", "MemorySearch", r#"{"query":"hungry"}"#));
    model.push(ScriptedTurn::new().call("call_2", "Bash", r#"{"command":"echo key=$SEA_KEY"}"#));
    model.push(ScriptedTurn::new().text("done"));
    let output = home
        .run(&mut ask(&home, &["did you hear of vessels at the quay", "--allowed-tools", "Bash"]));
    output.success();
    let questions: Vec<String> =
        embeddings.requests().into_iter().skip(1).flat_map(|request| request.texts).collect();
    // Asked beside the request, which did not wait: this server never answers it.
    assert!(questions.iter().any(|text| text.contains("hear")), "{questions:?}");
    assert!(questions.contains(&"hungry".to_owned()), "{questions:?}");
    let requests = model.requests();
    let last = requests.last().unwrap().text();
    assert!(last.contains("A nut in store."), "{last}");
    assert!(last.contains("key=") && !last.contains("sea-secret"), "{last}");
    model.finish();
}

#[test]
fn a_project_has_no_say_and_half_a_setting_is_said() {
    let server = EmbeddingServer::start(meanings);
    let home = TestHome::new();
    memories(&home);
    let text = json!({"embeddings": {"baseUrl": server.url(), "model": "sea-1"}}).to_string();
    home.write(home.project().join(".dormouse/settings.json"), text);
    let (_, said) = recall(&home, "vessels");
    assert!(said.contains("`embeddings` cannot be set by a project"), "{said}");
    assert_eq!(run(&home, &["memory", "embed"]).code, Some(2));
    assert_eq!(server.requests().len(), 0);
    for (set, problem) in [
        (json!({"baseUrl": server.url()}), "`embeddings.model`"),
        (json!({"model": "m"}), "`embeddings.baseUrl`"),
        (json!({"baseUrl": "localhost", "model": "m"}), "must start with http"),
        (json!({"baseUrl": server.url(), "model": "m", "keyEnv": "NO_SUCH"}), "NO_SUCH is not set"),
        (json!({"baseUrl": server.url(), "model": "m", "weight": -1}), "embeddings.weight"),
        (json!({"file": "/nowhere/words.vec"}), "/nowhere/words.vec"),
    ] {
        settings(&home, &set);
        let output = run(&home, &["memory", "embed"]);
        assert_eq!(output.code, Some(2), "{set}");
        assert!(output.stderr.contains(problem), "{set}: {}", output.stderr);
        let (found, said) = recall(&home, "the quay");
        assert_eq!(files(&found), ["harbour.md"], "{set}");
        assert!(said.contains(problem), "{set}: {said}");
        let doctor = run(&home, &["doctor", "--offline"]).stdout;
        assert!(doctor.contains("embeddings") && doctor.contains(problem), "{set}: {doctor}");
    }
}

#[test]
fn a_file_of_word_vectors_works_without_a_server() {
    let home = TestHome::new();
    memories(&home);
    let words = home.root().join("words.vec");
    home.write(
        words.clone(),
        "9 3\nthe .1 .1 .1\na .1 .1 .1\nat .1 .1 .1\nship 1 0 0\nquay .9 0 .1\nvessels .9 .1 0\nharbour 1 .1 0\n\
         nut 0 1 0\nlarder 0 .9 .1\nhungry 0 .9 0\neast .5 0 .5\nlands .7 0 0\nin 0 .1 .1\nstore 0 .8 .2\n",
    );
    settings(&home, &json!({"file": words}));
    let (found, said) = recall(&home, "vessels");
    assert!(found.is_empty() && said.contains("not prepared"), "{said}");
    let doctor = run(&home, &["doctor", "--offline"]).stdout;
    assert!(doctor.contains("run `dormouse memory embed`"), "{doctor}");
    let output = run(&home, &["memory", "embed"]);
    assert!(output.success().stderr.contains("14 words with 3 dimensions"), "{}", output.stderr);
    assert!(output.stdout.starts_with("2 of 3 memories have embeddings"), "{}", output.stdout);
    assert_eq!(files(&recall(&home, "vessels").0), ["harbour.md"]);
    assert_eq!(files(&recall(&home, "hungry").0), ["larder.md"]);
    assert_eq!(files(&recall(&home, "猫").0), ["cat.md"]);
    // A cache may be deleted at any time.
    std::fs::remove_dir_all(home.dormouse_home().join("cache")).unwrap();
    assert_eq!(files(&recall(&home, "the quay").0), ["harbour.md"]);
}
