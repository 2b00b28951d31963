//! Commands outside of a call: one that the user ran themselves, with what it printed, and one in the background that has ended.

use dormouse_conversation::{Block, reminder_text};

use crate::compact::texts::head_and_tail;
use crate::fragment::Fragment;

/// Longer output loses its middle.
const MOST_BYTES: usize = 30_000;

const RAN_BY_USER: &str = "The user ran this command themselves, in the working directory. It needs no answer of its own.\n";

/// What a command of the user's printed. It is nobody's word: a program printed it.
#[derive(Debug, Clone)]
pub struct UserCommandOutput {
    /// The command line.
    pub command: String,
    /// What it printed, and its exit code where that is not 0.
    pub output: String,
}

impl UserCommandOutput {
    /// Command and output in a block of a conversation, as a terminal shows them; none if it is another block.
    pub fn shown_in(block: &Block) -> Option<String> {
        let text = block.as_text()?;
        reminder_text(&text)?.strip_prefix(RAN_BY_USER).map(str::to_owned)
    }
}

impl Fragment for UserCommandOutput {
    const KIND: &'static str = "user-command";

    fn max_tokens(&self) -> u32 {
        12_000
    }

    fn render(&self, out: &mut String) {
        let output = head_and_tail(self.output.trim_end(), MOST_BYTES);
        out.push_str(&format!("{RAN_BY_USER}$ {}\n{output}", self.command));
    }
}

/// A command that the model started in the background has ended.
#[derive(Debug, Clone)]
pub struct EndedCommand {
    /// Its id.
    pub id: String,
    /// The command line.
    pub command: String,
    /// How it ended.
    pub how: String,
}

impl Fragment for EndedCommand {
    const KIND: &'static str = "ended-command";

    fn max_tokens(&self) -> u32 {
        1_000
    }

    fn render(&self, out: &mut String) {
        let Self { id, command, how } = self;
        out.push_str(&format!(
            "The background command `{id}` has ended ({how}): {command}\nBashOutput (`shell_id`) shows what it printed."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_its_ends() {
        let output = format!("first\n{}last\n[exit code 1]", "middle\n".repeat(10_000));
        let block = UserCommandOutput { command: "make".into(), output }.to_block();
        let text = block.as_text().unwrap();
        assert!(text.contains("$ make\nfirst\n") && text.contains("last\n[exit code 1]"), "{text}");
        assert!(text.len() < 31_000, "{}", text.len());
        let shown = UserCommandOutput::shown_in(&block).unwrap();
        assert!(shown.starts_with("$ make\nfirst\n") && shown.ends_with("[exit code 1]"));
        assert_eq!(UserCommandOutput::shown_in(&Block::text("$ make")), None);
    }
}
