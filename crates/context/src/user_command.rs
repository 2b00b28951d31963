//! A command that the user ran themselves, with what it printed.

use crate::compact::texts::head_and_tail;
use crate::fragment::Fragment;

/// Longer output loses its middle.
const MOST_BYTES: usize = 30_000;

/// What a command of the user's printed. It is nobody's word: a program printed it.
#[derive(Debug, Clone)]
pub struct UserCommandOutput {
    /// The command line.
    pub command: String,
    /// What it printed, and its exit code where that is not 0.
    pub output: String,
}

impl Fragment for UserCommandOutput {
    const KIND: &'static str = "user-command";

    fn max_tokens(&self) -> u32 {
        12_000
    }

    fn render(&self, out: &mut String) {
        let output = head_and_tail(self.output.trim_end(), MOST_BYTES);
        out.push_str(&format!(
            "The user ran this command themselves, in the working directory. It needs no answer of its own.\n$ {}\n{output}",
            self.command
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
    }
}
