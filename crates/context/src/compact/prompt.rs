//! The texts that ask for a summary, and how the answer is read (C-16, C-22).

use thiserror::Error;

/// Stands in front of the first message that [`SummaryDirection::From`] summarizes; whoever asks puts it there.
pub const FROM_MARK: &str = "[summarise from here]";

/// Which part of a conversation is summarized manually.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryDirection {
    /// What follows the chosen message; what is before stays.
    From,
    /// What came before it; what follows stays.
    UpTo,
}

/// An answer that is no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SummaryError {
    /// Nothing was said.
    #[error("the response has no text")]
    Empty,
    /// Only the draft came.
    #[error("the response has a draft but no summary")]
    OnlyDraft,
}

/// Asks for the summary of the whole conversation.
pub fn summary_prompt(instructions: Option<&str>, room_tokens: u32) -> String {
    let scope = "Summarise the whole conversation above, from its first message to its last.";
    prompt(scope, instructions, room_tokens)
}

/// Asks for the summary of a conversation in a small window: short, plain text, without a draft, for a model that would fill the
/// window with one.
pub fn plain_summary_prompt(instructions: Option<&str>, room_tokens: u32) -> String {
    let words = room_tokens / 2;
    let mut text = format!(
        "This message comes from the program, not from the user. Do not call any tool. Summarise the conversation above in at most {words} words of plain text, so that the work can go on with the summary alone: what the user asked for, what was done and found (files, commands, results, errors, word for word), what is still open, and the next step. If it begins with an earlier summary, keep what still holds. Say each thing once."
    );
    if let Some(instructions) = instructions.map(str::trim).filter(|text| !text.is_empty()) {
        text.push_str(&format!("\n\nThe user asks for this in particular:\n{instructions}"));
    }
    text
}

/// Asks for the summary of one part of it.
pub fn partial_prompt(
    direction: SummaryDirection,
    instructions: Option<&str>,
    room_tokens: u32,
) -> String {
    let scope = match direction {
        SummaryDirection::From => {
            "The earlier part of this conversation stays as it is. Summarise only the messages after the mark `[summarise from here]`; do not repeat what stands before it."
        }
        SummaryDirection::UpTo => {
            "The messages above are the earlier part of a conversation that goes on behind them with messages that stay as they are and that you do not see. Summarise the messages above so that what follows can be understood; under Current Work and Next Step say where this part ended."
        }
    };
    prompt(scope, instructions, room_tokens)
}

/// Asks again, after an answer that called a tool or said nothing.
pub fn retry_prompt() -> String {
    "The last answer held no summary. Tools can not be used in this step, and thinking alone is not seen by anyone. Answer now with text only: the summary, between <summary> and </summary>, with the nine parts described before.".to_owned()
}

fn prompt(scope: &str, instructions: Option<&str>, room_tokens: u32) -> String {
    let words = room_tokens / 2;
    let mut text =
        format!("{HEAD}\n\n{scope}\n\n{PARTS}\n\n{RULES} At most about {words} words in all.");
    if let Some(instructions) = instructions.map(str::trim).filter(|text| !text.is_empty()) {
        text.push_str(&format!("\n\nThe user asks for this in particular; where it contradicts the above, it counts more:\n{instructions}"));
    }
    text.push_str(
        "\n\nAnswer with text only. A tool call is refused, and the summary would be lost.",
    );
    text
}

const HEAD: &str = "This message comes from the program, not from the user. The window is nearly full: your summary takes the place of the messages it covers, and the work goes on with it alone. Do not call any tool.";

const PARTS: &str = "First think on paper, between <draft> and </draft>: go through the messages in order and collect what was asked, what was done, what failed, what the user corrected, and what is exact and cannot be guessed again. The draft is thrown away. Then write the summary, between <summary> and </summary>, in these nine parts:

1. Request and Intent: everything the user asked for, with all conditions, limits and preferences that still hold.
2. Technical Concepts: technologies, methods and terms that matter.
3. Files and Code: every file that was read, changed or created, with its path, why it matters, and the pieces of code that are needed to go on, word for word.
4. Errors and Fixes: what went wrong, the exact error text, how it was fixed, and what the user said about it.
5. Problem Solving: what was found out, what was tried and given up and why, what is still unclear.
6. The User's Messages: each message of the user that is no tool result, in a line.
7. Pending Tasks: what was asked for and is not done. Nothing that was not asked for.
8. Current Work: exactly what was being done when this message came, with files and code.
9. Next Step: the one step that follows from it, with a quotation of the latest messages that shows where the work was left. If the task was finished, say that it is finished and that nothing is to be done without a new request.";

const RULES: &str = "Rules: paths, names, commands, ids, numbers and error texts word for word. If the conversation begins with an earlier summary, merge it: keep what it says and still holds, change what is out of date, and do not summarise it again. Do not take up the work itself, and answer no question from the conversation.";

