//! Questions about calls: how they reach the terminal, what they look like, what an answer means.

use std::path::Path;

use dormouse_base::printable;
use dormouse_tools::{Asker, Question, Reply};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::terminal::markdown::{Flow, Piece, Renderer, Style};
use crate::terminal::width;

use super::{calls, diff};

/// A longer rule says no more than the call above it.
const LONGEST_RULE: usize = 60;

/// The tool by which a plan is handed in.
const EXIT_PLAN: &str = "ExitPlan";
const PLAN_CHOICES: &str =
    "y accept it · a accept it, and edits in this folder need no question · n and what to change";

/// A question that waits for its reply.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// Hands questions to the task that owns the terminal.
#[derive(Debug)]
pub(crate) struct TerminalAsker(mpsc::UnboundedSender<Asked>);

/// An asker, and where its questions come out.
pub(crate) fn channel() -> (TerminalAsker, mpsc::UnboundedReceiver<Asked>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (TerminalAsker(sender), receiver)
}

impl Asker for TerminalAsker {
    fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            // Where nobody is left to ask, the answer is no.
            let nobody = Reply::No { said: None };
            match self.0.send(Asked { question, reply }) {
                Ok(()) => answer.await.unwrap_or(nobody),
                Err(_) => nobody,
            }
        })
    }
}

/// A question, in rows: the call, what it would change, why it is asked, and the choices.
pub(crate) fn rows(question: &Question, folder: &Path, columns: usize) -> Vec<Piece> {
    if question.tool == EXIT_PLAN {
        return plan(question, columns);
    }
    let mut flow = Flow::new(columns);
    let label = match &question.change {
        // A command is shown whole below.
        None if question.tool == "Bash" => question.tool.clone(),
        _ => calls::label(&question.tool, question.input.get(), folder),
    };
    flow.put_verbatim(&label, Style::BOLD);
    flow.end_row();
    let mut out = flow.take();
    match &question.change {
        Some(change) => {
            // Where it really goes, where the name does not tell.
            let asked = asked_path(question, folder);
            if asked.as_deref() != Some(change.path.as_path()) {
                let real = format!("this writes {}", printable(&change.path.display().to_string()));
                wrapped(&mut flow, &real, Style::BOLD);
                wrapped(&mut flow, &printable(&question.why), Style::DIM);
                out.extend(flow.take());
            }
            out.extend(diff::rows(change, columns));
        }
        None => {
            command(question, &mut flow);
            wrapped(&mut flow, &printable(&question.why), Style::DIM);
        }
    }
    let rule = calls::shortened(&calls::on_one_line(&question.rule), folder);
    let rule = if width::of(&rule) > LONGEST_RULE { "this".to_owned() } else { rule };
    let choices = format!("y yes · n no (n and why tells the model) · a always allow {rule}");
    wrapped(&mut flow, &choices, Style::DIM);
    out.extend(flow.take());
    out
}

/// A plan to decide about, and the choices.
fn plan(question: &Question, columns: usize) -> Vec<Piece> {
    let arguments: serde_json::Value =
        serde_json::from_str(question.input.get()).unwrap_or(serde_json::Value::Null);
    let text = arguments.get("plan").and_then(serde_json::Value::as_str).unwrap_or_default();
    let mut flow = Flow::new(columns);
    wrapped(&mut flow, "The plan:", Style::BOLD);
    let mut out = flow.take();
    let mut markdown = Renderer::new(columns);
    out.extend(markdown.push(&format!("{}\n", text.trim())));
    out.extend(markdown.finish());
    wrapped(&mut flow, &printable(&question.why), Style::DIM);
    wrapped(&mut flow, PLAN_CHOICES, Style::DIM);
    out.extend(flow.take());
    out
}

/// The file as the call names it, links in folders above resolved: those are no surprise.
fn asked_path(question: &Question, folder: &Path) -> Option<std::path::PathBuf> {
    let arguments: serde_json::Value = serde_json::from_str(question.input.get()).ok()?;
    let named = folder.join(arguments.get("file_path")?.as_str()?);
    let folder_of = named.parent()?;
    // Only the working directory's own links are resolved: one below it is what is to be said.
    let below = folder_of.strip_prefix(folder).ok();
    let base = below.and_then(|below| Some(folder.canonicalize().ok()?.join(below)));
    Some(base.unwrap_or_else(|| folder_of.to_owned()).join(named.file_name()?))
}

/// A command as it would be run, line by line.
fn command(question: &Question, flow: &mut Flow) {
    let arguments: serde_json::Value =
        serde_json::from_str(question.input.get()).unwrap_or(serde_json::Value::Null);
    if question.tool != "Bash" {
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

/// What an answer means; nothing, if it is none.
pub(crate) fn reply(answer: &str) -> Option<Reply> {
    let answer = answer.trim();
    let (word, rest) = answer.split_once(char::is_whitespace).unwrap_or((answer, ""));
    let said = Some(rest.trim().to_owned()).filter(|said| !said.is_empty());
    match (word.trim_end_matches([',', ':', '.']).to_lowercase().as_str(), said) {
        ("y" | "yes", None) => Some(Reply::Once),
        ("a" | "always", None) => Some(Reply::Always),
        ("n" | "no", said) => Some(Reply::No { said }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let no = |said: Option<&str>| Some(Reply::No { said: said.map(str::to_owned) });
        for (answer, expected) in [
            ("y", Some(Reply::Once)),
            (" YES ", Some(Reply::Once)),
            ("a", Some(Reply::Always)),
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
