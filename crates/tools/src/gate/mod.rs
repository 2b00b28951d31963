//! Whether a call may run: mode, rules, and what a call would touch (L-15).
//!
//! A plain function of the call's text and, for files, of where its path really leads. Order: a `deny`
//! rule wins over everything, an `ask` rule over all but that; what only reads is allowed; then the
//! mode and the `allow` rules. Where nobody can be asked, what would ask is denied and says how to
//! allow it.

mod paths;
mod rules;

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use serde_json::value::RawValue;

pub use rules::{Rule, RuleError, Rules};

use crate::shell::{ShellVerdict, classify, commands};
use crate::{Access, HostPattern, Tool, ToolClass};

/// How much is permitted without a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Asks before a write or a command.
    #[default]
    Default,
    /// Writes inside the working directory need no question, but for what steers programs.
    AcceptEdits,
    /// Nothing but reading.
    Plan,
    /// Everything but what a rule denies or asks about.
    Bypass,
}

/// Whether there is somebody to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// A person is there.
    Possible,
    /// A headless run: what would ask is denied.
    Impossible,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It may not.
    Deny,
}

impl Verdict {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub verdict: Verdict,
    /// Whether the call only reads.
    pub read_only: bool,
    /// Why, for the model and the person.
    pub why: String,
}

/// Who decides.
#[derive(Debug, Clone)]
pub struct Gate {
    mode: Mode,
    rules: Arc<Rules>,
    asking: Asking,
}

impl Gate {
    /// A gate in this mode, with these rules.
    pub fn new(mode: Mode, rules: Rules, asking: Asking) -> Self {
        Self { mode, rules: Arc::new(rules), asking }
    }

    /// Everything: for the scripted demo, in a temporary folder of its own.
    pub fn allow_all() -> Self {
        Self::new(Mode::Bypass, Rules::default(), Asking::Impossible)
    }

    /// The hosts that rules name: these may be in a private network.
    pub fn named_hosts(&self) -> Vec<HostPattern> {
        self.rules.named_hosts()
    }

    /// Decides about a call. `folder` is the working directory.
    pub fn decide(&self, tool: &dyn Tool, input: &RawValue, folder: &Path) -> Decision {
        let touch = Touch::of(tool, input, folder);
        let decide =
            |verdict, why: String| Decision { verdict, read_only: touch.read_only.is_ok(), why };
        if let Some(rule) = self.rules.denies(tool.name(), &touch, folder) {
            return decide(Verdict::Deny, format!("the rule `{rule}` denies it"));
        }
        if let Some(rule) = self.rules.asks(tool.name(), &touch, folder) {
            return self.ask(&touch, tool.name(), format!("the rule `{rule}` asks first"));
        }
        if self.mode == Mode::Bypass {
            return decide(Verdict::Allow, "everything is permitted in this mode".to_owned());
        }
        let why_not = match &touch.read_only {
            Ok(why) => return decide(Verdict::Allow, (*why).to_owned()),
            Err(why_not) => why_not.clone(),
        };
        if self.mode == Mode::Plan {
            return decide(
                Verdict::Deny,
                format!("{why_not}, and in plan mode nothing may be changed"),
            );
        }
        if let Some(rule) = self.rules.allows(tool.name(), &touch, folder) {
            return decide(Verdict::Allow, format!("the rule `{rule}` allows it"));
        }
        if self.mode == Mode::AcceptEdits
            && let Access::Writes(path) = &touch.access
        {
            match paths::accepts_edit(path, folder) {
                Ok(()) => {
                    return decide(
                        Verdict::Allow,
                        "edits in the working directory are accepted".to_owned(),
                    );
                }
                Err(why) => return self.ask(&touch, tool.name(), why),
            }
        }
        self.ask(&touch, tool.name(), why_not)
    }

    /// A question, where one can be asked.
    fn ask(&self, touch: &Touch, name: &str, why: String) -> Decision {
        let read_only = touch.read_only.is_ok();
        match self.asking {
            Asking::Possible => Decision { verdict: Verdict::Ask, read_only, why },
            Asking::Impossible => {
                let rule = touch.suggested_rule(name);
                let why = format!(
                    "{why}, and in a headless run nobody can be asked; the person can allow it with --allowed-tools '{rule}' or a rule in the settings"
                );
                Decision { verdict: Verdict::Deny, read_only, why }
            }
        }
    }
}

/// What a call would touch, and whether it only reads (with why, or why not).
pub(crate) struct Touch {
    access: Access,
    /// The file or folder that a reading call names.
    path: Option<std::path::PathBuf>,
    read_only: Result<&'static str, String>,
    /// The commands of the line, once somebody has asked.
    commands: OnceCell<Option<Vec<Vec<String>>>>,
}

impl Touch {
    fn of(tool: &dyn Tool, input: &RawValue, folder: &Path) -> Self {
        let access = tool.access(input, folder);
        let read_only = match (&access, tool.class()) {
            (Access::Reads, _) | (Access::Other, ToolClass::ReadOnly) => Ok("it only reads"),
            (Access::Runs(line), _) => match classify(line) {
                ShellVerdict::ReadOnly => Ok("the command only reads"),
                ShellVerdict::Changes { reason } => Err(reason),
            },
            (Access::Writes(path), _) => Err(format!("it writes {}", path.display())),
            (Access::Fetches(host), _) => Err(format!("it sends a request to `{host}`")),
            (Access::Other, ToolClass::Exclusive) => harmless(tool.name()),
        };
        Self { access, path: paths::named(input, folder), read_only, commands: OnceCell::new() }
    }

    /// The commands of the line it runs; none if that is not understood.
    fn commands(&self) -> Option<&[Vec<String>]> {
        let Access::Runs(line) = &self.access else { return None };
        self.commands.get_or_init(|| commands(line)).as_deref()
    }

    /// The rule that would allow just this.
    fn suggested_rule(&self, name: &str) -> String {
        match &self.access {
            Access::Runs(line) => format!("{name}({line})"),
            Access::Writes(path) => format!("{name}({})", path.display()),
            Access::Fetches(host) => format!("{name}(domain:{host})"),
            Access::Reads | Access::Other => name.to_owned(),
        }
    }
}

/// Tools that change nothing but what the conversation itself made.
fn harmless(name: &str) -> Result<&'static str, String> {
    match name {
        "TodoWrite" => Ok("it changes nothing but the list of what is to be done"),
        "KillShell" => Ok("it ends only a command that this conversation started"),
        _ => Err(format!("{name} may change something")),
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
