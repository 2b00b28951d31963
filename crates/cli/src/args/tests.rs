//! The help texts are complete, and their examples parse.

use std::collections::BTreeSet;

use clap::{Arg, Command, CommandFactory, Parser};

use super::help::command_with_help;
use super::*;

/// All commands, each with its catalog key.
fn commands() -> Vec<(String, Command)> {
    let mut root = command_with_help();
    root.build();
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().cloned());
        let name = command.get_bin_name().unwrap_or("dormouse").to_owned();
        let key = name.strip_prefix("dormouse ").unwrap_or(&name).replace(' ', "-");
        found.push((key, command));
    }
    found
}

fn examples(command: &Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let indented = help.lines().filter(|line| line.starts_with("  "));
    indented.filter(|line| line.contains("dormouse")).map(str::to_owned).collect()
}

fn is_ours(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

#[test]
fn every_command_and_argument_has_a_help_text() {
    for (key, command) in commands() {
        assert!(command.get_about().is_some(), "`{key}` has no text in help.ftl");
        for argument in command.get_arguments().filter(|argument| is_ours(argument)) {
            let name = argument.get_id();
            assert!(argument.get_help().is_some(), "`{key}` has no `.{name}` in help.ftl");
            if argument.get_action().takes_values() {
                for value in argument.get_possible_values() {
                    let value_name = value.get_name();
                    let is_boolean = ["true", "false"].contains(&value_name);
                    assert!(
                        is_boolean || value.get_help().is_some(),
                        "`{key}` has no `.{name}-{value_name}` in help.ftl"
                    );
                }
            }
        }
    }
}

#[test]
fn every_help_text_belongs_to_a_command_or_argument() {
    let mut expected = BTreeSet::new();
    let mut shared = BTreeSet::from(["examples-heading".to_owned(), "example-heading".to_owned()]);
    for (key, command) in commands() {
        let mut attributes = BTreeSet::from(["notes".to_owned()]);
        for argument in command.get_arguments().filter(|argument| is_ours(argument)) {
            let name = argument.get_id().as_str().replace('_', "-");
            let values = argument.get_possible_values();
            let words = values.iter().filter_map(|value| value.get_name().split(':').next());
            attributes.extend(words.map(|word| format!("{name}-{word}")));
            attributes.insert(name);
        }
        expected.extend(attributes.iter().map(|attribute| format!("{key}.{attribute}")));
        expected.insert(key);
        shared.extend(attributes);
    }
    expected.insert("common".to_owned());
    expected.extend(shared.iter().map(|attribute| format!("common.{attribute}")));
    let mut message = String::new();
    for line in include_str!("../message_catalog/en/help.ftl").lines() {
        let Some((name, _)) = line.split_once(" =") else { continue };
        let name = if let Some(attribute) = name.strip_prefix("    .") {
            format!("{message}.{attribute}")
        } else if name.starts_with([' ', '#']) {
            continue;
        } else {
            name.clone_into(&mut message);
            name.to_owned()
        };
        assert!(expected.contains(&name), "no command or argument is called `{name}`");
    }
}

#[test]
fn every_command_has_examples_that_name_it() {
    let commands = commands();
    assert!(commands.len() > 5, "{commands:?}");
    for (key, command) in commands {
        let name = command.get_bin_name().unwrap_or("dormouse");
        let examples = examples(&command);
        assert!(examples.iter().any(|example| example.contains(name)), "{key}: {examples:?}");
    }
}

#[test]
fn the_examples_parse() {
    for (key, command) in commands() {
        for example in examples(&command) {
            let words = own_part(words(&example));
            let parsed = Arguments::try_parse_from(&words);
            assert!(parsed.is_ok(), "{key}: {words:?}: {}", parsed.unwrap_err());
        }
    }
}

/// Drops the program in front of `-- dormouse` in a line such as `other add -- dormouse mcp`.
fn own_part(mut words: Vec<String>) -> Vec<String> {
    if let Some(at) = words.windows(2).position(|pair| pair == ["--", "dormouse"]) {
        words.drain(..=at);
    }
    words
}

/// The words of the `dormouse` command in a shell line, with quotes removed and pipes and redirections cut off.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut quote = None;
    let mut word = String::new();
    for c in line.trim().chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    let ours = words.split(|word| word == "|").find(|part| part.contains(&"dormouse".to_owned()));
    let ours = ours.unwrap_or_default().iter().take_while(|word| *word != ">");
    ours.cloned().collect()
}

#[test]
fn the_definition_is_valid() {
    Arguments::command().debug_assert();
}

#[test]
fn a_word_that_looks_like_a_command_is_not_a_prompt() {
    let similar = |words: &[&str]| {
        let words = std::iter::once(&"dormouse").chain(words);
        let arguments = Arguments::try_parse_from(words).unwrap();
        arguments.misspelled_command().map(|(_, similar)| similar)
    };
    assert_eq!(similar(&["statsu"]).as_deref(), Some("stats"));
    assert_eq!(similar(&["status"]).as_deref(), Some("stats"));
    assert_eq!(similar(&["memroy"]).as_deref(), Some("memory"));
    assert_eq!(similar(&["memroy", "list"]).as_deref(), Some("memory"));
    assert_eq!(similar(&["settings"]).as_deref(), Some("config"));
    assert_eq!(similar(&["version"]).as_deref(), Some("--version"));
    for prompt in [
        &["settings", "of", "vim"][..],
        &["foo"],
        &["hello"],
        &["hi"],
        &["do"],
        &["build"],
        &["-p", "statsu"],
        &["statsu please"],
        &["why", "statsu"],
        &["memroy", "is", "broken"],
        &["修复测试"],
    ] {
        assert_eq!(similar(prompt), None, "{prompt:?}");
    }
}

#[test]
fn help_as_the_last_word_is_help() {
    let error = super::parse_arguments(["dormouse", "memory", "help"]).unwrap_err();
    assert!(error.to_string().contains("dormouse memory <COMMAND>"), "{error}");
    assert!(super::parse_arguments(["dormouse", "memory", "hlep"]).is_err());
}
