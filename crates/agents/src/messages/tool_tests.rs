//! Tests of the `SendMessage` tool.

use dormouse_base::Environment;

use super::super::test_support::{clock_and_ids, name, routes};
use super::*;

async fn call(tool: &SendMessage, input: &Value) -> Result<String, String> {
    let input = RawValue::from_string(input.to_string()).unwrap();
    let context = CallContext::new("/", Environment::from_pairs::<&str, &str>([]), 1_000);
    match tool.call(&input, &context).await {
        Ok(output) => Ok(format!("{:?}", output.content)),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn sends_and_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let routes = routes("a", folder.path());
    let room = routes.router.open(&name("b")).unwrap();
    routes.mailboxes.read_as(&name("far"), &[]).unwrap();
    let tool = SendMessage::new(routes, clock_and_ids().1, Arc::default(), None);
    let summary = "all of the tests pass";
    let text = |to: &str| serde_json::json!({"to": to, "message": "hi", "summary": summary});
    assert!(call(&tool, &text("b")).await.unwrap().contains("sent to b"));
    assert!(call(&tool, &text("*")).await.unwrap().contains("sent to b"));
    assert_eq!(room.take_messages().len(), 2);
    assert!(call(&tool, &text("Far")).await.unwrap().contains("mailbox of far as number 1"));
    let fails = async |input: Value, why: &str| {
        let error = call(&tool, &input).await.unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    fails(text("a"), "your own name").await;
    fails(text("nobody"), "this project has no agent or session named `nobody`; available: far")
        .await;
    fails(text("bridge:7"), "is a session on another machine").await;
    fails(text("../x"), "`to`: the name `../x` contains '.'").await;
    fails(text("uds:/nowhere"), "no session listens at uds:/nowhere").await;
    // The schema requires no summary, and no number of words.
    for summary in [Value::Null, "".into(), "two words".into(), "many words ".repeat(9).into()] {
        let input = serde_json::json!({"to": "b", "message": "hi", "summary": summary});
        assert!(call(&tool, &input).await.unwrap().contains("sent to b"), "{summary}");
    }
    fails(serde_json::json!({"to":"b","message":7,"summary":summary}), "a text, or an object")
        .await;
    fails(serde_json::json!({"to":"b","message":{"type":"dance"}}), "unknown variant `dance`")
        .await;
}

#[tokio::test]
async fn an_agreement_to_shut_down_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let routes = routes("a", folder.path());
    let room = routes.router.open(&name("b")).unwrap();
    let agreement = Arc::<ShutdownAgreement>::default();
    let shutdown = Some(Arc::clone(&agreement));
    let tool = SendMessage::new(routes, clock_and_ids().1, Arc::default(), shutdown);
    let send = async |message: Value| {
        call(&tool, &serde_json::json!({"to": "b", "message": message})).await.unwrap()
    };
    send(serde_json::json!({"type":"shutdown_response","request_id":"r","approve":false,"reason":"busy"})).await;
    assert_eq!(agreement.agreed(), None);
    send(serde_json::json!({"type":"shutdown_response","request_id":"r","approve":true})).await;
    assert_eq!(agreement.agreed().unwrap().as_str(), "r");
    let answer = send(serde_json::json!({"type":"shutdown_request"})).await;
    match &room.take_messages().last().unwrap().draft.content {
        MessageContent::ShutdownRequest { request_id, .. } => {
            assert!(answer.contains(request_id.as_str()), "{answer}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_socket_of_another_program_needs_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let tool =
        SendMessage::new(routes("a", folder.path()), clock_and_ids().1, Arc::default(), None);
    let access = |to: &str| {
        let input = serde_json::value::to_raw_value(&serde_json::json!({"to": to})).unwrap();
        tool.access(&input, folder.path())
    };
    for own in ["b", "*", "uds:/run/user/1/dormouse/0123456789abcdef.sock"] {
        assert!(matches!(access(own), Access::Internal(_)), "{own}");
    }
    for foreign in ["uds:/run/docker.sock", "uds:/run/user/1/bus", "uds:/tmp/0123456789abcdef.sock"]
    {
        assert!(matches!(access(foreign), Access::Other), "{foreign}");
    }
}
