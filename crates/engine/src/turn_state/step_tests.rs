//! The step, walked through by hand and at random.

use super::super::recovery::MOST_SHORTENINGS;
use super::*;
use dormouse_base::{MessageId, SeededIds, SystemClock};
use dormouse_conversation::{
    Message, MessageHistory, ResultContent, Role, Usage, pairing_violations,
};
use dormouse_model::{CacheTtl, Price};
use proptest::prelude::*;
use std::sync::Arc;

fn text(text: &str) -> TurnEvent {
    TurnEvent::Stream(StreamEvent::Block(Block::text(text)), None)
}

fn delta(text: &str) -> TurnEvent {
    TurnEvent::Stream(StreamEvent::Text(text.into()), None)
}

fn call(id: &str, class: ToolClass) -> TurnEvent {
    let json = format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#);
    TurnEvent::Stream(StreamEvent::Block(Block::from_json(json).unwrap()), Some(class))
}

fn done(id: &str) -> TurnEvent {
    let id = ToolUseId::new(id);
    let block = Block::tool_result(&id, &ResultContent::Text("ok".into()), false);
    TurnEvent::ToolDone { id, block, halt: None }
}

fn finished(reason: StopReason) -> TurnEvent {
    TurnEvent::Stream(
        StreamEvent::Finished { stop_reason: Some(reason), usage: Usage::default() },
        None,
    )
}

fn broken(delay: Option<u64>) -> TurnEvent {
    TurnEvent::Failed(ModelError::BrokenStream("reset".into()), delay.map(Duration::from_millis))
}

fn recovered(helped: bool) -> TurnEvent {
    TurnEvent::Recovered { helped, interrupted: false }
}

/// A step, and the next one where results were committed, as the driver does it.
fn step(turn: &mut TurnState, event: TurnEvent) -> Vec<TurnAction> {
    let mut actions = turn.step(event);
    if actions.iter().any(|action| matches!(action, TurnAction::CommitResults(_))) {
        actions.extend(turn.step(TurnEvent::RoundCommitted { halt: None }));
    }
    actions
}

/// The actions in one line, without those that only record or report.
fn walk(events: Vec<TurnEvent>) -> String {
    let mut turn = TurnState::new(None);
    let mut names = Vec::new();
    for event in std::iter::once(TurnEvent::Begin).chain(events) {
        for action in step(&mut turn, event) {
            names.push(match action {
                TurnAction::Send => "send".to_owned(),
                TurnAction::Wait(_) => "wait".to_owned(),
                TurnAction::Recover(recovery) => format!("recover {recovery:?}"),
                TurnAction::DropResponse
                | TurnAction::Emit(_)
                | TurnAction::NotifyIdle { .. }
                | TurnAction::RecordCleared(_)
                | TurnAction::RecordBlock(..)
                | TurnAction::RecordResult(_) => continue,
                TurnAction::RecordWithdrawn => "withdrawn".to_owned(),
                TurnAction::StartTool(call) => format!("start {}", call.id),
                TurnAction::StopTools => "stop".to_owned(),
                TurnAction::CommitResponse(_, blocks) => format!("answer({})", blocks.len()),
                TurnAction::CommitResults(blocks) => format!("results({})", blocks.len()),
                TurnAction::CommitClosing(_) => "closing".to_owned(),
                TurnAction::End(end) => {
                    format!("{end:?}").split(['(', ' ']).next().unwrap().to_lowercase()
                }
            });
        }
    }
    names.join(", ")
}

#[test]
fn an_answer() {
    assert_eq!(
        walk(vec![delta("hi"), text("hi"), finished(StopReason::EndTurn)]),
        "send, answer(1), completed"
    );
    assert_eq!(walk(vec![text("hi"), finished(StopReason::MaxTokens)]), "send, answer(1), cut");
    assert_eq!(walk(vec![finished(StopReason::EndTurn)]), "send, closing, empty");
    assert_eq!(walk(vec![text(" \n"), finished(StopReason::EndTurn)]), "send, closing, empty");
}

