//! The first line of a headless run, and how it ends.

use dormouse_engine::{TurnEnd, TurnReport};

use crate::args::Arguments;
use crate::headless::output::OutputPrinter;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::server_failure::server_failure;
use crate::wiring::session_start::{ActiveSession, KeyOrigin};

/// Prints the first line of the output.
pub(super) fn begin(arguments: &Arguments, session: &ActiveSession) -> OutputPrinter {
    let engine = &session.engine;
    let id = engine.conversation().session().to_string();
    let model = engine.model().name.clone();
    let printer = OutputPrinter::new(arguments.output_format, id, model, arguments.verbose);
    let tools = engine.conversation().prefix().tools().iter();
    let tools: Vec<String> = tools.map(|tool| tool.name.clone()).collect();
    printer.begin(&session.surroundings.folder, &tools);
    printer
}

/// What the program ends with after its last turn.
pub(super) fn finish(report: &TurnReport, key: &KeyOrigin) -> Result<Exit, Failure> {
    match &report.end {
        TurnEnd::Completed => Ok(Exit::Done),
        TurnEnd::Interrupted => {
            print::note("note: interrupted; partial output kept. --continue resumes the session");
            Ok(Exit::Interrupted)
        }
        TurnEnd::Cut => Ok(stopped("response truncated at the output token limit")),
        TurnEnd::Refused => Ok(stopped("the model refused to respond")),
        TurnEnd::Empty => Ok(stopped("the model sent an empty response; try again")),
        TurnEnd::MaxTurns => Ok(stopped(
            "--max-turns reached before the model finished; --continue resumes the session",
        )),
        TurnEnd::MaxCost => Ok(stopped(
            "cost limit (--max-cost) reached before the model finished; --continue resumes the session",
        )),
        TurnEnd::Repeating(tool) => Ok(stopped(&format!(
            "stopped: the model made the same {tool} call three times, with the same result and nothing new in between; \
             --continue resumes the session",
        ))),
        TurnEnd::Halted(why) => Ok(stopped(&format!("a hook stopped the turn: {why}"))),
        TurnEnd::Blocked(why) => {
            Ok(stopped(&format!("a hook blocked the prompt; it was not sent: {why}")))
        }
        TurnEnd::NoPrompt(why) => Ok(stopped(&msg!("turn-no-prompt", reason = why.as_str()))),
        TurnEnd::Failed(error) => Err(server_failure(error, key.source.as_deref(), &key.variable)),
    }
}

fn stopped(why: &str) -> Exit {
    print::note(&format!("note: {why}"));
    Exit::StoppedEarly
}
