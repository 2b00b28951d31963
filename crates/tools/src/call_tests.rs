//! Every way a call can go wrong, and that each is answered.

use std::borrow::Cow;

use super::*;
use crate::{ResultLimit, ToolClass, ToolOutput, ToolSpec};
use dormouse_base::Environment;
use dormouse_conversation::{ResultContent, ToolTraits, ToolUseId};
use futures_util::future::BoxFuture;
use serde::Deserialize;

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
    traits: ToolTraits::DEFAULT,
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
                // Interrupted while it runs.
                "hang" => {
                    context.cancel.cancel();
                    std::future::pending().await
                }
                "obey" => {
                    context.cancel.cancel();
                    context.cancel.cancelled().await;
                    Err(ToolError::Interrupted { partial: "half".into() })
                }
                other => Ok(ToolOutput::text(other)),
            }
        })
    }
}

async fn run_with(
    name: &str,
    input: &str,
    gate: PermissionGate,
    context: &CallContext,
) -> (String, bool) {
    let tools = ToolSet::of([Arc::new(Puppet) as Arc<dyn Tool>, Arc::new(crate::Read)]);
    let input = RawValue::from_string(input.to_owned()).unwrap();
    let id = ToolUseId::new("t1");
    let caller = CallRunner::new(Arc::new(tools), gate);
    let result = caller.run(ToolUse { id: &id, name, input: &input }, context).await;
    let ResultContent::Text(text) = result.content else { panic!("not text") };
    (text, result.is_error)
}

fn context() -> CallContext {
    CallContext::new("/", Environment::default(), 1_000)
}

#[track_caller]
fn check(name: &str, input: &str, expected: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (text, is_error) =
        runtime.block_on(run_with(name, input, PermissionGate::allow_all(), &context()));
    assert_eq!(text, expected);
    assert!(is_error);
}

#[tokio::test]
async fn a_call_that_works() {
    let (text, is_error) =
        run_with("Puppet", r#"{"act":"bow"}"#, PermissionGate::allow_all(), &context()).await;
    assert_eq!((text.as_str(), is_error), ("bow", false));
}

#[test]
fn every_fault_is_an_answer() {
    check("Marionette", "{}", "there is no tool named `Marionette`; the tools are: Puppet, Read");
    check("Puppet", "null", "invalid arguments: missing field `act`");
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
                "Puppet failed because of a bug in this program ({message}); it may have done part of \
                 its work, and another try will probably fail in the same way"
            ),
        );
    }
}

