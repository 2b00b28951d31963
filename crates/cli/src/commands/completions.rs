//! `dormouse completions`: shell completions and the man page, generated from the argument definitions.

use std::io;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::args::{CompletionsArguments, CompletionsTarget, command_with_help};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;

const NAME: &str = "dormouse";

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Exit, Failure> {
    let text = match arguments.target {
        CompletionsTarget::Bash => script(Shell::Bash),
        CompletionsTarget::Elvish => script(Shell::Elvish),
        CompletionsTarget::Fish => script(Shell::Fish),
        CompletionsTarget::Powershell => script(Shell::PowerShell),
        CompletionsTarget::Zsh => script(Shell::Zsh),
        CompletionsTarget::Man => man_page().map_err(Failure::failed)?,
    };
    print::data(&String::from_utf8_lossy(&text));
    Ok(Exit::Done)
}

fn script(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command_with_help(), NAME, &mut text);
    text
}

/// One page: the program, then a section for each command.
fn man_page() -> io::Result<Vec<u8>> {
    let mut root = command_with_help();
    root.build();
    let mut page = Vec::new();
    let man = Man::new(root.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    after_help(&root, "SH").to_writer(&mut page)?;
    for command in subcommands(&root) {
        section(command, &mut page)?;
    }
    Ok(page)
}

/// All visible subcommands, at every depth, without `help`.
fn subcommands(command: &Command) -> Vec<&Command> {
    let listed =
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    listed.flat_map(|sub| std::iter::once(sub).chain(subcommands(sub))).collect()
}

fn section(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut head = Roff::new();
    head.control("SH", [name.to_uppercase().as_str()]);
    head.to_writer(page)?;
    let man = Man::new(command.clone());
    let mut parts = Vec::new();
    man.render_description_section(&mut parts)?;
    man.render_synopsis_section(&mut parts)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut parts)?;
    }
    // Headings within a command are one level below its own.
    let parts =
        String::from_utf8_lossy(&parts).replace(".SH DESCRIPTION\n", "").replace(".SH ", ".SS ");
    page.extend_from_slice(parts.as_bytes());
    after_help(command, "SS").to_writer(page)
}

/// Examples and notes. An unindented line that ends with a colon is a heading.
fn after_help(command: &Command, heading: &str) -> Roff {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut page = Roff::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            Some(title) => {
                page.control("fi", [])
                    .control(heading, [title.to_uppercase().as_str()])
                    .control("nf", []);
            }
            None => {
                page.text([roman(line.trim_start())]);
            }
        }
    }
    page.control("fi", []);
    page
}
