//! Whether a call may run: mode, rules, and what a call would touch (L-15).
//!
//! A plain function of the call's text and, for files, of where its path really leads. Order: a `deny`
//! rule wins over everything, an `ask` rule over all but that; what only reads is allowed; then the
//! mode and the `allow` rules. Whether there is somebody to ask is no business of the gate.

mod paths;
mod rules;
mod words;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

pub(crate) use rules::quoted;
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
#[derive(Debug, Clone)]
pub struct Decision {
    /// What was decided.
    pub verdict: Verdict,
    /// Whether the call only reads.
    pub read_only: bool,
    /// Why, for the model and the person.
    pub why: String,
    /// Whether a rule decided, which nobody but the person may overrule.
    pub by_rule: bool,
    /// The rule that would allow this and little else.
    pub rule: Rule,
}

/// What the person has said since the session began.
#[derive(Debug, Default)]
struct Standing {
    mode: Mode,
    granted: Vec<Rule>,
    /// What a skill in use brings along; less than a word of the person's.
    lent: Vec<Rule>,
    /// What the person has forbidden, or wants to be asked about, since then.
    firm: Rules,
}

/// Who decides. Clones share what is granted while the session lasts.
#[derive(Debug, Clone)]
pub struct Gate {
    rules: Arc<Rules>,
    /// Folders beside the working directory in which edits may be accepted.
    folders: Arc<[PathBuf]>,
    standing: Arc<Mutex<Standing>>,
    /// The mode of this one alone, where it has one; plan mode of the session stays plan mode.
    own_mode: Option<Mode>,
}

impl Gate {
    /// A gate in this mode, with these rules.
    pub fn new(mode: Mode, rules: Rules) -> Self {
        Self {
            rules: Arc::new(rules),
            folders: Arc::default(),
            standing: Arc::new(Mutex::new(Standing { mode, ..Standing::default() })),
            own_mode: None,
        }
    }

    /// Everything: for the scripted demo, in a temporary folder of its own.
    pub fn allow_all() -> Self {
        Self::new(Mode::Bypass, Rules::default())
    }

