//! `/compact` and `/context`: room in the window, made by hand and looked at.

use dormouse_base::group_digits;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_engine::{CompactionOutcome, CompactionRequest, CompactionScope, UserMessage};

use crate::wiring::exit::Failure;

use super::{Next, Talk, answers};

/// Of the person's messages so many are listed.
const LISTED: usize = 20;

/// What was asked for.
enum Wanted {
    /// Compact this, perhaps with instructions.
    Order(CompactionScope, Option<String>),
    /// The messages that one can be chosen of.
    List,
    /// There is no message of this number.
    NoSuch(String),
}

impl Talk<'_> {
    /// Compacts, as far as the person says.
    pub(super) async fn compact(&mut self, rest: &str) -> Next {
        let said = self.conversation.engine.spoken();
        let (span, instructions) = match wanted(rest, &said) {
            Wanted::Order(span, instructions) => (span, instructions),
            Wanted::List => {
                self.list(&messages(&said));
                self.say("/compact from NUMBER puts a summary in place of that message and all after it; /compact upto NUMBER in place of all before it");
                return Next::GoOn;
            }
            Wanted::NoSuch(number) => {
                self.say(&format!("There is no message {number}; /compact from lists them."));
                return Next::GoOn;
            }
        };
        let order = CompactionRequest { trigger: CompactionTrigger::Manual, instructions, span };
        self.view.borrow_mut().turn_begins();
        let interrupt = tokio_util::sync::CancellationToken::new();
        let (conversation, attendant) = self.attended();
        let view = attendant.view;
        let mut sink = |event| view.borrow_mut().event(event);
        let work = conversation.engine.compact(order, &interrupt, &mut sink);
        let (result, next) = attendant.attend(work, &interrupt).await;
        self.view.borrow_mut().turn_ended();
        match result {
            Ok(CompactionOutcome::Done(_)) => {}
            Ok(CompactionOutcome::Nothing) => self.say("there is nothing to compact yet"),
            Ok(CompactionOutcome::Vain) => {
                self.say(
                    "a summary would take no less room than the conversation does; it is as before",
                );
            }
            Ok(CompactionOutcome::Blocked(why)) => self.say(&format!("a hook refused it: {why}")),
            Ok(CompactionOutcome::Interrupted) => {
                self.say("stopped; the conversation is as before")
            }
            Err(error) => self.complain(&Failure::failed(error)),
        }
        next
    }

    /// Leaves out the oldest messages.
    pub(super) fn snip(&mut self) {
        match self.conversation.engine.snip() {
            Ok(Some(freed)) => {
                self.say(&format!(
                    "the oldest messages are left out from now on: about {} tokens",
                    group_digits(freed)
                ));
            }
            Ok(None) => self.say("there is nothing that could be left out"),
            Err(error) => self.complain(&Failure::failed(error)),
        }
    }

    /// Unfolds what was folded last.
    pub(super) fn expand(&mut self) {
        match self.conversation.engine.expand() {
            Ok(Some(count)) => self.say(&format!("{count} messages are as they were")),
            Ok(None) => self.say("nothing is folded"),
            Err(error) => self.complain(&Failure::failed(error)),
        }
    }

    /// What fills the window.
    pub(super) fn context(&self) {
        self.list(&answers::context(&self.conversation.engine));
    }
}

fn wanted(rest: &str, said: &[UserMessage]) -> Wanted {
    let mut words = rest.split_whitespace();
    let (first, second) = (words.next(), words.next());
    let make: fn(dormouse_base::MessageId) -> CompactionScope = match first {
        Some("from") => CompactionScope::From,
        Some("upto") => CompactionScope::UpTo,
        _ => {
            let instructions = Some(rest.trim().to_owned()).filter(|text| !text.is_empty());
            return Wanted::Order(CompactionScope::Whole, instructions);
        }
    };
    let Some(number) = second else { return Wanted::List };
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        // "from now on …": words for the summary, not a choice.
        return Wanted::Order(CompactionScope::Whole, Some(rest.trim().to_owned()));
    }
    // A number that is too large for a number is no message's either.
    let place = number.parse::<usize>().unwrap_or_default();
    match place.checked_sub(1).and_then(|place| said.get(place)) {
        Some(spoken) => Wanted::Order(make(spoken.message), None),
        None => Wanted::NoSuch(number.to_owned()),
    }
}

fn messages(said: &[UserMessage]) -> answers::Rows {
    let first = said.len().saturating_sub(LISTED);
    said.iter()
        .enumerate()
        .skip(first)
        .map(|(place, spoken)| {
            let line = spoken.text.lines().next().unwrap_or_default();
            ((place + 1).to_string(), line.chars().take(70).collect())
        })
        .collect()
}
