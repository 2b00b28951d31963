//! Whether a call may run. So far by the tool's class alone; rules and modes take this place later.

use crate::{Tool, ToolClass};

/// Who decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// Only what changes nothing.
    ReadsOnly,
    /// Everything: for the scripted demo, in a temporary folder of its own.
    AllowAll,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It may not.
    Deny {
        /// Why, for the model and the person.
        reason: String,
    },
}

impl Gate {
    /// Decides about a call of this tool.
    pub fn verdict(&self, tool: &dyn Tool) -> Verdict {
        match (self, tool.class()) {
            (Self::AllowAll, _) | (Self::ReadsOnly, ToolClass::ReadOnly) => Verdict::Allow,
            (Self::ReadsOnly, ToolClass::Exclusive) => {
                Verdict::Deny { reason: denial(tool.name()) }
            }
        }
    }
}

fn denial(name: &str) -> String {
    format!(
        "{name} was not run: it can change files or run commands, and a headless run can not yet \
         permit that; use tools that only read, or tell the user which command or change to make \
         by hand"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bash, Glob, Read};

    #[test]
    fn reads_pass_and_commands_do_not() {
        assert_eq!(Gate::ReadsOnly.verdict(&Read), Verdict::Allow);
        assert_eq!(Gate::ReadsOnly.verdict(&Glob), Verdict::Allow);
        let Verdict::Deny { reason } = Gate::ReadsOnly.verdict(&Bash) else {
            panic!("a command passed")
        };
        assert!(reason.starts_with("Bash was not run: "), "{reason}");
        assert_eq!(Gate::AllowAll.verdict(&Bash), Verdict::Allow);
    }
}
