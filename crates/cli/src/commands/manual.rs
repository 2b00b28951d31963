//! `dormouse help [TOPIC]`: the pages of the manual, which are part of the program, and the help texts of commands.

use std::io::IsTerminal;

use dormouse_agents::MANUAL_PAGES;
use dormouse_base::{Environment, nearest_name};
use dormouse_tui::markdown::Renderer;
use dormouse_tui::style::Piece;

use crate::args::{ManualArguments, command_with_help};
use crate::message_catalog::msg;
use crate::terminal::color::ColorMode;
use crate::terminal::tty;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;

/// Longer rows are hard to read.
const WIDEST: usize = 100;

/// Names and texts of the pages.
fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    MANUAL_PAGES.iter().map(|(file, text)| (file.strip_suffix(".md").unwrap_or(file), *text))
}

pub(crate) fn run(arguments: &ManualArguments, world: &World) -> Result<Exit, Failure> {
    let words: Vec<&str> = arguments.topic.iter().map(String::as_str).collect();
    let page = |name: &str| {
        let name = name.strip_suffix(".md").unwrap_or(name);
        pages().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| text)
    };
    match words.as_slice() {
        [] => {
            print::data_line(command_with_help().render_help().to_string().trim_end());
            print::data_line(&format!("\n{}", msg!("manual-topics", topics = topics())));
        }
        [name] if page(name).is_some() => {
            show(page(name).unwrap_or_default(), &world.environment);
            if command_with_help().find_subcommand(name).is_some() {
                print::note(&msg!("manual-options", command = *name));
            }
        }
        path => print::data_line(&command_help(path)?),
    }
    Ok(Exit::Done)
}

fn topics() -> String {
    pages().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

/// A page, rendered for a terminal; as it is in a pipe.
fn show(text: &str, environment: &Environment) {
    if !std::io::stdout().is_terminal() {
        return print::data(text);
    }
    let color = ColorMode::for_stdout(environment);
    let mut renderer = Renderer::new(tty::columns().min(WIDEST));
    let mut pieces = renderer.push(&joined_paragraphs(text));
    pieces.extend(renderer.finish());
    let painted = pieces.iter().map(|piece| match piece {
        Piece::Text(text, style) => color.paint(text, *style),
        Piece::Newline => "\n".to_owned(),
    });
    print::rendered(&painted.collect::<String>());
}

/// The text with each paragraph and list item on one line, to be wrapped for the terminal.
fn joined_paragraphs(text: &str) -> String {
    let mut out = String::new();
    let (mut in_code, mut may_go_on) = (false, false);
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let starts = line.is_empty() || line.trim_start().starts_with(['-', '|', '#', '>', '*']);
        if may_go_on && !in_code && !is_fence && !starts {
            out.push(' ');
            out.push_str(line.trim_start());
        } else {
            out.push('\n');
            out.push_str(line);
        }
        in_code ^= is_fence;
        may_go_on = !line.is_empty() && !is_fence && !line.starts_with(['|', '#']);
    }
    out.trim_start().to_owned() + "\n"
}

/// The help text of a command.
fn command_help(path: &[&str]) -> Result<String, Failure> {
    let mut command = command_with_help();
    // Gives the parts their whole names.
    command.build();
    for name in path {
        let Some(found) = command.find_subcommand(name).cloned() else {
            let names = pages().map(|(name, _)| name.to_owned());
            let commands = command.get_subcommands().map(|known| known.get_name().to_owned());
            let similar = nearest_name(name, names.chain(commands));
            let failure = Failure::usage(anyhow::anyhow!(msg!("manual-unknown", topic = *name)));
            let failure = match similar {
                Some(similar) => failure.hint(msg!("did-you-mean", name = similar)),
                None => failure,
            };
            return Err(failure.hint(msg!("manual-topics", topics = topics())));
        };
        command = found;
    }
    Ok(command.render_help().to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_code_is_not() {
        let text = "# A\n\none\ntwo\n- x\n  y\n\n```text\na\nb\n```\n| t |\n| u |\nend\n";
        let expected = "# A\n\none two\n- x y\n\n```text\na\nb\n```\n| t |\n| u |\nend\n";
        assert_eq!(joined_paragraphs(text), expected);
    }

    /// Every file of the manual is a page.
    #[test]
    fn every_page_is_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(name) = name.strip_suffix(".md").filter(|name| *name != "README") else {
                continue;
            };
            assert!(pages().any(|(known, _)| known == name), "{name}");
        }
    }
}
