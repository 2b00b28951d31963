//! A skill that the user calls: its instructions, beside what they said.

use crate::fragment::Fragment;

/// The instructions of a skill. All of it is bounded already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvokedSkill {
    /// What it is called by.
    pub name: String,
    /// Where its other files are.
    pub folder: String,
    /// What it says, arguments filled in.
    pub text: String,
}

impl Fragment for InvokedSkill {
    const KIND: &'static str = "called-skill";

    fn max_tokens(&self) -> u32 {
        30_000
    }

    fn render(&self, out: &mut String) {
        let Self { name, folder, text } = self;
        out.push_str(&format!(
            "The user calls the skill `{name}`, which is to be followed now. Its folder is {folder}; files that it names are there. It says:\n\n{text}"
        ));
    }
}