fn refused(error: ModelError) -> TurnEvent {
    TurnEvent::Failed(error, None)
}

fn too_long(used: Option<u64>, limit: Option<u64>) -> TurnEvent {
    refused(ModelError::TooLong { used, limit, message: String::new() })
}

/// Each recovery is tried once and the request sent again; then the error shows.
#[test]
fn a_refused_request_is_recovered_before_the_error_shows() {
    let room = "recover Room { used: None, limit: None }";
    assert_eq!(
        walk(vec![
            text("a"),
            finished(StopReason::ContextWindowExceeded),
            recovered(true),
            text("b"),
            finished(StopReason::EndTurn)
        ]),
        format!("send, withdrawn, {room}, send, answer(1), completed")
    );
    let in_vain = walk(vec![too_long(None, None), recovered(false)]);
    assert_eq!(in_vain, format!("send, {room}, closing, failed"));
    let large = || refused(ModelError::RequestTooLarge(String::new()));
    assert_eq!(
        walk(vec![large(), recovered(true), large(), recovered(false), recovered(true), large()]),
        "send, recover LargestMedia, send, recover Media, recover Bytes, send, closing, failed"
    );
    let thinking = || refused(ModelError::ThinkingRefused(String::new()));
    assert_eq!(
        walk(vec![thinking(), recovered(false), recovered(true), thinking()]),
        "send, recover Thinking, recover AllThinking, send, closing, failed"
    );
}

/// A server that names another number each time does not keep us for ever.
#[test]
fn a_request_is_shortened_a_few_times_at_most() {
    let mut events = Vec::new();
    for number in 1..10 {
        events.extend([too_long(Some(number * 2), Some(number)), recovered(true)]);
    }
    let walked = walk(events);
    assert_eq!(walked.matches("recover Room").count(), MOST_SHORTENINGS, "{walked}");
    assert!(walked.ends_with("send, closing, failed"), "{walked}");
}

#[test]
fn reads_start_at_once_and_commands_wait() {
    use ToolClass::{Exclusive, ReadOnly};
    assert_eq!(
        walk(vec![
            call("r", ReadOnly),
            call("x", Exclusive),
            done("r"),
            finished(StopReason::ToolUse),
            done("x")
        ]),
        "send, start r, answer(2), start x, results(2), send"
    );
    assert_eq!(
        walk(vec![
            call("x", Exclusive),
            call("r", ReadOnly),
            finished(StopReason::ToolUse),
            done("x"),
            done("r")
        ]),
        "send, answer(2), start x, start r, results(2), send"
    );
}

#[test]
fn a_broken_stream_is_retried_only_if_nothing_was_started() {
    use ToolClass::{Exclusive, ReadOnly};
    assert_eq!(
        walk(vec![text("a"), broken(Some(1)), TurnEvent::Retry]),
        "send, withdrawn, wait, send"
    );
    assert_eq!(walk(vec![call("x", Exclusive), broken(Some(1))]), "send, withdrawn, wait");
    assert_eq!(
        walk(vec![call("r", ReadOnly), delta("half"), broken(Some(1)), done("r")]),
        "send, start r, answer(1), results(1), send"
    );
    assert_eq!(walk(vec![broken(None)]), "send, closing, failed");
}

#[test]
fn an_interrupt_at_any_point() {
    use ToolClass::{Exclusive, ReadOnly};
    let interrupt = || TurnEvent::Interrupt;
    assert_eq!(walk(vec![interrupt()]), "send, closing, interrupted");
    assert_eq!(walk(vec![delta("half"), interrupt()]), "send, answer(1), stop, interrupted");
    assert_eq!(walk(vec![broken(Some(1)), interrupt()]), "send, wait, closing, interrupted");
    assert_eq!(
        walk(vec![call("r", ReadOnly), call("x", Exclusive), interrupt(), done("r")]),
        "send, start r, answer(2), stop, results(2), interrupted"
    );
    assert_eq!(
        walk(vec![call("x", Exclusive), finished(StopReason::ToolUse), interrupt()]),
        "send, answer(1), start x, stop, results(1), interrupted"
    );
}

