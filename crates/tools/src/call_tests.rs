//! Every way a call can go wrong, and that each is answered.

use std::borrow::Cow;

use super::*;
use crate::{ResultLimit, ToolClass, ToolSpec};
use dormouse_base::Environment;
use dormouse_conversation::{INVALID_JSON, ToolUseId};
use futures_util::future::BoxFuture;

/// A tool that behaves as its input says.
struct Puppet;

#[derive(Deserialize)]
struct Act {
    act: String,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed("Puppet"),
    full: Cow::Borrowed(""),
    short: Cow::Borrowed(""),
    schema: Cow::Borrowed("{}"),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
};

impl Tool for Puppet {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }
    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let act = crate::parse_input::<Act>(input);
        assert!(!matches!(&act, Ok(act) if act.act == "panic at once"), "at once");
        Box::pin(async move {
            match act?.act.as_str() {
                "panic" => panic!("the puppet's strings broke"),
                "fail" => Err(ToolError::Failed { message: "no strings".into() }),
                "hang" => std::future::pending().await,
                "obey" => {
                    context.cancel.cancelled().await;
                    Err(ToolError::Interrupted { partial: "half".into() })
                }
                other => Ok(ToolOutput::text(other)),
            }
        })
    }
}

async fn run_with(name: &str, input: &str, gate: Gate, context: &CallContext) -> (String, bool) {
    let tools = ToolSet::of([Arc::new(Puppet) as Arc<dyn Tool>, Arc::new(crate::Read)]);
    let input = RawValue::from_string(input.to_owned()).unwrap();
    let id = ToolUseId::new("t1");
    let result = run_call(&tools, &gate, ToolUse { id: &id, name, input: &input }, context).await;
    let ResultContent::Text(text) = result.content else { panic!("not text") };
    (text, result.is_error)
}

fn context() -> CallContext {
    CallContext::new("/", Environment::default(), 1_000)
}

#[track_caller]
fn check(name: &str, input: &str, expected: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (text, is_error) = runtime.block_on(run_with(name, input, Gate::allow_all(), &context()));
    assert_eq!(text, expected);
    assert!(is_error);
}

#[tokio::test]
async fn a_call_that_works() {
    let (text, is_error) =
        run_with("Puppet", r#"{"act":"bow"}"#, Gate::allow_all(), &context()).await;
    assert_eq!((text.as_str(), is_error), ("bow", false));
}

#[test]
fn every_fault_is_an_answer() {
    check("Marionette", "{}", "there is no tool named `Marionette`; the tools are: Puppet, Read");
    check("Puppet", "null", "the arguments do not fit: missing field `act`");
    check("Puppet", r#"{"act":"fail"}"#, "no strings");
    check(
        "Puppet",
        "[1]",
        "the arguments of Puppet are not a JSON object, so it was not run; send one object with the \
         fields of the tool's schema",
    );
}

#[test]
fn panics_are_answers() {
    for (act, message) in [("panic", "the puppet's strings broke"), ("panic at once", "at once")] {
        check(
            "Puppet",
            &format!(r#"{{"act":"{act}"}}"#),
            &format!(
                "Puppet failed by a fault in the program itself ({message}); it may have done part \
                 of its work, and another try will probably fail the same way"
            ),
        );
    }
}

#[test]
fn arguments_that_were_not_json() {
    assert!(serde_json::from_str::<InvalidJson>(&format!(r#"{{"{INVALID_JSON}":""}}"#)).is_ok());
    check(
        "Puppet",
        r#"{"__invalid_json__":"{\"act\": \"bo"}"#,
        "the arguments of Puppet were not valid JSON (EOF while parsing a string at character 11), \
         so it was not run; send the call again with one complete JSON object",
    );
}

#[tokio::test]
async fn the_gate_is_asked() {
    let (text, is_error) = run_with(
        "Puppet",
        r#"{"act":"bow"}"#,
        Gate::new(crate::Mode::Default, crate::Rules::default(), crate::Asking::Impossible),
        &context(),
    )
    .await;
    assert!(is_error && text.starts_with("Puppet was not run: "), "{text}");
}

#[tokio::test]
async fn a_call_after_the_interruption_does_not_start() {
    let context = context();
    context.cancel.cancel();
    let (text, is_error) =
        run_with("Puppet", r#"{"act":"bow"}"#, Gate::allow_all(), &context).await;
    assert!(is_error && text.starts_with("interrupted"), "{text}");
}

#[tokio::test]
async fn an_interruption_ends_obedient_and_stubborn_tools() {
    for (act, partial) in [("obey", "\nhalf"), ("hang", "")] {
        let context = context();
        let input = format!(r#"{{"act":"{act}"}}"#);
        let call = run_with("Puppet", &input, Gate::allow_all(), &context);
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            context.cancel.cancel();
        };
        let ((text, is_error), ()) = futures_util::future::join(call, cancel).await;
        let expected = format!("interrupted: the call was stopped before it finished{partial}");
        assert_eq!((text, is_error), (expected, true));
    }
}
