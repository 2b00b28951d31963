//! The reasons of decisions that people commonly see, read back from their text.
//!
//! A reason goes to the model as it is, in English and in the same bytes; whoever shows it to the user says the same in the user's
//! language. A test compares the readers with the texts that the gate and its errors write.

/// A common reason of a decision. Texts are as the reason has them, without quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionReason<'t> {
    /// A subagent asks, for this reason.
    AgentAsks(&'t str, Box<PermissionReason<'t>>),
    /// A rule denies the call.
    RuleDenies(&'t str),
    /// A rule asks first.
    RuleAsks(&'t str),
    /// A rule allows the call.
    RuleAllows(&'t str),
    /// A rule denies reading a file that the call can reach.
    RuleHides(&'t str, &'t str),
    /// Plan mode allows no changes; and why this is one.
    PlanMode(Box<PermissionReason<'t>>),
    /// A subagent may only read; and why this is more.
    OnlyReads(Box<PermissionReason<'t>>),
    /// A program that is not known as read-only.
    Program(&'t str),
    /// A git subcommand that is not known as read-only.
    GitSubcommand(&'t str),
    /// A program with a flag that may do more than read.
    Flag(&'t str),
    /// A part of a command that writes to a file.
    WritesFile(&'t str),
    /// A part of a command that may modify files.
    ModifiesFiles(&'t str),
    /// A part of a command that deletes files.
    DeletesFiles(&'t str),
    /// A part of a command that may change the repository.
    ChangesRepository(&'t str),
    /// A part of a command that runs a program.
    RunsProgram(&'t str),
    /// The call writes a file.
    Writes(&'t str),
    /// The call sends a request to a host.
    Request(&'t str),
    /// Nothing is known about a tool.
    UnknownTool(&'t str),
    /// The call can read keys or passwords.
    Credentials(&'t str),
    /// The call reads a file outside the project.
    ReadsOutside(&'t str),
    /// A file outside the working directory.
    Outside(&'t str),
    /// A file in a folder whose files configure programs.
    ConfigurationFolder(&'t str, &'t str),
    /// A file that programs load at startup.
    ConfigurationFile(&'t str),
    /// The call only reads.
    ReadOnly,
    /// The command only reads.
    ReadOnlyCommand,
    /// The mode permits everything.
    Bypass,
    /// Edits in the working directory are accepted.
    EditsAccepted,
    /// The command runs in the sandbox.
    Sandboxed,
}

/// A reason with one text in it: what stands before and after that.
type OneText<'t> = (&'static str, &'static str, fn(&'t str) -> PermissionReason<'t>);

impl<'t> PermissionReason<'t> {
    /// The reason that a text says; none if it is a rare one.
    pub fn read(why: &'t str) -> Option<Self> {
        Self::with_other_reason(why)
            .or_else(|| Self::with_two_texts(why))
            .or_else(|| Self::with_one_text(why))
            .or_else(|| Self::fixed(why))
    }

    fn with_other_reason(why: &'t str) -> Option<Self> {
        let boxed = |why| Self::read(why).map(Box::new);
        if let Some(rest) = why.strip_suffix(". Plan mode allows no changes.") {
            return Some(Self::PlanMode(boxed(rest)?));
        }
        if let Some(rest) = why.strip_suffix(". This agent may only read.") {
            return Some(Self::OnlyReads(boxed(rest)?));
        }
        let (agent, rest) = why.strip_prefix("the agent ")?.split_once(" asks: ")?;
        Some(Self::AgentAsks(agent, boxed(rest)?))
    }

    fn with_two_texts(why: &'t str) -> Option<Self> {
        let hides = || {
            let rest = why.strip_prefix("the rule `")?.strip_suffix(", which it can reach")?;
            let (rule, file) = rest.split_once("` denies reading ")?;
            Some(Self::RuleHides(rule, file))
        };
        let folder = || {
            let rest = why.strip_suffix("`; files there configure programs")?;
            let (path, folder) = rest.rsplit_once(" is in `")?;
            Some(Self::ConfigurationFolder(path, folder))
        };
        hides().or_else(folder)
    }

    fn with_one_text(why: &'t str) -> Option<Self> {
        let texts: [OneText<'t>; 18] = [
            ("the rule `", "` denies it", Self::RuleDenies),
            ("the rule `", "` asks first", Self::RuleAsks),
            ("the rule `", "` allows it", Self::RuleAllows),
            ("`git ", "` is not a read-only git subcommand", Self::GitSubcommand),
            ("`", "` is not known as a read-only command", Self::Program),
            ("`", "` may do more than read", Self::Flag),
            ("`", "` writes to a file", Self::WritesFile),
            ("`", "` may modify files", Self::ModifiesFiles),
            ("`", "` deletes the files it finds", Self::DeletesFiles),
            ("`", "` may change the repository", Self::ChangesRepository),
            ("`", "` runs a program", Self::RunsProgram),
            ("it writes ", "", Self::Writes),
            ("it sends a request to `", "`", Self::Request),
            ("it can read ", ", which may hold keys or passwords", Self::Credentials),
            ("it reads ", ", outside the project", Self::ReadsOutside),
            ("", " may change something", Self::UnknownTool),
            ("", " is outside the working directory", Self::Outside),
            ("", " is a configuration file that programs load at startup", Self::ConfigurationFile),
        ];
        texts.into_iter().find_map(|(before, after, reason)| {
            let text = why.strip_prefix(before)?.strip_suffix(after)?;
            Some(reason(text))
        })
    }

    fn fixed(why: &str) -> Option<Self> {
        Some(match why {
            "it only reads" => Self::ReadOnly,
            "the command only reads" => Self::ReadOnlyCommand,
            "everything is permitted in this mode" => Self::Bypass,
            "edits in the working directory are accepted" => Self::EditsAccepted,
            "it runs in the sandbox" => Self::Sandboxed,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use crate::gate::{PermissionGate, PermissionMode};
    use crate::protected::EditNotAccepted;
    use crate::read_access::{ReadingNeed, ReadingObjection};
    use crate::request::{Access, PermissionNeed, PermissionRequest};
    use crate::rules::PermissionRules;
    use crate::shell::{CommandAction, NotReadOnly};

    use super::*;

    #[test]
    fn errors_are_read_back() {
        let action = |action| NotReadOnly::Action { part: "sed -i".to_owned(), action };
        let path = || PathBuf::from("/p/a b");
        let reading = |need| ReadingObjection { need, path: path() }.to_string();
        let folder = EditNotAccepted::ProtectedFolder { path: path(), folder: ".git".to_owned() };
        let flag = NotReadOnly::Flag { program: "sort".to_owned(), flag: "-o".to_owned() };
        for (text, expected) in [
            (
                NotReadOnly::Program("touch".to_owned()).to_string(),
                PermissionReason::Program("touch"),
            ),
            (
                NotReadOnly::GitSubcommand("push".to_owned()).to_string(),
                PermissionReason::GitSubcommand("push"),
            ),
            (flag.to_string(), PermissionReason::Flag("sort -o")),
            (action(CommandAction::WritesFile).to_string(), PermissionReason::WritesFile("sed -i")),
            (action(CommandAction::Unknown).to_string(), PermissionReason::ModifiesFiles("sed -i")),
            (
                action(CommandAction::DeletesFiles).to_string(),
                PermissionReason::DeletesFiles("sed -i"),
            ),
            (
                action(CommandAction::ChangesRepository).to_string(),
                PermissionReason::ChangesRepository("sed -i"),
            ),
            (
                action(CommandAction::RunsProgram).to_string(),
                PermissionReason::RunsProgram("sed -i"),
            ),
            (PermissionNeed::Write(path()).to_string(), PermissionReason::Writes("/p/a b")),
            (PermissionNeed::Request("h".to_owned()).to_string(), PermissionReason::Request("h")),
            (
                PermissionNeed::UnknownTool("T".to_owned()).to_string(),
                PermissionReason::UnknownTool("T"),
            ),
            (reading(ReadingNeed::Credentials), PermissionReason::Credentials("/p/a b")),
            (reading(ReadingNeed::Outside), PermissionReason::ReadsOutside("/p/a b")),
            (EditNotAccepted::Outside(path()).to_string(), PermissionReason::Outside("/p/a b")),
            (folder.to_string(), PermissionReason::ConfigurationFolder("/p/a b", ".git")),
            (
                EditNotAccepted::ProtectedFile(path()).to_string(),
                PermissionReason::ConfigurationFile("/p/a b"),
            ),
        ] {
            assert_eq!(PermissionReason::read(&text), Some(expected), "{text}");
            let asked = format!("the agent a asks: {text}");
            assert!(matches!(
                PermissionReason::read(&asked),
                Some(PermissionReason::AgentAsks("a", _))
            ));
        }
        assert_eq!(PermissionReason::read("`git` has no subcommand"), None);
    }

    #[test]
    fn decisions_are_read_back() {
        let rules = |deny: &str, ask: &str, allow: &str| PermissionRules {
            deny: deny.parse().into_iter().collect(),
            ask: ask.parse().into_iter().collect(),
            allow: allow.parse().into_iter().collect(),
        };
        let none = || rules("", "", "");
        let why = |mode, rules, command: &str| {
            let access = Access::Runs(command.to_owned());
            let request = PermissionRequest::new("Bash", access, Path::new("/nowhere"));
            PermissionGate::new(mode, rules).decide(&request).why
        };
        let touch = || Box::new(PermissionReason::Program("touch"));
        let rule = "Bash(touch:*)";
        for (mode, rules, command, expected) in [
            (PermissionMode::Plan, none(), "touch a", PermissionReason::PlanMode(touch())),
            (PermissionMode::Bypass, none(), "touch a", PermissionReason::Bypass),
            (PermissionMode::Default, none(), "touch a", *touch()),
            (PermissionMode::Default, none(), "ls", PermissionReason::ReadOnlyCommand),
            (
                PermissionMode::Default,
                rules(rule, "", ""),
                "touch a",
                PermissionReason::RuleDenies(rule),
            ),
            (
                PermissionMode::Default,
                rules("", rule, ""),
                "touch a",
                PermissionReason::RuleAsks(rule),
            ),
            (
                PermissionMode::Default,
                rules("", "", rule),
                "touch a",
                PermissionReason::RuleAllows(rule),
            ),
        ] {
            let why = why(mode, rules, command);
            assert_eq!(PermissionReason::read(&why), Some(expected), "{why}");
        }
    }
}