#[test]
fn the_interrupted_text_is_marked() {
    let mut turn = TurnState::new(None);
    turn.step(TurnEvent::Begin);
    turn.step(delta("half a sen"));
    let actions = turn.step(TurnEvent::Interrupt);
    let kept = actions.iter().find_map(|action| match action {
        TurnAction::CommitResponse(_, blocks) => blocks[0].as_text(),
        _ => None,
    });
    assert_eq!(kept.unwrap(), "half a sen\n[interrupted]");
}

#[test]
fn what_never_ends_is_ended() {
    let mut turn = TurnState::new(None);
    turn.step(TurnEvent::Begin);
    for _ in 0..5 {
        turn.step(text("a"));
        assert_eq!(turn.step(finished(StopReason::PauseTurn)).last(), Some(&TurnAction::Send));
    }
    turn.step(text("a"));
    assert!(matches!(
        turn.step(finished(StopReason::PauseTurn)).last(),
        Some(TurnAction::End(TurnEnd::Failed(_)))
    ));

    let mut turn = TurnState::new(None);
    turn.step(TurnEvent::Begin);
    for _ in 0..5 {
        turn.step(call("r", ToolClass::ReadOnly));
        turn.step(done("r"));
        assert_eq!(step(&mut turn, broken(Some(1))).last(), Some(&TurnAction::Send));
    }
    turn.step(call("r", ToolClass::ReadOnly));
    assert!(matches!(
        step(&mut turn, broken(Some(1))).last(),
        Some(TurnAction::End(TurnEnd::Failed(_)))
    ));
}

/// A hook may end the turn with a round of results.
#[test]
fn a_round_can_halt_the_turn() {
    let mut turn = TurnState::new(None);
    turn.step(TurnEvent::Begin);
    turn.step(call("r", ToolClass::ReadOnly));
    turn.step(done("r"));
    turn.step(finished(StopReason::ToolUse));
    let halted = turn.step(TurnEvent::RoundCommitted { halt: Some("enough".into()) });
    assert_eq!(halted, [TurnAction::End(TurnEnd::Halted("enough".into()))]);
}

/// The third time ends the turn, unless a compaction has made the model forget the others.
#[test]
fn the_same_call_again_and_again_ends_the_turn() {
    let last_action = |forgets: bool| {
        let mut turn = TurnState::new(None).noting_results(true, None);
        turn.step(TurnEvent::Begin);
        let mut last = None;
        for id in ["a", "b", "c"] {
            if forgets {
                turn.forget_calls();
            }
            turn.step(call(id, ToolClass::ReadOnly));
            turn.step(done(id));
            last = step(&mut turn, finished(StopReason::ToolUse)).pop();
        }
        last.unwrap()
    };
    assert_eq!(last_action(false), TurnAction::End(TurnEnd::Repeating("Read".into())));
    assert_eq!(last_action(true), TurnAction::Send);
}

#[test]
fn an_interrupted_recovery_ends_as_interrupted() {
    let interrupted = TurnEvent::Recovered { helped: false, interrupted: true };
    let walked = walk(vec![too_long(None, None), interrupted]);
    assert!(walked.ends_with("closing, interrupted"), "{walked}");
}

#[test]
fn the_number_of_requests_is_bounded() {
    let mut turn = TurnState::new(Some(1));
    turn.step(TurnEvent::Begin);
    turn.step(call("r", ToolClass::ReadOnly));
    turn.step(done("r"));
    let actions = step(&mut turn, finished(StopReason::ToolUse));
    assert_eq!(actions.last(), Some(&TurnAction::End(TurnEnd::MaxTurns)));
}

