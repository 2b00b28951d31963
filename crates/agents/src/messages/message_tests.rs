//! A message and its line: there and back, and whatever else comes.

use proptest::prelude::*;

use super::super::{ApprovalDecision, MessageSummary, MessageText, RequestId, RequestResponse};
use super::*;

fn words() -> impl Strategy<Value = MessageText> {
    "\\PC{1,40}|[\\x00-\\x7f]{1,40}".prop_filter_map("blank", |text| MessageText::new(&text).ok())
}

fn request_id() -> impl Strategy<Value = RequestId> {
    "[a-zA-Z0-9_-]{1,64}".prop_map(|text| RequestId::new(&text).unwrap())
}

fn response() -> impl Strategy<Value = RequestResponse> {
    let answer = prop_oneof![
        proptest::option::of(words()).prop_map(ApprovalDecision::Approve),
        words().prop_map(ApprovalDecision::Reject)
    ];
    (request_id(), answer).prop_map(|(request_id, answer)| RequestResponse { request_id, answer })
}

fn content() -> impl Strategy<Value = MessageContent> {
    let summary =
        "[a-z]{1,8}( [a-z]{1,8}){4,9}".prop_map(|text| MessageSummary::new(&text).unwrap());
    prop_oneof![
        (summary, words()).prop_map(|(summary, text)| MessageContent::Text { summary, text }),
        (request_id(), proptest::option::of(words())).prop_map(|(request_id, reason)| {
            MessageContent::ShutdownRequest { request_id, reason }
        }),
        (request_id(), words()).prop_map(|(request_id, plan)| {
            MessageContent::PlanApprovalRequest { request_id, plan }
        }),
        response().prop_map(MessageContent::ShutdownResponse),
        response().prop_map(MessageContent::PlanApprovalResponse),
    ]
}

fn message() -> impl Strategy<Value = SentMessage> {
    let reply = prop_oneof![Just("uds:/run/a b.sock"), Just("*"), Just("bob")];
    let reply = reply.prop_map(|text| text.parse::<Address>().unwrap());
    let reach =
        prop_oneof![Just(SenderReachability::Answerable), Just(SenderReachability::Unreachable)];
    let rest = ("[a-z0-9][a-z0-9_-]{0,63}", proptest::option::of(reply), reach, content());
    (any::<u128>(), any::<u64>(), 0_i64..4_000_000_000, rest).prop_map(
        |(id, seq, at, (from, reply_to, reach, content))| SentMessage {
            id: uuid::Uuid::from_u128(id).to_string().parse().unwrap(),
            seq,
            at: Timestamp::from_second(at).unwrap(),
            draft: OutgoingMessage {
                from: AgentName::new(&from).unwrap(),
                reply_to,
                reach,
                content,
            },
        },
    )
}

proptest! {
    #[test]
    fn a_message_comes_back_from_one_line(message in message()) {
        let line = message.line().unwrap();
        prop_assert!(!line.contains(&b'\n'));
        prop_assert_eq!(SentMessage::read(&line).unwrap(), message.clone());
        prop_assert_eq!(OutgoingMessage::read(&message.draft.line().unwrap()).unwrap(), message.draft);
    }

    #[test]
    fn any_bytes_are_a_message_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        // It is enough that it comes back.
        let _read = (SentMessage::read(&bytes), OutgoingMessage::read(&bytes));
    }

    #[test]
    fn a_part_of_a_line_is_no_message(message in message(), keep in 0.0_f64..1.0) {
        let line = message.line().unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a part of it")]
        let end = (line.len() as f64 * keep) as usize;
        prop_assert!(SentMessage::read(&line[..end]).is_err());
    }

    #[test]
    fn a_line_with_one_byte_changed_is_read_or_refused(message in message(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut line = message.line().unwrap();
        let at = at.index(line.len());
        line[at] = byte;
        if let Ok(read) = SentMessage::read(&line) {
            prop_assert_eq!(SentMessage::read(&read.line().unwrap()).unwrap(), read);
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_refused() {
    let long = vec![b' '; MAX_LINE_BYTES + 1];
    assert_eq!(SentMessage::read(&long), Err(MessageLineError::TooLong(MAX_LINE_BYTES + 1)));
    // The longest text fits, whatever is in it.
    let text = MessageText::new(&"\u{1}".repeat(32 * 1024 - 1).replacen('\u{1}', "a", 1)).unwrap();
    let summary = MessageSummary::new("one two three four five").unwrap();
    let from = AgentName::new("a").unwrap();
    let reach = SenderReachability::Answerable;
    let draft = OutgoingMessage {
        from,
        reply_to: None,
        reach,
        content: MessageContent::Text { summary, text },
    };
    assert_eq!(OutgoingMessage::read(&draft.line().unwrap()).unwrap(), draft);
}

#[test]
fn a_line_from_before_reach_is_answerable() {
    let line = br#"{"from":"bob","type":"text","summary":"one two three four five","text":"t"}"#;
    let draft = OutgoingMessage::read(line).unwrap();
    assert_eq!(draft.reach, SenderReachability::Answerable);
    assert!(!String::from_utf8(draft.line().unwrap()).unwrap().contains("reach"));
    let line = OutgoingMessage { reach: SenderReachability::Unreachable, ..draft }.line().unwrap();
    assert!(String::from_utf8(line).unwrap().contains(r#""reach":"nobody""#));
}
