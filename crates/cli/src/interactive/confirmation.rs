//! Permission prompts: how they reach the terminal, how they look, and what an answer means.

use std::path::Path;

use dormouse_base::printable;
use dormouse_conversation::CallLabel;
use dormouse_conversation::known_tools::traits_of;
use dormouse_permissions::PermissionRule;
use dormouse_tools::{ConfirmationReply, ConfirmationRequest, Confirmer, FileChangePreview, Grant};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use dormouse_tui::markdown::{Flow, Renderer};
use dormouse_tui::menu::{Choice, MenuAnswer};
use dormouse_tui::style::{Piece, Style};
use dormouse_tui::width;

use crate::args::SettingsScope;
use crate::message_catalog::msg;
use crate::terminal::diff::unified_texts;
use crate::wiring::permission_reason::reason_text;

use super::{edit_diff, tool_calls};

/// Longer rules are not shown: the call above says the same.
const LONGEST_RULE: usize = 60;

/// A permission prompt that waits for its answer.
#[derive(Debug)]
pub(crate) struct PendingConfirmation {
    pub(crate) question: ConfirmationRequest,
    pub(crate) reply: oneshot::Sender<ConfirmationReply>,
}

/// Sends permission prompts to the task that owns the terminal.
#[derive(Debug)]
pub(crate) struct TerminalAsker(mpsc::UnboundedSender<PendingConfirmation>);

/// An confirmer and the receiver of its permission prompts.
pub(crate) fn channel() -> (TerminalAsker, mpsc::UnboundedReceiver<PendingConfirmation>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (TerminalAsker(sender), receiver)
}

impl Confirmer for TerminalAsker {
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            // Without a terminal task the answer is no.
            let unanswered = ConfirmationReply::No { said: None };
            match self.0.send(PendingConfirmation { question, reply }) {
                Ok(()) => answer.await.unwrap_or(unanswered),
                Err(_) => unanswered,
            }
        })
    }
}

/// The rows of a permission prompt: the call, what it would change, why it needs permission, and the choices.
pub(crate) fn rows(
    question: &ConfirmationRequest,
    folder: &Path,
    (columns, most): (usize, usize),
) -> Vec<Piece> {
    if label_of(question) == CallLabel::Plan {
        return plan(question, columns);
    }
    let mut flow = Flow::new(columns);
    let diff = question.change.as_ref().map(|change| edit_diff::rows(change, columns, most));
    let label = match &question.change {
        // The command is shown in full below.
        None if label_of(question) == CallLabel::Command => question.tool.clone(),
        _ => tool_calls::label(&question.tool, question.input.get(), folder),
    };
    flow.put_verbatim(&label, Style::BOLD);
    if let Some(diff) = &diff {
        flow.put_verbatim(&format!(" · {}", diff.summary), Style::DIM);
    }
    flow.end_row();
    let mut out = flow.take();
    match &question.change {
        Some(change) => {
            // The real path, where the call names another (a link).
            let asked = asked_path(question, folder);
            if asked.as_deref() != Some(change.path.as_path()) {
                let path = printable(&change.path.display().to_string()).into_owned();
                let real = msg!("writes-to", path = path);
                wrapped(&mut flow, &real, Style::BOLD);
                wrapped(&mut flow, &printable(&reason_text(&question.why)), Style::DIM);
                out.extend(flow.take());
            }
            out.extend(diff.map(|diff| diff.rows).unwrap_or_default());
        }
        None => {
            command(question, &mut flow);
            wrapped(&mut flow, &printable(&reason_text(&question.why)), Style::DIM);
        }
    }
    out.extend(flow.take());
    out
}

/// The choices in one row, for answers that are typed as a line.
pub(crate) fn choices_row(
    question: &ConfirmationRequest,
    folder: &Path,
    columns: usize,
) -> Vec<Piece> {
    let mut flow = Flow::new(columns);
    let text = if label_of(question) == CallLabel::Plan {
        msg!("choices-line-plan")
    } else {
        let rule = shown_grant(question, folder);
        msg!("choices-line", rule = rule)
    };
    wrapped(&mut flow, &text, Style::DIM);
    flow.take()
}