#[test]
fn what_is_spent_is_bounded() {
    let limited = |left_usd| {
        let price = (Price::new(1.0, 1.0), CacheTtl::FiveMinutes);
        TurnState::new(None).with_account(TurnAccount::new(Some(price), Some(left_usd)))
    };
    let used = |output_tokens| StreamEvent::Finished {
        stop_reason: Some(StopReason::ToolUse),
        usage: Usage { output_tokens, ..Usage::default() },
    };
    // A dollar is a million tokens.
    for (tokens, last) in
        [(999_999, TurnAction::Send), (1_000_000, TurnAction::End(TurnEnd::MaxCost))]
    {
        let mut turn = limited(1.0);
        assert_eq!(turn.step(TurnEvent::Begin), [TurnAction::Send]);
        turn.step(call("r", ToolClass::ReadOnly));
        turn.step(done("r"));
        assert_eq!(step(&mut turn, TurnEvent::Stream(used(tokens), None)).last(), Some(&last));
    }
    // An answer that broke off was paid for as well; and a later turn may find nothing left.
    let mut turn = limited(1.0);
    turn.step(TurnEvent::Begin);
    let usage = Usage { output_tokens: 2_000_000, ..Usage::default() };
    let (id, model) = ("m".to_owned(), "m".to_owned());
    turn.step(TurnEvent::Stream(StreamEvent::Started { id, model, usage }, None));
    turn.step(broken(Some(1)));
    let ended =
        [TurnAction::CommitClosing(NO_RESPONSE_MAX_COST), TurnAction::End(TurnEnd::MaxCost)];
    assert_eq!(turn.step(TurnEvent::Retry), ended);
    assert_eq!(limited(0.0).step(TurnEvent::Begin), ended);
}

fn any_event() -> impl Strategy<Value = TurnEvent> {
    let id = || "[abc]".prop_map(|id: String| id);
    prop_oneof![
        Just(delta("d")),
        Just(text("t")),
        Just(text("")),
        id().prop_map(|id| call(&id, ToolClass::ReadOnly)),
        id().prop_map(|id| call(&id, ToolClass::Exclusive)),
        id().prop_map(|id| done(&id)),
        Just(finished(StopReason::ToolUse)),
        Just(finished(StopReason::EndTurn)),
        Just(finished(StopReason::ContextWindowExceeded)),
        Just(broken(Some(1))),
        Just(broken(None)),
        Just(TurnEvent::Retry),
        Just(TurnEvent::Interrupt),
    ]
}

/// Carries out what concerns the history.
fn commit(history: &mut MessageHistory, action: &TurnAction) {
    let ids = SeededIds::new(Arc::new(SystemClock::default()), 1);
    let id = MessageId::generate(&ids);
    let now = "2026-11-15T08:00:00Z".parse().unwrap();
    let message = match action {
        TurnAction::CommitResponse(response, blocks) => {
            Message::assistant(id, now, blocks.clone(), response.clone())
        }
        TurnAction::CommitResults(blocks) => {
            Message::user(id, now, blocks.clone(), dormouse_conversation::MessageFlags::default())
        }
        TurnAction::CommitClosing(note) => Message::synthetic_response(id, now, note),
        _ => return,
    };
    history.push(message).unwrap();
}

proptest! {
    #[test]
    fn any_order_of_events_keeps_calls_and_results_paired(events in prop::collection::vec(any_event(), 0..40)) {
        let ids = SeededIds::new(Arc::new(SystemClock::default()), 1);
        let now = "2026-11-15T08:00:00Z".parse().unwrap();
        let mut history = MessageHistory::default();
        let prompt = vec![Block::text("go")];
        history.push(Message::user(MessageId::generate(&ids), now, prompt, dormouse_conversation::MessageFlags::default())).unwrap();
        let mut turn = TurnState::new(Some(5));
        let mut ended = false;
        // A person can always stop it; then everything is closed.
        for event in std::iter::once(TurnEvent::Begin).chain(events).chain([TurnEvent::Interrupt]) {
            for action in step(&mut turn, event) {
                prop_assert!(!ended, "something was done after the end");
                commit(&mut history, &action);
                ended |= matches!(action, TurnAction::End(_));
            }
        }
        prop_assert!(ended);
        prop_assert!(history.open_calls().is_empty());
        let messages: Vec<&Message> = history.messages().iter().map(AsRef::as_ref).collect();
        prop_assert_eq!(pairing_violations(messages.iter().copied()), Vec::<String>::new());
        // Roles alternate, so that every server takes it.
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    }
}
