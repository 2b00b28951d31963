//! `dormouse demo`: a short story through the real program, in a temporary folder, with a scripted
//! model. It says at each step what happened and why.

mod scenes;
mod scenes_of_length;
mod scenes_of_sleep;
mod stage;

use dormouse_conversation::ResultContent;
use dormouse_engine::EngineEvent;

use crate::exit::{Exit, Failure};
use crate::show;
use crate::world::World;
use stage::Stage;

/// Of a long result this many lines are shown, and the last.
const SHOWN_LINES: usize = 6;

pub(crate) async fn run(world: &World) -> Result<Exit, Failure> {
    let stage = Stage::build(world)?;
    show::data_line("This is a demo: the model is scripted, everything else is the real program.");
    show::data_line(&format!(
        "It plays in {} and touches nothing outside.\n",
        stage.root.display()
    ));
    scenes::a_question(&stage).await?;
    scenes::a_huge_result(&stage).await?;
    scenes::something_to_remember(&stage).await?;
    scenes::something_recalled(&stage).await?;
    scenes_of_length::notes_for_free(&stage).await?;
    scenes_of_length::an_overflow(&stage).await?;
    scenes_of_sleep::unasked(&stage).await?;
    scenes_of_sleep::a_dream(&stage).await?;
    show::data_line("\nThe temporary folder is removed again.");
    Ok(Exit::Done)
}

fn narrate(event: &EngineEvent) {
    match event {
        EngineEvent::Text(text) => show::data(text),
        EngineEvent::ToolStarted { name, input, .. } => {
            show::data_line(&format!("\n\n  [{name}] {input}"));
        }
        EngineEvent::Message(message) => {
            for result in
                message.blocks.iter().filter_map(dormouse_conversation::Block::result_content)
            {
                if let ResultContent::Text(text) = result {
                    show_result(&text);
                    show::data_line("");
                }
            }
        }
        EngineEvent::Thinking(_)
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
            show::data_line(&format!("  {}", receipt.line()));
            receipt.explained().iter().for_each(|line| show::data_line(&format!("    {line}")));
        }
        EngineEvent::Remembered(what) => show::data_line(&format!("  memory: {what}")),
        EngineEvent::Compacted(report) => show::data_line(&format!("  {report}")),
        EngineEvent::Notice(text) => show::data_line(&format!("  note: {text}")),
    }
}

fn why(text: &str) {
    show::data_line(&format!("  why: {text}"));
}

fn show_result(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(SHOWN_LINES) {
        show::data_line(&format!("  | {line}"));
    }
    if lines.len() > SHOWN_LINES {
        show::data_line(&format!("  | … {} more lines", lines.len() - SHOWN_LINES));
    }
}