/// What a lasting yes allows, in words.
fn shown_grant(question: &ConfirmationRequest, folder: &Path) -> String {
    let short = |rule: &PermissionRule| {
        let rule = tool_calls::shortened(&tool_calls::on_one_line(&rule.to_string()), folder);
        if width::of(&rule) > LONGEST_RULE { msg!("choice-this-call") } else { rule }
    };
    match &question.grant {
        Grant::Rule(rule) => short(rule),
        Grant::OutsideSandbox(rule) => msg!("grant-outside-sandbox", rule = short(rule)),
        Grant::MemoryChanges => msg!("grant-memory-changes"),
        Grant::Edits => msg!("choice-accept-edits"),
    }
}

/// The choices of the menu; [`chosen`] says what each means.
pub(crate) fn choices(question: &ConfirmationRequest, folder: &Path) -> Vec<Choice> {
    let choice = |letter, label: String| Choice { letter, label, text: None };
    let with_text = |letter, label: String| Choice { letter, label, text: Some(String::new()) };
    if label_of(question) == CallLabel::Plan {
        return vec![
            choice('y', msg!("choice-accept")),
            choice('a', msg!("choice-accept-edits")),
            choice('n', msg!("choice-reject")),
            with_text('t', msg!("choice-reject-because")),
        ];
    }
    let always = msg!("choice-always", rule = shown_grant(question, folder));
    let mut choices = vec![
        choice('y', msg!("choice-yes")),
        choice('a', always),
        choice('n', msg!("choice-no")),
        with_text('t', msg!("choice-no-because")),
    ];
    if question.change.as_ref().is_some_and(|change| !is_shown_whole(change)) {
        choices.push(choice('v', msg!("choice-view")));
    }
    if let Grant::Rule(rule) = &question.grant {
        let label = msg!("choice-rule");
        choices.insert(2, Choice { letter: 'e', label, text: Some(rule.to_string()) });
    }
    choices
}

/// The choices with another rule to edit, and the place of that choice.
pub(crate) fn choices_with(
    question: &ConfirmationRequest,
    folder: &Path,
    rule: &str,
) -> (Vec<Choice>, usize) {
    let mut choices = choices(question, folder);
    let at = choices.iter().position(|choice| choice.letter == 'e').unwrap_or(0);
    if let Some(choice) = choices.get_mut(at) {
        choice.text = Some(rule.to_owned());
    }
    (choices, at)
}

/// What a choice of the menu means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MenuReply {
    Reply(ConfirmationReply),
    /// Yes, and from now on what this rule allows.
    Rule(String),
    /// Show the whole change first.
    View,
}

/// What an answer to [`choices`] means. Esc and Ctrl-C mean no.
pub(crate) fn chosen(
    question: &ConfirmationRequest,
    folder: &Path,
    answer: MenuAnswer,
) -> MenuReply {
    let MenuAnswer::Chosen { index, text } = answer else {
        return MenuReply::Reply(ConfirmationReply::No { said: None });
    };
    let letter = choices(question, folder).get(index).map(|choice| choice.letter);
    let text = text.filter(|text| !text.trim().is_empty());
    MenuReply::Reply(match (letter, text) {
        (Some('y'), _) => ConfirmationReply::Once,
        (Some('a'), _) => ConfirmationReply::Always,
        (Some('e'), Some(rule)) => return MenuReply::Rule(rule),
        (Some('v'), _) => return MenuReply::View,
        (_, said) => ConfirmationReply::No { said },
    })
}

/// Whether the prompt shows all of a change.
pub(crate) fn is_shown_whole(change: &FileChangePreview) -> bool {
    edit_diff::line_count(change) <= edit_diff::MOST
}

/// The whole change, as other programs write it.
pub(crate) fn whole_change(change: &FileChangePreview) -> String {
    let name = change.path.display().to_string();
    printable(&unified_texts((&name, &name), &change.before, &change.after)).into_owned()
}

/// For how long a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleLifetime {
    Session,
    Saved(SettingsScope),
}

/// The choices for how long a rule holds; [`chosen_lifetime`] says what each means.
pub(crate) fn lifetime_choices(rule: &PermissionRule) -> Vec<Choice> {
    let rule = rule.to_string();
    [
        ('s', msg!("choice-rule-session", rule = rule.as_str())),
        ('p', msg!("choice-rule-project", rule = rule.as_str())),
        ('u', msg!("choice-rule-user", rule = rule.as_str())),
    ]
    .map(|(letter, label)| Choice { letter, label, text: None })
    .to_vec()
}

