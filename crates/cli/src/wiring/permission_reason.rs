//! Why a call may run, needs confirmation or may not run, in the user's language. Rare reasons stay as the model reads them.

use dormouse_permissions::PermissionReason;

use crate::message_catalog::msg;

/// A reason in the user's language.
pub(crate) fn reason_text(why: &str) -> String {
    PermissionReason::read(why).map_or_else(|| why.to_owned(), |reason| text(&reason))
}

fn text(reason: &PermissionReason<'_>) -> String {
    match reason {
        PermissionReason::AgentAsks(agent, other) => {
            msg!("reason-agent-asks", agent = *agent, reason = text(other))
        }
        PermissionReason::PlanMode(other) => msg!("reason-plan-mode", reason = text(other)),
        PermissionReason::OnlyReads(other) => msg!("reason-agent-reads", reason = text(other)),
        PermissionReason::RuleDenies(rule) => msg!("reason-rule-denies", rule = *rule),
        PermissionReason::RuleAsks(rule) => msg!("reason-rule-asks", rule = *rule),
        PermissionReason::RuleAllows(rule) => msg!("reason-rule-allows", rule = *rule),
        PermissionReason::RuleHides(rule, file) => {
            msg!("reason-rule-hides", rule = *rule, file = *file)
        }
        PermissionReason::ReadOnly => msg!("reason-read-only"),
        PermissionReason::ReadOnlyCommand => msg!("reason-read-only-command"),
        PermissionReason::Bypass => msg!("reason-bypass"),
        PermissionReason::EditsAccepted => msg!("reason-edits-accepted"),
        PermissionReason::Sandboxed => msg!("reason-sandboxed"),
        PermissionReason::UnknownTool(tool) => msg!("reason-unknown-tool", tool = *tool),
        PermissionReason::Request(host) => msg!("reason-request", host = *host),
        other => command_text(other).or_else(|| file_text(other)).unwrap_or_default(),
    }
}

/// Reasons about a part of a command line.
fn command_text(reason: &PermissionReason<'_>) -> Option<String> {
    Some(match reason {
        PermissionReason::Program(part) => msg!("reason-program", part = *part),
        PermissionReason::GitSubcommand(part) => msg!("reason-git-subcommand", part = *part),
        PermissionReason::Flag(part) => msg!("reason-flag", part = *part),
        PermissionReason::WritesFile(part) => msg!("reason-writes-file", part = *part),
        PermissionReason::ModifiesFiles(part) => msg!("reason-modifies-files", part = *part),
        PermissionReason::DeletesFiles(part) => msg!("reason-deletes-files", part = *part),
        PermissionReason::ChangesRepository(part) => {
            msg!("reason-changes-repository", part = *part)
        }
        PermissionReason::RunsProgram(part) => msg!("reason-runs-program", part = *part),
        _ => return None,
    })
}

/// Reasons about a file.
fn file_text(reason: &PermissionReason<'_>) -> Option<String> {
    Some(match reason {
        PermissionReason::Writes(path) => msg!("reason-writes", path = *path),
        PermissionReason::Credentials(path) => msg!("reason-credentials", path = *path),
        PermissionReason::ReadsOutside(path) => msg!("reason-reads-outside", path = *path),
        PermissionReason::Outside(path) => msg!("reason-outside", path = *path),
        PermissionReason::ConfigurationFile(path) => {
            msg!("reason-configuration-file", path = *path)
        }
        PermissionReason::ConfigurationFolder(path, folder) => {
            msg!("reason-configuration-folder", path = *path, folder = *folder)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_reasons_are_those_of_the_model() {
        for why in [
            "`touch` is not known as a read-only command. Plan mode allows no changes.",
            "`git push` is not a read-only git subcommand. This agent may only read.",
            "the agent a asks: `sort -o` may do more than read",
            "the rule `Read(a)` denies reading /b, which it can reach",
            "the rule `Bash` asks first",
            "it writes /a b",
            "it can read /a, which may hold keys or passwords",
            "it reads /a, outside the project",
            "/p/.git/a is in `.git`; files there configure programs",
            "`sed -i` may modify files",
            "something rare",
        ] {
            assert_eq!(reason_text(why), why);
        }
    }
}