#[test]
fn arguments_that_were_not_json() {
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
        PermissionGate::new(
            dormouse_permissions::PermissionMode::Default,
            dormouse_permissions::PermissionRules::default(),
        ),
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
        run_with("Puppet", r#"{"act":"bow"}"#, PermissionGate::allow_all(), &context).await;
    assert!(is_error && text.starts_with("interrupted"), "{text}");
}

#[tokio::test]
async fn an_interruption_ends_obedient_and_stubborn_tools() {
    for (act, partial) in [("obey", "\nhalf"), ("hang", "")] {
        let context = context();
        let input = format!(r#"{{"act":"{act}"}}"#);
        let (text, is_error) =
            run_with("Puppet", &input, PermissionGate::allow_all(), &context).await;
        let expected = format!("interrupted: the call was stopped before it finished{partial}");
        assert_eq!((text, is_error), (expected, true));
    }
}

/// Somebody who says what the test tells them to, and remembers what they were asked.
struct Person {
    reply: ConfirmationReply,
    asked: std::sync::Mutex<Vec<ConfirmationRequest>>,
}

impl Person {
    fn who_says(reply: ConfirmationReply) -> Arc<Self> {
        Arc::new(Self { reply, asked: std::sync::Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Confirmer for Person {
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        self.asked.lock().unwrap().push(question);
        Box::pin(std::future::ready(self.reply.clone()))
    }
}

/// Does before a call what the test says, and notes what came after.
#[derive(Default)]
struct Watcher {
    opinion: CallOpinion,
    input: Option<&'static str>,
}

impl CallObserver for Watcher {
    fn before<'a>(&'a self, _: CallView<'a>) -> BoxFuture<'a, BeforeCall> {
        let input = self.input.map(|text| RawValue::from_string(text.to_owned()).unwrap());
        let opinion = self.opinion.clone();
        let before = BeforeCall { opinion, input, notes: vec!["before".into()], halt: None };
        Box::pin(std::future::ready(before))
    }

    fn after<'a>(
        &'a self,
        call: CallView<'a>,
        result: &'a CallResult,
        _: Duration,
    ) -> BoxFuture<'a, crate::AfterCall> {
        let seen = format!("{} {}", call.input.get(), result.is_error);
        Box::pin(std::future::ready(crate::AfterCall { notes: vec![seen], ..Default::default() }))
    }
}

fn caller(
    mode: dormouse_permissions::PermissionMode,
    rules: dormouse_permissions::PermissionRules,
) -> CallRunner {
    CallRunner::new(
        Arc::new(ToolSet::of([Arc::new(Puppet) as Arc<dyn Tool>])),
        PermissionGate::new(mode, rules),
    )
}

async fn bow(caller: &CallRunner) -> CallResult {
    let input = RawValue::from_string(r#"{"act":"bow"}"#.to_owned()).unwrap();
    let id = ToolUseId::new("t1");
    caller.run(ToolUse { id: &id, name: "Puppet", input: &input }, &context()).await
}

fn text(result: &CallResult) -> &str {
    let ResultContent::Text(text) = &result.content else { panic!("not text") };
    text
}

#[tokio::test]
async fn a_person_is_asked_and_heeded() {
    for (reply, calls, expected) in [
        (ConfirmationReply::Once, 2, "bow"),
        (ConfirmationReply::Always, 1, "bow"),
        (
            ConfirmationReply::No { said: None },
            2,
            "Puppet was not run: the user declined; ask what to do instead",
        ),
        (
            ConfirmationReply::No { said: Some("sit".into()) },
            2,
            "Puppet was not run: the user declined and said: sit",
        ),
    ] {
        let person = Person::who_says(reply);
        let confirmer = Some(Arc::clone(&person) as Arc<dyn Confirmer>);
        let caller = CallRunner {
            confirmer,
            ..caller(
                dormouse_permissions::PermissionMode::Default,
                dormouse_permissions::PermissionRules::default(),
            )
        };
        bow(&caller).await;
        assert_eq!(text(&bow(&caller).await), expected);
        assert_eq!(person.asked(), calls, "{expected}");
    }
}

#[tokio::test]
async fn a_headless_run_denies_and_says_how_to_allow() {
    let denied = bow(&caller(
        dormouse_permissions::PermissionMode::Default,
        dormouse_permissions::PermissionRules::default(),
    ))
    .await;
    assert_eq!((denied.is_error, denied.verdict), (true, Some(PermissionVerdict::Deny)));
    assert!(text(&denied).contains("--allowed-tools 'Puppet'"), "{}", text(&denied));
}

#[tokio::test]
async fn an_observer_can_stop_allow_and_change_but_no_rule() {
    let deny = "the rule `Puppet` denies it";
    let rules = |allow: &[&str], ask: &[&str], deny: &[&str]| {
        let parse = |list: &[&str]| list.iter().map(|rule| rule.parse().unwrap()).collect();
        dormouse_permissions::PermissionRules {
            allow: parse(allow),
            ask: parse(ask),
            deny: parse(deny),
        }
    };
    let stands = |why: &str| why.to_owned();
    for (opinion, rules, expected) in [
        (CallOpinion::Allow { why: stands("fine") }, rules(&[], &[], &[]), "sit"),
        (CallOpinion::Allow { why: stands("fine") }, rules(&[], &[], &["Puppet"]), deny),
        (CallOpinion::Allow { why: stands("fine") }, rules(&[], &["Puppet"], &[]), "asks first"),
        (
            CallOpinion::Ask { why: stands("odd") },
            rules(&["Puppet"], &[], &[]),
            "was not run: odd. There is no terminal",
        ),
        (CallOpinion::Deny { why: stands("no") }, rules(&["Puppet"], &[], &[]), "was not run: no"),
    ] {
        let observer = Watcher { opinion, input: Some(r#"{"act":"sit"}"#) };
        let caller = CallRunner {
            observer: Some(Arc::new(observer)),
            ..caller(dormouse_permissions::PermissionMode::Default, rules)
        };
        let result = bow(&caller).await;
        assert!(text(&result).contains(expected), "{expected}: {}", text(&result));
        let mut notes = vec!["before".to_owned()];
        notes.extend((!result.is_error).then(|| r#"{"act":"sit"} false"#.to_owned()));
        assert_eq!(result.notes, notes);
    }
}

#[tokio::test]
async fn an_edit_that_would_fail_is_no_question() {
    let person = Person::who_says(ConfirmationReply::Once);
    let tools = Arc::new(ToolSet::builtin());
    let gate = PermissionGate::new(
        dormouse_permissions::PermissionMode::Default,
        dormouse_permissions::PermissionRules::default(),
    );
    let confirmer = Some(Arc::clone(&person) as Arc<dyn Confirmer>);
    let caller = CallRunner { confirmer, ..CallRunner::new(tools, gate) };
    let folder = tempfile::tempdir().unwrap();
    let context = CallContext::new(folder.path(), Environment::default(), 1_000);
    let run = async |name: &str, input: &str| {
        let input = RawValue::from_string(input.to_owned()).unwrap();
        let id = ToolUseId::new("t1");
        caller.run(ToolUse { id: &id, name, input: &input }, &context).await
    };
    let edit = r#"{"file_path":"a.txt","old_string":"one","new_string":"two"}"#;
    assert!(text(&run("Edit", edit).await).contains("does not exist"));
    assert_eq!(person.asked(), 0);
    run("Write", r#"{"file_path":"a.txt","content":"one\n"}"#).await;
    assert!(!run("Edit", edit).await.is_error);
    let asked = person.asked.lock().unwrap();
    let changes: Vec<_> = asked.iter().map(|question| question.change.as_ref().unwrap()).collect();
    assert_eq!((&*changes[0].before, &*changes[0].after), ("", "one\n"));
    assert_eq!((&*changes[1].before, &*changes[1].after), ("one\n", "two\n"));
}
