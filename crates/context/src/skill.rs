//! A skill that the user calls: its instructions, beside what they said.

use crate::fragment::Fragment;

const BEGIN: &str = "The person calls the skill `";

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

impl InvokedSkill {
    /// Whether a block's text is such a fragment, and so nobody's word.
    pub fn is_in(text: &str) -> bool {
        text.strip_prefix("<system-reminder>\n").is_some_and(|text| text.starts_with(BEGIN))
    }
}

impl Fragment for InvokedSkill {
    const KIND: &'static str = "called-skill";

    fn max_tokens(&self) -> u32 {
        30_000
    }

    fn render(&self, out: &mut String) {
        let Self { name, folder, text } = self;
        out.push_str(&format!(
            "{BEGIN}{name}`, which is to be followed now. Its folder is {folder}; files that it names are there. It says:\n\n{text}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_can_be_told_from_what_a_person_types() {
        let skill = InvokedSkill { name: "n".into(), folder: "/s/n".into(), text: "Do it.".into() };
        let text = skill.to_block().as_text().unwrap();
        assert!(InvokedSkill::is_in(&text), "{text}");
        assert!(text.contains("Its folder is /s/n;") && text.contains("\n\nDo it."), "{text}");
        assert!(!InvokedSkill::is_in("The person calls the skill `n`"));
    }
}
