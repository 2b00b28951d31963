//! Help texts from the message catalog. They are put into the [`clap::Command`] only when help, completions or
//! the man page is rendered: an ordinary run does not load them.
//!
//! The catalog has one message per command, named after its path (`memory-list`), with an attribute per option
//! (`.limit`), per value of an option (`.scope-user`) and for the text below the examples (`.notes`). An attribute
//! that the command does not have is taken from the message `common`.

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory, Parser};

use super::{Arguments, OutputFormat};
use crate::message_catalog::help_text;

const PROGRAM: &str = "dormouse";
const COMMON: &str = "common";

/// Parses a command line. An error that shows help has the texts of the catalog.
pub(crate) fn parse_arguments<T>(
    words: impl IntoIterator<Item = T>,
) -> Result<Arguments, clap::Error>
where
    T: Into<OsString>,
{
    let mut words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    Arguments::try_parse_from(&words).map_err(|error| match error.kind() {
        // `dormouse memory help`
        ErrorKind::InvalidSubcommand if words.pop_if(|last| last == "help").is_some() => {
            words.push("--help".into());
            command_with_help().try_get_matches_from(words).err().unwrap_or(error)
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            command_with_help().try_get_matches_from(words).err().unwrap_or(error)
        }
        _ => error,
    })
}

/// The JSON that a command line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonOutput {
    /// The value of a command, by `--json`.
    Value,
    /// The result of a run, by `--output-format`.
    Run(OutputFormat),
}

/// The JSON that a command line asks for, if it does; also where the rest of it cannot be parsed.
pub(crate) fn wanted_json<T>(words: impl IntoIterator<Item = T>) -> Option<JsonOutput>
where
    T: Into<OsString>,
{
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let words = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    let mut is_format = false;
    words.into_iter().find_map(|word| {
        let format = word.strip_prefix("--output-format=").or_else(|| is_format.then_some(&*word));
        is_format = word == "--output-format";
        match format {
            Some("json") => Some(JsonOutput::Run(OutputFormat::Json)),
            Some("stream-json") => Some(JsonOutput::Run(OutputFormat::StreamJson)),
            _ => (word == "--json").then_some(JsonOutput::Value),
        }
    })
}

/// The command line with all help texts.
pub(crate) fn command_with_help() -> Command {
    add_texts(Arguments::command(), PROGRAM)
}

fn add_texts(command: Command, key: &str) -> Command {
    let notes = help_text(key, Some("notes")).map(|notes| join_lines(&notes));
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let below = [Some(example_section(&examples)), notes].into_iter().flatten();
    let below = below.collect::<Vec<_>>().join("\n\n");
    let command = match help_text(key, None) {
        Some(about) => command.about(about),
        None => command,
    };
    command
        .after_help(below)
        .mut_args(|argument| add_argument_texts(argument, key))
        .mut_subcommands(|subcommand| {
            let name = subcommand.get_name().to_owned();
            let key = if key == PROGRAM { name } else { format!("{key}-{name}") };
            add_texts(subcommand, &key)
        })
}

/// Joins the lines of each paragraph, so that they are wrapped once, for the width of the terminal. Indented lines stay.
fn join_lines(text: &str) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut joined = String::new();
    let mut previous = "";
    for line in text.lines() {
        if !joined.is_empty() {
            joined.push(if is_prose(previous) && is_prose(line) { ' ' } else { '\n' });
        }
        joined.push_str(line);
        previous = line;
    }
    joined
}

/// The example command lines, indented under a heading.
fn example_section(examples: &str) -> String {
    let count = examples.lines().count();
    let heading = if count == 1 { "example-heading" } else { "examples-heading" };
    let heading = help_text(COMMON, Some(heading)).unwrap_or_default();
    let lines = examples.lines().map(|line| format!("\n  {line}"));
    heading + &lines.collect::<String>()
}

fn add_argument_texts(argument: Arg, key: &str) -> Arg {
    if argument.is_hide_set() {
        return argument;
    }
    let attribute = argument.get_id().as_str().replace('_', "-");
    let values = argument.get_possible_values();
    let takes_words = argument.get_action().takes_values() && !values.is_empty();
    let argument = match own_or_common(key, &attribute) {
        Some(text) => argument.help(text),
        None => argument,
    };
    if !takes_words {
        return argument;
    }
    let values = values.into_iter().map(|value| {
        // What stands behind a colon is the user's word.
        let word = value.get_name().split(':').next().unwrap_or_default();
        match own_or_common(key, &format!("{attribute}-{word}")) {
            Some(text) => value.help(text),
            None => value,
        }
    });
    argument.value_parser(PossibleValuesParser::new(values))
}

fn own_or_common(key: &str, attribute: &str) -> Option<String> {
    help_text(key, Some(attribute)).or_else(|| help_text(COMMON, Some(attribute)))
}
