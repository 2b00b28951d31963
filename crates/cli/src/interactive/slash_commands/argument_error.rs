//! What is wrong with the arguments of a slash command, on one line.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

/// The mistake in the arguments of a command that the user has called by this name; none if they asked for help.
pub(super) fn argument_error(name: &str, error: &clap::Error) -> Option<String> {
    let other = Failure::of_arguments(error)?;
    let problem = known_problem(error).unwrap_or_else(|| {
        let line = other.message();
        line.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    });
    let similar = suggestion(error).map(|similar| msg!("argument-suggestion", name = similar));
    let similar = similar.unwrap_or_default();
    Some(msg!("argument-error", name = name, problem = problem, similar = similar))
}

/// The mistakes that people make.
fn known_problem(error: &clap::Error) -> Option<String> {
    let text = |kind| texts(error, kind).into_iter().next();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let given = text(ContextKind::InvalidSubcommand)?;
            Some(msg!("argument-unknown-command", given = given))
        }
        ErrorKind::UnknownArgument => {
            let given = text(ContextKind::InvalidArg)?;
            Some(if given.starts_with('-') {
                msg!("argument-unknown-option", given = given)
            } else {
                msg!("argument-too-many", given = given)
            })
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg).join(" ");
            Some(msg!("argument-missing", argument = missing))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let argument = text(ContextKind::InvalidArg)?;
            let given = text(ContextKind::InvalidValue).unwrap_or_default();
            let valid = texts(error, ContextKind::ValidValue).join(", ");
            Some(match (given.is_empty(), valid.is_empty()) {
                (true, true) => msg!("argument-no-value", argument = argument),
                (_, false) => msg!("argument-value-of", argument = argument, valid = valid),
                (false, true) => msg!("argument-value", argument = argument, given = given),
            })
        }
        _ => None,
    }
}

/// The similar word that fits, if there is one.
fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    kinds.into_iter().find_map(|kind| texts(error, kind).pop())
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::args::parse_arguments;

    use super::*;

    #[test]
    fn mistakes_are_said_on_one_line() {
        let said = |words: &str| {
            let words = ["dormouse", "memory"].into_iter().chain(words.split_whitespace());
            argument_error("memory", &parse_arguments(words).unwrap_err())
        };
        let help = "/memory --help shows its arguments.";
        for (words, problem) in [
            ("lst", "no command `lst`. Did you mean `list`?"),
            ("xyzzy", "no command `xyzzy`."),
            ("list --scpoe user", "no option `--scpoe`. Did you mean `--scope`?"),
            ("list --scope mine", "--scope <SCOPE> must be one of"),
            ("list --scope", "--scope <SCOPE> must be one of"),
            ("show", "<NAME> is missing."),
        ] {
            let line = said(words).unwrap();
            assert!(line.starts_with(&format!("/memory: {problem}")), "{words}: {line}");
            assert!(line.ends_with(help) && !line.contains('\n'), "{words}: {line}");
        }
        assert_eq!(said("--help"), None);
    }
}
