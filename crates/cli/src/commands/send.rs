//! `dormouse send`: send a message to a session or agent.

use std::io::BufRead;
use std::sync::Arc;

use dormouse_agents::messages::{
    MessageContent, MessageRouter, MessageSender, MessageSummary, MessageText,
};
use dormouse_engine::SessionFolder;

use crate::args::SendArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::session_messages::mailboxes;
use crate::wiring::world::{World, current_project};

pub(crate) async fn run(arguments: &SendArguments, world: &World) -> Result<Exit, Failure> {
    let folder = SessionFolder::open(&world.home()?, &current_project()?)?;
    let routes = MessageSender {
        from: arguments.from.clone(),
        reply_to: None,
        router: MessageRouter::new(Arc::clone(&world.clock), Arc::clone(&world.ids)),
        mailboxes: mailboxes(world, folder.dir())?,
    };
    if arguments.lines {
        for line in std::io::stdin().lock().lines() {
            let line = line.map_err(|error| {
                Failure::failed(anyhow::anyhow!(msg!(
                    "stdin-unreadable",
                    error = error.to_string()
                )))
            })?;
            if !line.trim().is_empty() {
                send_one(&routes, arguments, &line).await?;
            }
        }
        return Ok(Exit::Done);
    }
    let text = if arguments.text.is_empty() { input::read()? } else { arguments.text.join(" ") };
    send_one(&routes, arguments, text.trim_end()).await?;
    Ok(Exit::Done)
}

async fn send_one(
    routes: &MessageSender,
    arguments: &SendArguments,
    text: &str,
) -> Result<(), Failure> {
    if text.trim().is_empty() {
        return Err(
            Failure::usage(anyhow::anyhow!(msg!("send-empty"))).hint(msg!("send-empty-hint"))
        );
    }
    let summary = match &arguments.summary {
        Some(summary) => MessageSummary::new(summary),
        None => MessageSummary::of(text),
    };
    let content = MessageContent::Text {
        summary: summary.map_err(|error| Failure::usage(error).hint(msg!("send-summary-hint")))?,
        text: MessageText::new(text).map_err(Failure::usage)?,
    };
    let sent = routes.send(&arguments.to, content).await.map_err(Failure::failed)?;
    print::data_line(&sent.to_string());
    Ok(())
}