/// The summary in an answer. Without the marks all of the text counts, less the draft; of several, the
/// last whole one; of one that was not closed, what there is. A summary may itself speak of the marks.
pub fn parse_summary(answer: &str) -> Result<String, SummaryError> {
    let text = without_draft(answer);
    let found = match text.matches(OPEN).count() {
        0 => text.replace(CLOSE, ""),
        1 => only(&text).to_owned(),
        _ => last_whole(&text).unwrap_or_else(|| only(&text)).to_owned(),
    };
    match found.trim() {
        "" if answer.contains("<draft>") => Err(SummaryError::OnlyDraft),
        "" => Err(SummaryError::Empty),
        summary => Ok(summary.to_owned()),
    }
}

const OPEN: &str = "<summary>";
const CLOSE: &str = "</summary>";

/// From the first opening mark to the last closing one, or to the end.
fn only(text: &str) -> &str {
    let (_, inside) = text.split_once(OPEN).unwrap_or(("", text));
    inside.rsplit_once(CLOSE).map_or(inside, |(summary, _)| summary)
}

/// The text without its drafts; one that was not closed ends where the summary begins, or never.
fn without_draft(answer: &str) -> String {
    let mut kept = String::new();
    let mut rest = answer;
    while let Some((before, inside)) = rest.split_once("<draft>") {
        kept.push_str(before);
        rest = match inside.split_once("</draft>") {
            Some((_, after)) => after,
            None => inside.find("<summary>").and_then(|at| inside.get(at..)).unwrap_or_default(),
        };
    }
    kept.push_str(rest);
    kept
}

/// The last that is closed as often as it was opened.
fn last_whole(text: &str) -> Option<&str> {
    let mut found = None;
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, _) in text.match_indices("summary>") {
        let before = text.get(..at).unwrap_or_default();
        if before.ends_with("</") {
            if depth == 1 {
                found =
                    text.get(begin..at - 2).filter(|inside| !inside.trim().is_empty()).or(found);
            }
            depth = depth.saturating_sub(1);
        } else if before.ends_with('<') {
            if depth == 0 {
                begin = at + "summary>".len();
            }
            depth += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(answer: &str, expected: Result<&str, SummaryError>) {
        assert_eq!(parse_summary(answer), expected.map(str::to_owned), "{answer}");
    }

    #[test]
    fn summaries_are_found() {
        check("<draft>x</draft>\n<summary>\nGood.\n</summary>", Ok("Good."));
        check("Just words.", Ok("Just words."));
        check("<draft>x</draft>Just words.", Ok("Just words."));
        check("<draft>x</draft><summary>It ends in the mid", Ok("It ends in the mid"));
        check("<draft>never closed <summary>Good.</summary>", Ok("Good."));
        check("<summary>one</summary> <summary>two</summary>", Ok("two"));
        check("<summary>one</summary> <summary>cut off", Ok("one"));
        check(
            "<summary>outer <summary>inner</summary></summary>",
            Ok("outer <summary>inner</summary>"),
        );
        check("<draft>a <summary> in it</draft><summary>b</summary>", Ok("b"));
        check("<summary>Use `<summary>` tags.</summary>", Ok("Use `<summary>` tags."));
        check(
            "<summary>Write </summary> at its end.</summary>",
            Ok("Write </summary> at its end."),
        );
        check("Words.</summary>", Ok("Words."));
    }

    #[test]
    fn what_is_no_summary() {
        check("", Err(SummaryError::Empty));
        check(" \n", Err(SummaryError::Empty));
        check("<draft>only</draft>", Err(SummaryError::OnlyDraft));
        check("<draft>only", Err(SummaryError::OnlyDraft));
        check("<summary></summary>", Err(SummaryError::Empty));
        check("<draft>x</draft><summary> </summary>", Err(SummaryError::OnlyDraft));
    }

    #[test]
    fn the_prompts() {
        let text = summary_prompt(Some("Keep the SQL."), 20_000);
        for part in [
            "1. Request",
            "9. Next Step",
            "<draft>",
            "<summary>",
            "Do not call any tool",
            "10000 words",
            "earlier summary, merge it",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(text.contains("counts more:\nKeep the SQL.\n\n"));
        assert!(!summary_prompt(Some("  "), 20_000).contains("in particular"));
        assert!(partial_prompt(SummaryDirection::From, None, 1_000).contains(FROM_MARK));
        assert!(
            partial_prompt(SummaryDirection::UpTo, None, 1_000).contains("that you do not see")
        );
    }

    proptest! {
        #[test]
        fn any_answer_is_read(answer in "(<draft>|</draft>|<summary>|</summary>|a| ){0,12}") {
            if let Ok(text) = parse_summary(&answer) {
                prop_assert!(!text.trim().is_empty());
            }
        }
    }
}
