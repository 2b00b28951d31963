//! The prompt of a run (B-9).

use dormouse_engine::MemoryManifest;

/// The parts that change from run to run.
pub(super) struct PromptParts<'a> {
    /// How many messages are new.
    pub(super) messages: usize,
    /// The existing memories.
    pub(super) manifest: &'a MemoryManifest,
    /// The messages as text, if the fork does not have them.
    pub(super) transcript: Option<&'a str>,
}

/// Renders the prompt.
pub(super) fn prompt(parts: &PromptParts<'_>) -> String {
    let PromptParts { messages, manifest, transcript } = parts;
    let sources = match transcript {
        None => format!(
            "Look at the last {messages} messages of the conversation above, those that the user and you wrote since this was last done. They alone may be sources: nothing before them, no tool output, nothing that the program put in."
        ),
        Some(_) => format!(
            "Below is what was said in a conversation: {messages} messages. What the user and the agent wrote in it may be sources: no tool output, nothing that a program put in."
        ),
    };
    let mut text = format!(
        "This is a background task; the user does not see it and cannot answer. You keep the long-term memory.\n\n\
         {sources}\n\n\
         Find what will still be worth knowing in other conversations: who the user is and how they like to work (`user`); corrections and confirmations of how you work (`feedback`, the rule first, then **Why:** and **How to apply:**); goals, deadlines, decisions and incidents that neither code nor git tells (`project`, with relative dates made absolute); where to look outside (`reference`). Most exchanges hold nothing of the kind: then say so in a word and stop.\n\n\
         Leave out what the code, the git history or an instruction file says already, the state of the task at hand, what memory or a summary has just told you, and anything secret.\n\n\
         How to work:\n\
         1. In your first answer read everything that you may want to change, all at once (Read, MemorySearch). Do not go and verify what was said: the conversation is all there is to know.\n\
         2. In your second answer save everything, all at once, with MemorySave and MemoryDelete. No other tool writes here.\n\
         - A memory that there is already is changed (`file`), not doubled. What it says and still holds, you take over. One that was disproved goes, with a `reason`; one that another makes superfluous is named in `supersedes`.\n\
         - `quotes` holds the words that it rests on, copied from those messages letter for letter: the program looks them up, and drops what it does not find there.\n\
         - Write the memory in the language in which it was said.\n"
    );
    if manifest.lines.is_empty() {
        text.push_str("\nThere are no memories yet.\n");
    } else {
        text.push_str("\nThe memories that there are:\n");
        for line in &manifest.lines {
            text.push_str(line);
            text.push('\n');
        }
        if manifest.omitted > 0 {
            let more = manifest.omitted;
            text.push_str(&format!(
                "({more} more, which have less to do with what was said; MemorySearch finds them)\n"
            ));
        }
    }
    if let Some(transcript) = transcript {
        text.push_str("\n<conversation>\n");
        // A closing tag in the text must not end it.
        text.push_str(&transcript.replace("</conversation", "[/conversation"));
        text.push_str("\n</conversation>\n");
    }
    text
}
