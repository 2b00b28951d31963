//! The subcommands of git that only read, in their reading forms.
//!
//! Invariant: holds with [`SAFE_GIT_ENVIRONMENT`](super::SAFE_GIT_ENVIRONMENT) set, which takes away
//! the programs that a repository's own settings name. No flag of git itself is allowed in front of the
//! subcommand but `--no-pager`: they change settings or the repository.

use super::flags::{AllowedFlags, ParsedArguments, parse};
use super::git_flags as known;
use super::reasons::{CommandAction, NotReadOnly};
use super::scan::Word;

/// The places of a format that ask for a signature.
const SIGNATURES: [&str; 5] = ["%G", "%+G", "%-G", "% G", "%(signature"];

pub(super) fn check(_program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "--no-pager" && first.bare => rest,
        _ => arguments,
    };
    let Some((subcommand, rest)) = arguments.split_first() else {
        return Err(NotReadOnly::NoGitSubcommand);
    };
    let name = subcommand.text.as_str();
    if !subcommand.bare {
        return Err(NotReadOnly::QuotedName(name.to_owned()));
    }
    // A signature is checked by a program that the settings name.
    let checks = |word: &&Word| SIGNATURES.iter().any(|piece| word.text.contains(piece));
    if let Some(word) = rest.iter().find(checks) {
        return Err(action(format!("git {name} {}", word.text), CommandAction::ChecksSignature));
    }
    subcommand_check(name, rest)
}

fn action(part: impl Into<String>, action: CommandAction) -> NotReadOnly {
    NotReadOnly::Action { part: part.into(), action }
}

fn subcommand_check(name: &str, rest: &[Word]) -> Result<(), NotReadOnly> {
    let flags = match name {
        "status" => known::STATUS,
        "diff" => known::DIFF,
        "log" | "show" => known::LOG,
        "blame" => known::BLAME,
        "shortlog" => known::SHORTLOG,
        "ls-files" => known::LS_FILES,
        "ls-tree" => known::LS_TREE,
        "cat-file" => known::CAT_FILE,
        "grep" => known::GREP,
        "describe" => known::DESCRIBE,
        "rev-parse" => known::REV_PARSE,
        "merge-base" => known::MERGE_BASE,
        "name-rev" => known::NAME_REV,
        "for-each-ref" => known::FOR_EACH_REF,
        "count-objects" => AllowedFlags { short: "vH", long: "verbose human-readable" },
        _ => return listing_form(name, rest),
    };
    parse(&format!("git {name}"), rest, &flags).map(|_| ())
}

/// Subcommands that read in one form and write in the next.
fn listing_form(name: &str, rest: &[Word]) -> Result<(), NotReadOnly> {
    let program = format!("git {name}");
    let no_operands = |parsed: ParsedArguments<'_>| match parsed.operands.first() {
        None => Ok(()),
        Some(word) => {
            Err(action(format!("{program} {}", word.text), CommandAction::ChangesRepository))
        }
    };
    match name {
        "branch" => listed(&program, &parse(&program, rest, &known::BRANCH)?),
        "tag" => listed(&program, &parse(&program, rest, &known::TAG)?),
        "remote" => {
            no_operands(parse(&program, rest, &AllowedFlags { short: "v", long: "verbose" })?)
        }
        "version" | "--version" => no_operands(parse(&program, rest, &known::NONE)?),
        "reflog" | "stash" | "worktree" => {
            let (form, flags) = match name {
                "reflog" => ("show", &known::REFLOG),
                "stash" => ("list", &known::REFLOG),
                _ => ("list", &known::WORKTREE),
            };
            match rest.split_first() {
                Some((first, rest)) if first.bare && first.text == form => {
                    parse(&program, rest, flags).map(|_| ())
                }
                _ if name == "reflog" => no_operands(parse(&program, rest, flags)?),
                _ => Err(NotReadOnly::OtherGitForm { command: program, form }),
            }
        }
        "config" => config(&program, &parse(&program, rest, &known::CONFIG)?),
        _ => Err(NotReadOnly::GitSubcommand(name.to_owned())),
    }
}

/// An operand is a new name, unless the list is asked for.
fn listed(program: &str, parsed: &ParsedArguments<'_>) -> Result<(), NotReadOnly> {
    let list = |flag: &str| flag == "list" || (flag == "l" && program == "git tag");
    match parsed.operands.first() {
        Some(word) if !parsed.values.iter().any(|(flag, _)| list(flag)) => {
            Err(action(format!("{program} {}", word.text), CommandAction::CreatesRef))
        }
        _ => Ok(()),
    }
}

fn config(program: &str, parsed: &ParsedArguments<'_>) -> Result<(), NotReadOnly> {
    let asks = |flag: &str| matches!(flag, "get" | "get-all" | "get-regexp" | "list" | "l");
    if parsed.values.iter().any(|(flag, _)| asks(flag)) {
        return Ok(());
    }
    Err(action(program, CommandAction::ChangesSetting))
}
