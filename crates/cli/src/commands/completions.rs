//! `dormouse completions`: scripts for shells and the man page, from the arguments themselves.

use std::io;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::args::{Arguments, CompletionsFor};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;

const NAME: &str = "dormouse";

pub(crate) fn run(whom: CompletionsFor) -> Result<Exit, Failure> {
    let text = match whom {
        CompletionsFor::Bash => script(Shell::Bash),
        CompletionsFor::Elvish => script(Shell::Elvish),
        CompletionsFor::Fish => script(Shell::Fish),
        CompletionsFor::Powershell => script(Shell::PowerShell),
        CompletionsFor::Zsh => script(Shell::Zsh),
        CompletionsFor::Man => man_page().map_err(Failure::failed)?,
    };
    print::data(&String::from_utf8_lossy(&text));
    Ok(Exit::Done)
}

fn script(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), NAME, &mut text);
    text
}

/// One page for all: the program, then a section for each of its commands.
fn man_page() -> io::Result<Vec<u8>> {
    let mut root = Arguments::command();
    root.build();
    let mut page = Vec::new();
    let man = Man::new(root.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    after_help(&root, "SH").to_writer(&mut page)?;
    for command in below(&root) {
        section(command, &mut page)?;
    }
    Ok(page)
}

/// The commands below one, and those below them; `help` is said by the synopsis.
fn below(command: &Command) -> Vec<&Command> {
    let listed =
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    listed.flat_map(|sub| std::iter::once(sub).chain(below(sub))).collect()
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
    // Its headings are below the command's own.
    let parts =
        String::from_utf8_lossy(&parts).replace(".SH DESCRIPTION\n", "").replace(".SH ", ".SS ");
    page.extend_from_slice(parts.as_bytes());
    after_help(command, "SS").to_writer(page)
}

/// The text under the help: a line that begins at its left and ends with a colon is a heading, the
/// rest stands as it is.
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
