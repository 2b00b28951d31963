//! What the help says is true: every command has examples, and the examples can be typed.

use clap::{CommandFactory, Parser};

use super::*;

/// Every command that help lists, with its examples.
fn commands() -> Vec<(String, Vec<String>)> {
    let mut root = Arguments::command();
    root.build();
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|sub| sub.get_name() != "help").cloned());
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let name = command.get_bin_name().unwrap_or("dormouse").to_owned();
        let examples = help.lines().filter(|line| line.contains("dormouse")).map(str::to_owned);
        found.push((name, examples.collect()));
    }
    found
}

#[test]
fn every_command_has_examples_that_name_it() {
    let commands = commands();
    assert!(commands.len() > 5, "{commands:?}");
    for (name, examples) in commands {
        assert!(!examples.is_empty(), "`{name} --help` has no example");
        assert!(examples.iter().any(|example| example.contains(&name)), "{name}: {examples:?}");
    }
}

#[test]
fn the_examples_can_be_typed() {
    for (name, examples) in commands() {
        for example in examples {
            let words = of_ours(words(&example));
            let parsed = Arguments::try_parse_from(&words);
            assert!(parsed.is_ok(), "{name}: {words:?}: {}", parsed.unwrap_err());
        }
    }
}

/// What another program is told to run: `other add -- dormouse mcp`.
fn of_ours(mut words: Vec<String>) -> Vec<String> {
    if let Some(at) = words.windows(2).position(|pair| pair == ["--", "dormouse"]) {
        words.drain(..=at);
    }
    words
}

/// The words of the `dormouse` in a line: quotes are heeded, what is around pipes and arrows is not ours.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote, mut word) = (Vec::new(), None, String::new());
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
fn the_definition_is_sound() {
    Arguments::command().debug_assert();
}
