//! Why a call was not run, as the model reads it in its result. The text is written and read here only: whoever shows a
//! result to the user says the same in the user's language.

const DECLINED: &str = "the user declined; ask what to do instead";
const DECLINED_SAYING: &str = "the user declined and said: ";

/// Why a call was not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallRefusal {
    /// The user said no.
    Declined {
        /// What to do instead, in their words.
        said: Option<String>,
    },
    /// A rule, a mode or a hook denied it.
    Denied {
        /// The reason.
        why: String,
    },
}

impl CallRefusal {
    /// The result of a call of this tool.
    pub(crate) fn text(&self, tool: &str) -> String {
        format!("{}{}", start(tool), self.why())
    }

    /// The reason alone.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Declined { said: Some(said) } => format!("{DECLINED_SAYING}{said}"),
            Self::Declined { said: None } => DECLINED.to_owned(),
            Self::Denied { why } => why.clone(),
        }
    }

    /// The refusal that the result of a call of this tool says; none if it says something else.
    pub fn read(tool: &str, result: &str) -> Option<Self> {
        let why = result.strip_prefix(&start(tool))?;
        Some(match why.strip_prefix(DECLINED_SAYING) {
            Some(said) => Self::Declined { said: Some(said.to_owned()) },
            None if why == DECLINED => Self::Declined { said: None },
            None => Self::Denied { why: why.to_owned() },
        })
    }
}

fn start(tool: &str) -> String {
    format!("{tool} was not run: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let said = Some("use the other file".to_owned());
        for refusal in [
            CallRefusal::Declined { said: None },
            CallRefusal::Declined { said },
            CallRefusal::Denied { why: "a rule denies it".to_owned() },
        ] {
            assert_eq!(CallRefusal::read("Bash", &refusal.text("Bash")), Some(refusal));
        }
        assert_eq!(CallRefusal::read("Bash", "bash: not found"), None);
    }
}