    /// The same with further folders in which edits may be accepted.
    #[must_use]
    pub fn with_folders(self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: folders.into_iter().collect(), ..self }
    }

    /// The same for an agent that has a mode of its own: what the person has said and says counts for it too, and
    /// while the session is in plan mode it is as well.
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        Self { own_mode: Some(mode), ..self.clone() }
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode_of(&self.standing())
    }

    fn mode_of(&self, standing: &Standing) -> Mode {
        match (standing.mode, self.own_mode) {
            (Mode::Plan, _) => Mode::Plan,
            (mode, own) => own.unwrap_or(mode),
        }
    }

    /// Goes over to another mode.
    pub fn set_mode(&self, mode: Mode) {
        self.standing().mode = mode;
    }

    /// Allows what a rule covers, until the session ends.
    pub fn grant(&self, rule: Rule) {
        self.standing().granted.push(rule);
    }

    /// Forbids, and asks about, what these rules say, as those of the settings would.
    pub fn restrict(&self, deny: Vec<Rule>, ask: Vec<Rule>) {
        self.standing().firm = Rules { allow: Vec::new(), ask, deny };
    }

    /// Allows what these rules cover, as the settings would, until it is taken back.
    pub fn lend(&self, rules: impl IntoIterator<Item = Rule>) {
        self.standing().lent.extend(rules);
    }

    /// Takes back all that was lent.
    pub fn take_back(&self) {
        self.standing().lent.clear();
    }

    /// The rules of the settings and the command line.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What was granted since the session began.
    pub fn granted(&self) -> Vec<Rule> {
        self.standing().granted.clone()
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hosts that rules allow by name: these may be in a private network.
    pub fn named_hosts(&self) -> Vec<HostPattern> {
        let standing = self.standing();
        let allowing = self.rules.allow.iter().chain(&standing.granted);
        allowing.filter_map(Rule::host).cloned().collect()
    }

    /// Decides about a call. `folder` is the working directory.
    pub fn decide(&self, tool: &dyn Tool, input: &RawValue, folder: &Path) -> Decision {
        let touch = Touch::of(tool, input, folder);
        let name = tool.called_as(input);
        let (verdict, why, by_rule) = self.verdict(&touch, &name, folder);
        let rule = touch.suggested_rule(&name, folder);
        Decision { verdict, read_only: touch.read_only.is_ok(), why, by_rule, rule }
    }

    /// The verdict, why, and whether a rule decided.
    fn verdict(&self, touch: &Touch, name: &str, folder: &Path) -> (Verdict, String, bool) {
        let standing = self.standing();
        let mode = self.mode_of(&standing);
        let denying = |rules: &Rules| {
            let rule = rules.denies(name, touch, folder)?;
            Some((Verdict::Deny, format!("the rule `{rule}` denies it"), true))
        };
        if let Some(denied) = denying(&self.rules).or_else(|| denying(&standing.firm)) {
            return denied;
        }
        if let (Mode::Plan, Some(why_not)) = (mode, touch.outlasts_a_plan(name)) {
            let whose = match (standing.mode, self.own_mode) {
                (Mode::Plan, _) | (_, None) => "in plan mode nothing may be changed",
                (_, Some(_)) => "this agent only reads",
            };
            let why = format!("{why_not}, and {whose}");
            return (Verdict::Deny, why, false);
        }
        let granted = rules::allowed_by(&standing.granted, name, touch, folder);
        let asking = self.rules.asks(name, touch, folder);
        let asking = asking.or_else(|| standing.firm.asks(name, touch, folder));
        if let Some(rule) = asking.filter(|_| granted.is_none()) {
            return (Verdict::Ask, format!("the rule `{rule}` asks first"), true);
        }
        let by_mode = |verdict, why: &str| (verdict, why.to_owned(), false);
        if mode == Mode::Bypass {
            return by_mode(Verdict::Allow, "everything is permitted in this mode");
        }
        let why_not = match &touch.read_only {
            Ok(why) => return by_mode(Verdict::Allow, why),
            Err(why_not) => why_not.clone(),
        };
        let allowed = granted
            .or_else(|| rules::allowed_by(&self.rules.allow, name, touch, folder))
            .or_else(|| rules::allowed_by(&standing.lent, name, touch, folder));
        if let Some(rule) = allowed {
            return (Verdict::Allow, format!("the rule `{rule}` allows it"), true);
        }
        match (mode, &touch.access) {
            (Mode::AcceptEdits, Access::Writes(path)) => {
                match paths::accepts_edit(path, folder, &self.folders) {
                    Ok(()) => {
                        by_mode(Verdict::Allow, "edits in the working directory are accepted")
                    }
                    Err(why) => (Verdict::Ask, why, false),
                }
            }
            _ => (Verdict::Ask, why_not, false),
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
            (Access::Other, ToolClass::Parallel | ToolClass::Exclusive) => {
                harmless(&tool.called_as(input))
            }
        };
        Self { access, path: paths::named(input, folder), read_only, commands: OnceCell::new() }
    }

    /// Why the call has no place in plan mode: what needs no question may change something all the same.
    fn outlasts_a_plan(&self, name: &str) -> Option<String> {
        match (&self.read_only, name) {
            (Err(why_not), _) => Some(why_not.clone()),
            (Ok(_), "MemorySave" | "MemoryDelete" | "MemoryLog") => {
                Some("it writes memory".to_owned())
            }
            // Of the memory tool some commands only look.
            (Ok(_), "memory") if self.access != Access::Reads => {
                Some("it writes memory".to_owned())
            }
            (Ok(_), "KillShell") => Some("it ends a command".to_owned()),
            (Ok(_), _) => None,
        }
    }

    /// The commands of the line it runs; none if that is not understood.
    fn commands(&self) -> Option<&[Vec<String>]> {
        let Access::Runs(line) = &self.access else { return None };
        self.commands.get_or_init(|| commands(line)).as_deref()
    }

    /// The rule that would allow just this.
    fn suggested_rule(&self, name: &str, folder: &Path) -> Rule {
        match &self.access {
            Access::Runs(line) => Rule::command(name, line, self.commands()),
            Access::Writes(path) => Rule::file(name, path, folder),
            Access::Fetches(host) => Rule::of_host(name, host),
            Access::Reads | Access::Other => Rule::whole(name),
        }
    }
}

/// Tools that change nothing but what the conversation itself made.
fn harmless(name: &str) -> Result<&'static str, String> {
    match name {
        "TodoWrite" => Ok("it changes nothing but the list of what is to be done"),
        "MemorySave" | "MemoryDelete" | "MemoryLog" | "memory" => {
            Ok("memory has a write policy of its own")
        }
        "ExitPlan" => Ok("it only hands in a plan, which the person decides about"),
        "SendMessage" => Ok("it only tells another agent of the same user something"),
        "KillShell" => Ok("it ends only a command that this conversation started"),
        _ => Err(format!("{name} may change something")),
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
