//! That the conversation has gone into plan mode, or out of it.

use crate::fragment::Fragment;

const ON: &str = "\
Plan mode is on: the user wants a plan before anything is changed. Only reading is possible now: files, searches, \
and commands that change nothing. Every edit, every other command and every change of memory is refused, by whatever \
tool; do not look for a way around. Find out what you need. Ask where two readings of the request lead to different \
plans. Then {hand_in}: what is to be changed, in which files, in which order, and how it \
is checked. Do not begin the work before the user has accepted the plan.";

const OFF: &str = "Plan mode is off: what you may do follows the usual permissions again.";

/// Told when it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanMode {
    /// Nothing but reading, until a plan is accepted.
    On {
        /// Whether there is a tool to hand it in with.
        has_tool: bool,
    },
    /// No longer.
    Off {
        /// The file of the plan that was handed in, if one was.
        plan: Option<String>,
    },
}

impl Fragment for PlanMode {
    const KIND: &'static str = "plan-mode";

    fn max_tokens(&self) -> u32 {
        1_000
    }

    fn render(&self, out: &mut String) {
        match self {
            Self::On { has_tool } => {
                let hand_in = if *has_tool {
                    "hand in the plan with the tool ExitPlan (`plan`: the whole plan, in markdown)"
                } else {
                    "answer with the plan"
                };
                out.push_str(&ON.replace("{hand_in}", hand_in));
            }
            Self::Off { plan } => {
                out.push_str(OFF);
                if let Some(path) = plan {
                    out.push_str(&format!(
                        " The plan that was handed in last is in {path}; carry it out if the user says so."
                    ));
                }
            }
        }
    }
}
