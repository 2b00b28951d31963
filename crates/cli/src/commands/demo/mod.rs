//! `dormouse demo`: a short story through the real program, in a temporary folder, with a scripted
//! model. It says at each step what happened and why.

mod scenes;
mod scenes_of_length;
mod scenes_of_sleep;
mod stage;

use dormouse_conversation::ResultContent;
use dormouse_engine::EngineEvent;

use crate::terminal::tty::columns;
use crate::terminal::width;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;
use stage::Stage;

/// Of a long result this many lines are shown, and the last.
const SHOWN_LINES: usize = 6;

pub(crate) async fn run(world: &World) -> Result<Exit, Failure> {
    let stage = Stage::build(world)?;
    line("This is a demo: the model is scripted, everything else is the real program.");
    line(&format!("It plays in {} and touches nothing outside.\n", stage.root.display()));
    scenes::a_question(&stage).await?;
    scenes::a_huge_result(&stage).await?;
    scenes::something_to_remember(&stage).await?;
    scenes::something_recalled(&stage).await?;
    scenes_of_length::notes_for_free(&stage).await?;
    scenes_of_length::an_overflow(&stage).await?;
    scenes_of_sleep::unasked(&stage).await?;
    scenes_of_sleep::a_dream(&stage).await?;
    line("\nThe temporary folder is removed again.");
    Ok(Exit::Done)
}

fn narrate(event: &EngineEvent) {
    match event {
        EngineEvent::Text(text) => print::data(text),
        EngineEvent::ToolStarted { name, input, .. } => {
            line(&format!("\n\n  [{name}] {input}"));
        }
        EngineEvent::Message(message) => {
            for result in
                message.blocks.iter().filter_map(dormouse_conversation::Block::result_content)
            {
                if let ResultContent::Text(text) = result {
                    show_result(&text);
                    line("");
                }
            }
        }
        EngineEvent::Answering
        | EngineEvent::Thinking(_)
        | EngineEvent::Compacting(_)
        | EngineEvent::Withdrawn
        | EngineEvent::ToolPrinted { .. }
        | EngineEvent::ToolChanged { .. }
        | EngineEvent::ToolDenied { .. }
        | EngineEvent::ToolFinished { .. }
        | EngineEvent::Planned(_)
        | EngineEvent::Corrected(_)
        | EngineEvent::Retrying { .. } => {}
        EngineEvent::Recalled(receipt) if receipt.recalled.is_empty() => {}
        EngineEvent::Recalled(receipt) => {
            line(&format!("  {}", receipt.line()));
            receipt.explained().iter().for_each(|said| line(&format!("    {said}")));
        }
        EngineEvent::Remembered(what) => line(&format!("  memory: {what}")),
        EngineEvent::Compacted(report) => line(&format!("  {report}")),
        EngineEvent::Notice(text) => line(&format!("  note: {text}")),
    }
}

/// A line of the story. On a terminal it is broken at blanks to fit, and what a tool printed is cut; in a pipe it
/// stays whole.
fn line(text: &str) {
    if !print::is_terminal() {
        return print::data_line(text);
    }
    let width = columns();
    for row in text.split('\n') {
        let indent = row.len() - row.trim_start().len();
        if row.trim_start().starts_with('|') {
            print::data_line(&width::fitted(row, width));
        } else {
            for row in rows(row, width, indent) {
                print::data_line(&row);
            }
        }
    }
}

/// A text in rows of this width, those after the first behind a margin; a word that is longer gets a row of its own.
fn rows(text: &str, width: usize, indent: usize) -> Vec<String> {
    let margin = " ".repeat(indent + usize::from(indent > 0) * 2);
    let mut rows = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let Some(row) = rows.last_mut() else { break };
        let is_begun = !row.trim().is_empty();
        if is_begun && width::of(row) + 1 + width::of(word) > width {
            rows.push(format!("{margin}{word}"));
        } else {
            row.push_str(if is_begun { " " } else { "" });
            row.push_str(word);
        }
    }
    rows
}

fn why(text: &str) {
    line(&format!("  why: {text}"));
}

fn show_result(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for row in lines.iter().take(SHOWN_LINES) {
        line(&format!("  | {row}"));
    }
    if lines.len() > SHOWN_LINES {
        line(&format!("  | … {} more lines", lines.len() - SHOWN_LINES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_blanks() {
        assert_eq!(rows("  why: one two three", 12, 2), ["  why: one", "    two", "    three"]);
        assert_eq!(rows("Scene 1: 睡鼠 sleeps", 13, 0), ["Scene 1: 睡鼠", "sleeps"]);
        assert_eq!(rows("", 10, 0), [""]);
        assert_eq!(rows("incomprehensibilities", 5, 0), ["incomprehensibilities"]);
    }
}
