//! Subagents that the model starts: what they are told, what comes back, and what a failure leaves.

use std::path::Path;
use std::sync::Arc;

use dormouse_agents::messages::{AgentName, Mailboxes, MessageRouter};
use dormouse_agents::{
    AgentDefinitions, AgentListPosition, MessageRouting, ModelResolver, ModelUnavailableError,
    SubagentRegistry, SubagentSetup, builtin_agents, new_spawner,
};
use dormouse_base::Dir;
use dormouse_engine::{EngineConfig, ModelSetup, TurnEnd};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, Reply, ScriptedServer};
use futures_util::future::{BoxFuture, ready};
use serde_json::{Value, json};

use crate::loopback::{Session, config};

struct NoOtherModels;

impl ModelResolver for NoOtherModels {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<ModelSetup, ModelUnavailableError>> {
        let reason = "there is one model in this test".to_owned();
        Box::pin(ready(Err(ModelUnavailableError { name: name.to_owned(), reason })))
    }
}

/// Adds the agents that come with the program to a conversation.
fn with_agents(home: &Path, mut config: EngineConfig) -> EngineConfig {
    let (clock, ids) = (Arc::clone(&config.services.clock), Arc::clone(&config.services.ids));
    let mailboxes = Dir::create(home.join("mail")).unwrap();
    let registry = SubagentRegistry::new(SubagentSetup {
        load: Box::new(|| AgentDefinitions::of(builtin_agents(), Vec::new())),
        folders: None,
        models: Arc::new(NoOtherModels),
        memories: None,
        small: None,
        progress_every: None,
        max_turns: None,
        home: home.to_owned(),
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
        list_in: AgentListPosition::Description,
        routing: MessageRouting {
            router: MessageRouter::new(Arc::clone(&clock), Arc::clone(&ids)),
            mailboxes: Mailboxes::open(&mailboxes, clock, ids).unwrap(),
        },
    });
    let name = AgentName::new("main").unwrap();
    new_spawner(registry, &name, None).unwrap().configure(&mut config);
    config
}

fn start(id: &str, input: &Value) -> ScriptedTurn {
    ScriptedTurn::new().call(id, "Agent", input.to_string())
}

fn text(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(text)
}

/// The content of the first tool result of a request's last message.
fn result(request: &RecordedRequest) -> Value {
    request.last_message()["content"][0].clone()
}

#[tokio::test]
async fn an_agent_has_a_context_of_its_own_and_its_answer_is_the_result() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("plan.md"), "52 nuts\n").unwrap();
    let path = json!({"file_path": home.path().join("plan.md")}).to_string();
    let task = json!({"description": "count", "prompt": "how many?", "subagent_type": "explore"});
    let server = ScriptedServer::builder()
        .agent_with(move |request| -> Reply {
            if request.text().contains("52 nuts") {
                return text("52, says plan.md").into();
            }
            ScriptedTurn::new().call("r", "Read", path.clone()).into()
        })
        .replies([start("a", &task), text("52")])
        .start();
    let config = with_agents(home.path(), config(home.path(), &server));
    let mut session = Session::begin(home.path(), config).await;
    let report = session.turn("a secret of the user: count the nuts").await;
    assert_eq!(report.end, TurnEnd::Completed);
    let agent = server.agent_requests();
    assert_eq!(agent.len(), 2);
    assert!(agent[0].text().contains("how many?"));
    assert!(!agent[0].text().contains("a secret of the user"), "it sees its task alone");
    assert!(!agent[0].tool_names().contains(&"Agent".to_owned()), "it starts no others");
    let result = result(&server.requests()[1]).to_string();
    assert!(result.contains("52, says plan.md"), "{result}");
    server.finish();
}

#[tokio::test]
async fn a_fork_knows_the_conversation_and_reads_it_from_the_cache() {
    let home = tempfile::tempdir().unwrap();
    let task = json!({"description": "look", "prompt": "say the word again"});
    let server = ScriptedServer::builder()
        .fork_with(|request| -> Reply {
            assert!(request.text().contains("the word is acorn"));
            text("acorn").into()
        })
        .replies([start("f", &task), text("acorn, then")])
        .start();
    let config = with_agents(home.path(), config(home.path(), &server));
    let mut session = Session::begin(home.path(), config).await;
    session.turn("the word is acorn").await;
    let (main, fork) = (server.requests(), server.fork_requests());
    assert_eq!(fork[0].raw_field("system"), main[0].raw_field("system"));
    assert_eq!(fork[0].raw_field("tools"), main[0].raw_field("tools"));
    assert!(result(&main[1]).to_string().contains("acorn"));
    server.finish();
}

#[tokio::test]
async fn an_agent_that_fails_is_an_error_for_the_model_and_the_conversation_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let task = json!({"description": "count", "prompt": "how many?", "subagent_type": "explore"});
    let server = ScriptedServer::builder()
        .agent_with(|_| Reply::bad_request_400("no such thing"))
        .replies([start("a", &task), text("it did not work")])
        .start();
    let config = with_agents(home.path(), config(home.path(), &server));
    let mut session = Session::begin(home.path(), config).await;
    let report = session.turn("count the nuts").await;
    assert_eq!(report.end, TurnEnd::Completed);
    let result = result(&server.requests()[1]);
    assert_eq!(result["is_error"], true, "{result}");
    assert!(result.to_string().contains("no such thing"), "{result}");
    server.finish();
}
