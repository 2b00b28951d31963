//! `/compact`, `/snip` and `/expand`: change what is in the context window.

use dormouse_base::group_digits;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_engine::{
    CompactionOutcome, CompactionRequest, CompactionScope, Engine, TurnContext, UserMessage,
};

use crate::interactive::session::{AfterInput, InteractiveSession};
use crate::interactive::view::SharedView;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

use super::rows::Rows;

/// How many of the user's messages `/compact from` lists.
const LISTED: usize = 20;

/// The arguments of `/compact`.
enum CompactRequest {
    /// Compact this span, perhaps with instructions.
    Run(CompactionScope, Option<String>),
    /// List the messages to choose from.
    List,
    /// There is no message of this number.
    UnknownMessage(String),
}

impl InteractiveSession<'_> {
    /// Runs `/compact [from NUMBER|upto NUMBER|INSTRUCTIONS]`.
    pub(in crate::interactive) async fn compact(&mut self, rest: &str) -> AfterInput {
        let messages = self.session.engine.conversation().user_messages();
        let (span, instructions) = match parse_request(rest, &messages) {
            CompactRequest::Run(span, instructions) => (span, instructions),
            CompactRequest::List => {
                self.view.list(&message_rows(&messages));
                self.view.say(&msg!("compact-how"));
                return AfterInput::Prompt;
            }
            CompactRequest::UnknownMessage(number) => {
                self.view.say(&msg!("compact-unknown-message", number = number));
                return AfterInput::Prompt;
            }
        };
        let order =
            CompactionRequest { trigger: CompactionTrigger::Manual, instructions, scope: span };
        self.view.borrow_mut().turn_started();
        let interrupt = tokio_util::sync::CancellationToken::new();
        let (session, monitor) = self.turn_monitor();
        let view = monitor.view;
        let mut sink = |event| view.event(event);
        let mut context = TurnContext::new(&interrupt, &mut sink);
        let work = session.engine.compact(order, &mut context);
        let (result, next) = monitor.run(work, &interrupt).await;
        self.view.borrow_mut().turn_ended();
        match result.map(outcome_text) {
            Ok(Some(text)) => self.view.say(&text),
            Ok(None) => {}
            Err(error) => self.view.failure(&Failure::failed(error)),
        }
        next
    }
}

/// What is said about a compaction; nothing about one that was done, which has its own notice.
pub(crate) fn outcome_text(outcome: CompactionOutcome) -> Option<String> {
    match outcome {
        CompactionOutcome::Done(_) => None,
        CompactionOutcome::Nothing => Some(msg!("compact-nothing")),
        CompactionOutcome::NotSmaller => Some(msg!("compact-not-smaller")),
        CompactionOutcome::Blocked(reason) => Some(msg!("compact-blocked", reason = reason)),
        CompactionOutcome::Interrupted => Some(msg!("compact-interrupted")),
    }
}

/// Runs `/snip`: leaves the oldest messages out of further requests.
pub(super) fn snip(engine: &mut Engine, view: &SharedView) {
    match engine.snip() {
        Ok(Some(freed)) => {
            view.say(&msg!("snip-done", tokens = group_digits(freed)));
        }
        Ok(None) => view.say(&msg!("snip-nothing")),
        Err(error) => view.failure(&Failure::failed(error)),
    }
}

/// Runs `/expand [N]`: restores the messages of a fold, the oldest being 1, or of the newest one.
pub(super) fn expand(engine: &mut Engine, view: &SharedView, number: &str) {
    let number = match number {
        "" => None,
        number => match number.parse() {
            Ok(number) => Some(number),
            Err(_) => return view.say(&msg!("expand-unknown", number = number)),
        },
    };
    match (engine.expand(number), number) {
        (Ok(Some(count)), _) => view.say(&msg!("expand-done", count = count)),
        (Ok(None), None) => view.say(&msg!("expand-nothing")),
        (Ok(None), Some(number)) => {
            view.say(&msg!("expand-unknown", number = number.to_string()));
        }
        (Err(error), _) => view.failure(&Failure::failed(error)),
    }
}

fn parse_request(rest: &str, messages: &[UserMessage]) -> CompactRequest {
    let mut words = rest.split_whitespace();
    let make_span: fn(dormouse_base::MessageId) -> CompactionScope = match words.next() {
        Some("from") => CompactionScope::From,
        Some("upto") => CompactionScope::UpTo,
        _ => {
            let instructions = Some(rest.trim().to_owned()).filter(|text| !text.is_empty());
            return CompactRequest::Run(CompactionScope::Whole, instructions);
        }
    };
    let Some(number) = words.next() else { return CompactRequest::List };
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        // "from now on …" are instructions for the summary.
        return CompactRequest::Run(CompactionScope::Whole, Some(rest.trim().to_owned()));
    }
    // A number too large to parse is not a message number either.
    let number_parsed = number.parse::<usize>().unwrap_or_default();
    match number_parsed.checked_sub(1).and_then(|index| messages.get(index)) {
        Some(spoken) => {
            // What follows the number is for the summary.
            let rest = words.collect::<Vec<_>>().join(" ");
            let instructions = Some(rest).filter(|text| !text.is_empty());
            CompactRequest::Run(make_span(spoken.message), instructions)
        }
        None => CompactRequest::UnknownMessage(number.to_owned()),
    }
}

fn message_rows(messages: &[UserMessage]) -> Rows {
    let first = messages.len().saturating_sub(LISTED);
    messages
        .iter()
        .enumerate()
        .skip(first)
        .map(|(index, spoken)| {
            let line = spoken.text.lines().next().unwrap_or_default();
            ((index + 1).to_string(), line.chars().take(70).collect())
        })
        .collect()
}
