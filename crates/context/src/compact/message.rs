//! The message that stands for what was compacted.

/// How a summary came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionMethod {
    /// From the session notes, without a call.
    Notes,
    /// A model wrote it.
    Model,
    /// The server did.
    Server,
    /// Folded by the program, without a model.
    Fold,
}

impl CompactionMethod {
    /// The word for it, as the transcript has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Notes => "notes",
            Self::Model => "model",
            Self::Server => "server",
            Self::Fold => "fold",
        }
    }
}

/// All that the summary message says.
#[derive(Debug, Clone, Copy)]
pub struct CompactionSummary<'a> {
    /// How it came about.
    pub method: CompactionMethod,
    /// The summary, the notes, or the fold.
    pub text: &'a str,
    /// The user's words; may be empty.
    pub user_words: &'a str,
    /// The index of what was dropped; may be empty.
    pub index: &'a str,
    /// The transcript's path: everything is still there.
    pub transcript: &'a str,
    /// Words of the user that the summary lost and that are said again (C-23); may be empty.
    pub lost_words: &'a str,
    /// Whether messages that nothing covers had to go, which is then said.
    pub lost_uncovered: bool,
}

/// The text of the summary message.
pub fn compose_summary(summary: &CompactionSummary<'_>) -> String {
    let CompactionSummary {
        method: way,
        text,
        user_words: words,
        index,
        transcript,
        lost_words,
        lost_uncovered,
    } = *summary;
    let mut out = format!("{}\n\n", opening(way, transcript));
    if lost_uncovered {
        out.push_str("Some of the messages after the notes were too large to keep, and nothing below speaks of them: look into the transcript before you rely on what was done last.\n\n");
    }
    part(&mut out, heading(way), text);
    part(&mut out, "What the user said, word for word (older messages in a line)", words);
    part(&mut out, "What the user also said, which the summary does not hold", lost_words);
    part(&mut out, INDEX_HEADING, index);
    out.push_str(CLOSING);
    out
}

fn opening(way: CompactionMethod, transcript: &str) -> String {
    let by = match way {
        CompactionMethod::Notes => "by the notes that were kept while it ran",
        CompactionMethod::Model | CompactionMethod::Server => "by a summary",
        CompactionMethod::Fold => "by a list that the program made without a model",
    };
    format!(
        "The window was full, and the earlier part of this conversation was replaced {by}. Nothing is lost: every message stands in {transcript}, one JSON object a line. If you need something exact that is not below (a piece of code, an error, an output), search there with Grep and read the lines with Read."
    )
}

fn heading(way: CompactionMethod) -> &'static str {
    match way {
        CompactionMethod::Notes => "Session notes",
        CompactionMethod::Model | CompactionMethod::Server => "Summary",
        CompactionMethod::Fold => "What was done",
    }
}

fn part(out: &mut String, heading: &str, text: &str) {
    if !text.trim().is_empty() {
        out.push_str(&format!("## {heading}\n\n{}\n\n", text.trim()));
    }
}

const INDEX_HEADING: &str =
    "Names in the messages that were replaced (braces as in a shell: `a/{b,c}` is `a/b` and `a/c`)";

const CLOSING: &str = "Go on with the task where it was left, without asking again what was answered already and without speaking of this summary. If the task was finished, do nothing until the user asks for something new.";

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> CompactionSummary<'static> {
        CompactionSummary {
            method: CompactionMethod::Model,
            text: "We mended the parser.",
            user_words: "",
            index: "",
            transcript: "/s/t.jsonl",
            lost_words: "",
            lost_uncovered: false,
        }
    }

    #[test]
    fn the_whole_message() {
        let text = compose_summary(&CompactionSummary {
            user_words: "\n[now]\nMend it.\n",
            index: "Paths:\na.rs\n",
            ..summary()
        });
        let (opening, rest) = text.split_once("\n\n").unwrap();
        assert!(
            opening.contains("replaced by a summary") && opening.contains("/s/t.jsonl"),
            "{opening}"
        );
        assert_eq!(
            rest,
            format!(
                "## Summary\n\nWe mended the parser.\n\n## What the user said, word for word (older messages in a line)\n\n[now]\nMend it.\n\n## {INDEX_HEADING}\n\nPaths:\na.rs\n\n{CLOSING}"
            )
        );
    }

    #[test]
    fn what_is_empty_is_not_there_and_what_is_lost_is_said() {
        assert_eq!(compose_summary(&summary()).matches("##").count(), 1);
        let lost = compose_summary(&CompactionSummary {
            method: CompactionMethod::Notes,
            lost_uncovered: true,
            lost_words: "Use tabs.",
            ..summary()
        });
        assert!(
            lost.contains("too large to keep")
                && lost.contains("## Session notes\n")
                && lost.contains("Use tabs.")
        );
    }
}