/// What an answer to [`lifetime_choices`] means; none goes back to the question.
pub(crate) fn chosen_lifetime(answer: &MenuAnswer) -> Option<RuleLifetime> {
    match answer {
        MenuAnswer::Chosen { index: 0, .. } => Some(RuleLifetime::Session),
        MenuAnswer::Chosen { index: 1, .. } => Some(RuleLifetime::Saved(SettingsScope::Local)),
        MenuAnswer::Chosen { index: 2, .. } => Some(RuleLifetime::Saved(SettingsScope::User)),
        MenuAnswer::Chosen { .. } | MenuAnswer::Cancelled => None,
    }
}

fn label_of(question: &ConfirmationRequest) -> CallLabel {
    traits_of(&question.tool).label
}

/// The rows of a plan and its choices.
fn plan(question: &ConfirmationRequest, columns: usize) -> Vec<Piece> {
    let arguments: serde_json::Value =
        serde_json::from_str(question.input.get()).unwrap_or(serde_json::Value::Null);
    let text = arguments.get("plan").and_then(serde_json::Value::as_str).unwrap_or_default();
    let mut flow = Flow::new(columns);
    wrapped(&mut flow, &msg!("plan-heading"), Style::BOLD);
    let mut out = flow.take();
    let mut markdown = Renderer::new(columns);
    out.extend(markdown.push(&format!("{}\n", text.trim())));
    out.extend(markdown.finish());
    wrapped(&mut flow, &printable(&reason_text(&question.why)), Style::DIM);
    out.extend(flow.take());
    out
}

/// The path that the call names, with links above the working directory resolved.
fn asked_path(question: &ConfirmationRequest, folder: &Path) -> Option<std::path::PathBuf> {
    let arguments: serde_json::Value = serde_json::from_str(question.input.get()).ok()?;
    let named = folder.join(arguments.get("file_path")?.as_str()?);
    let folder_of = named.parent()?;
    // A link below the working directory is not resolved: the prompt has to show that difference.
    let below = folder_of.strip_prefix(folder).ok();
    let base = below.and_then(|below| Some(folder.canonicalize().ok()?.join(below)));
    Some(base.unwrap_or_else(|| folder_of.to_owned()).join(named.file_name()?))
}

/// The rows of a shell command.
fn command(question: &ConfirmationRequest, flow: &mut Flow) {
    let arguments: serde_json::Value =
        serde_json::from_str(question.input.get()).unwrap_or(serde_json::Value::Null);
    if label_of(question) != CallLabel::Command {
        return;
    }
    let command = arguments.get("command").and_then(serde_json::Value::as_str).unwrap_or_default();
    for line in command.lines() {
        let margin = vec![("  ".to_owned(), Style::PLAIN)];
        flow.begin(margin.clone(), margin);
        flow.put_verbatim(&printable(line).replace('\t', "    "), Style::PLAIN);
        flow.end_row();
    }
}

fn wrapped(flow: &mut Flow, text: &str, style: Style) {
    flow.begin(Vec::new(), Vec::new());
    for c in text.replace('\n', " ").chars() {
        flow.put(c, style);
    }
    flow.end_row();
}

/// Parses an answer; none if it is not one.
pub(crate) fn reply(answer: &str) -> Option<ConfirmationReply> {
    let answer = answer.trim();
    let (word, rest) = answer.split_once(char::is_whitespace).unwrap_or((answer, ""));
    let said = Some(rest.trim().to_owned()).filter(|said| !said.is_empty());
    match (word.trim_end_matches([',', ':', '.']).to_lowercase().as_str(), said) {
        ("y" | "yes", None) => Some(ConfirmationReply::Once),
        ("a" | "always", None) => Some(ConfirmationReply::Always),
        ("n" | "no", said) => Some(ConfirmationReply::No { said }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let no = |said: Option<&str>| Some(ConfirmationReply::No { said: said.map(str::to_owned) });
        for (answer, expected) in [
            ("y", Some(ConfirmationReply::Once)),
            (" YES ", Some(ConfirmationReply::Once)),
            ("a", Some(ConfirmationReply::Always)),
            ("n", no(None)),
            ("no, use the other file", no(Some("use the other file"))),
            ("", None),
            ("yes but", None),
            ("maybe", None),
        ] {
            assert_eq!(reply(answer), expected, "{answer}");
        }
    }
}
