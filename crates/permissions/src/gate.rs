//! The permission gate: decides about a call by mode, rules and what the call would access (L-15).
//!
//! Order: a `deny` rule wins over everything, an `ask` rule over everything but that; read-only calls are allowed; then
//! the mode and the `allow` rules decide. Whether the user can be asked is up to the caller.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::host::HostPattern;
use crate::protected::check_accepted_edit;
use crate::read_access::{Reach, ReadingNeed, ReadingObjection, ReadingScope, reached};
use crate::request::{Access, PermissionRequest};
use crate::rule::PermissionRule;
use crate::rules::{PermissionRules, allowed_by};
use crate::write_target::write_target;

/// How much is permitted without a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PermissionMode {
    /// Asks before a write or a command.
    #[default]
    Default,
    /// Allows writes inside the working directory, except to files that configure programs.
    AcceptEdits,
    /// Allows nothing but reading.
    Plan,
    /// Allows everything that no rule denies or asks about.
    Bypass,
}

impl PermissionMode {
    /// Its name in files and protocols.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Bypass => "bypassPermissions",
        }
    }
}

/// Whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionVerdict {
    /// It may run.
    Allow,
    /// The user decides.
    Ask,
    /// It may not run.
    Deny,
}

impl PermissionVerdict {
    /// The name used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A verdict with its reason.
#[derive(Debug, Clone)]
pub struct PermissionDecision {
    /// The verdict.
    pub verdict: PermissionVerdict,
    /// Whether the call only reads.
    pub read_only: bool,
    /// The reason, for the model and the user.
    pub why: String,
    /// Whether a rule decided, which nobody but the user may overrule.
    pub by_rule: bool,
    /// The narrowest rule that would allow the call.
    pub rule: PermissionRule,
    /// The folder whose reading one confirmation allows until the session ends.
    pub reads_folder: Option<PathBuf>,
}

/// What the user and skills have changed since the session began.
#[derive(Debug, Default)]
struct SessionState {
    mode: PermissionMode,
    /// The mode that plan mode was turned on in.
    mode_before_plan: PermissionMode,
    granted: Vec<PermissionRule>,
    /// Rules of the skill in use; weaker than rules that the user granted.
    skill_rules: Vec<PermissionRule>,
    /// Deny and ask rules added during the session.
    restrictions: PermissionRules,
    /// Folders outside the project whose reading the user confirmed.
    read_folders: Vec<PathBuf>,
    /// The folder for temporary files, in which writing needs no confirmation.
    scratch: Option<PathBuf>,
    /// Commands that the user wants outside the sandbox.
    excluded: Vec<PermissionRule>,
}

/// How the sandbox of commands bears on permissions.
#[derive(Debug, Clone, Default)]
pub struct SandboxRules {
    /// Commands that run outside it: rules for Bash.
    pub excluded: Vec<PermissionRule>,
    /// Whether commands in it need no confirmation for what they write.
    pub auto_allow: bool,
}

/// Decides about calls. Clones share what is granted during the session.
#[derive(Debug, Clone)]
pub struct PermissionGate {
    rules: Arc<PermissionRules>,
    /// Folders outside the working directory in which edits may be accepted.
    additional_folders: Arc<[PathBuf]>,
    /// Where reading needs no confirmation; everywhere if none is given.
    reading: Option<Arc<ReadingScope>>,
    session: Arc<Mutex<SessionState>>,
    /// How the sandbox bears on permissions; none if commands run without one.
    sandbox: Option<Arc<SandboxRules>>,
    /// The mode of a subagent, where it has one; plan mode of the session still applies.
    own_mode: Arc<Mutex<Option<PermissionMode>>>,
}

impl PermissionGate {
    /// A gate in this mode, with these rules.
    pub fn new(mode: PermissionMode, rules: PermissionRules) -> Self {
        Self {
            rules: Arc::new(rules),
            additional_folders: Arc::default(),
            reading: None,
            sandbox: None,
            session: Arc::new(Mutex::new(SessionState { mode, ..SessionState::default() })),
            own_mode: Arc::default(),
        }
    }

    /// A gate that allows everything: for the scripted demo, in a temporary folder of its own.
    pub fn allow_all() -> Self {
        Self::new(PermissionMode::Bypass, PermissionRules::default())
    }

    /// Folders that were added to the project.
    pub fn added_folders(&self) -> &[PathBuf] {
        &self.additional_folders
    }

    /// Adds folders in which edits may be accepted.
    #[must_use]
    pub fn with_folders(self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { additional_folders: folders.into_iter().collect(), ..self }
    }

    /// Reading elsewhere needs confirmation.
    #[must_use]
    pub fn with_reading(self, scope: ReadingScope) -> Self {
        Self { reading: Some(Arc::new(scope)), ..self }
    }

    /// Commands run in a sandbox.
    #[must_use]
    pub fn with_sandbox(self, rules: SandboxRules) -> Self {
        Self { sandbox: Some(Arc::new(rules)), ..self }
    }

    /// Whether a command runs in the sandbox.
    pub fn is_sandboxed(&self, request: &PermissionRequest) -> bool {
        let session = self.session();
        self.sandbox_of(&session, request).is_some()
    }

    /// The sandbox that a command runs in.
    fn sandbox_of(
        &self,
        session: &SessionState,
        request: &PermissionRequest,
    ) -> Option<&SandboxRules> {
        let sandbox = self.sandbox.as_deref()?;
        let excluded = [&sandbox.excluded, &session.excluded];
        excluded.iter().all(|rules| allowed_by(rules, request).is_none()).then_some(sandbox)
    }

    /// Runs what this rule covers outside the sandbox until the session ends.
    pub fn exclude_from_sandbox(&self, rule: PermissionRule) {
        self.session().excluded.push(rule);
    }

    /// A gate for calls that nobody can confirm: the same rules and places to read, nothing that the session granted.
    #[must_use]
    pub fn detached(&self, mode: PermissionMode) -> Self {
        let session = SessionState { mode, ..SessionState::default() };
        Self { session: Arc::new(Mutex::new(session)), own_mode: Arc::default(), ..self.clone() }
    }

    /// A gate for a subagent with its own mode: it shares the session's grants, and is in plan mode while the session
    /// is.
    #[must_use]
    pub fn in_mode(&self, mode: PermissionMode) -> Self {
        Self { own_mode: Arc::new(Mutex::new(Some(mode))), ..self.clone() }
    }

    /// A subagent's gate is in the session's mode from here on; clones as well.
    pub fn take_mode_of_session(&self) {
        *self.own_mode.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn own_mode(&self) -> Option<PermissionMode> {
        *self.own_mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mode in force.
    pub fn mode(&self) -> PermissionMode {
        self.effective_mode(&self.session())
    }

    fn effective_mode(&self, session: &SessionState) -> PermissionMode {
        match (session.mode, self.own_mode()) {
            (PermissionMode::Plan, _) => PermissionMode::Plan,
            (mode, own) => own.unwrap_or(mode),
        }
    }

    /// Changes the mode of the session.
    pub fn set_mode(&self, mode: PermissionMode) {
        let mut session = self.session();
        session.mode = mode;
        session.mode_before_plan = PermissionMode::Default;
    }

    /// Turns plan mode on; [`Self::mode_before_plan`] remembers the mode in force.
    pub fn enter_plan_mode(&self) {
        let mut session = self.session();
        session.mode_before_plan = session.mode;
        session.mode = PermissionMode::Plan;
    }

    /// The mode to go back to when plan mode is left without a plan.
    pub fn mode_before_plan(&self) -> PermissionMode {
        self.session().mode_before_plan
    }

    /// Allows what a rule covers until the session ends.
    pub fn grant(&self, rule: PermissionRule) {
        self.session().granted.push(rule);
    }

    /// Allows reading a folder until the session ends.
    pub fn allow_reading(&self, folder: PathBuf) {
        self.session().read_folders.push(folder);
    }

    /// Allows reading and writing the folder for the session's temporary files.
    pub fn allow_scratch(&self, folder: PathBuf) {
        let folder = without_links_above(&folder).unwrap_or(folder);
        self.allow_reading(folder.clone());
        self.session().scratch = Some(folder);
    }

    /// Replaces the deny and ask rules that were added during the session.
    pub fn restrict(&self, deny: Vec<PermissionRule>, ask: Vec<PermissionRule>) {
        self.session().restrictions = PermissionRules { allow: Vec::new(), ask, deny };
    }

    /// Adds allow rules of a skill, until [`clear_skill_rules`](Self::clear_skill_rules).
    pub fn add_skill_rules(&self, rules: impl IntoIterator<Item = PermissionRule>) {
        self.session().skill_rules.extend(rules);
    }

    /// Removes the allow rules of skills.
    pub fn clear_skill_rules(&self) {
        self.session().skill_rules.clear();
    }

    /// The rules of the settings and the command line.
    pub fn rules(&self) -> &PermissionRules {
        &self.rules
    }

    /// The rules granted since the session began.
    pub fn granted(&self) -> Vec<PermissionRule> {
        self.session().granted.clone()
    }

    fn session(&self) -> MutexGuard<'_, SessionState> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a rule denies reading a file, by its real path: for calls that read many.
    pub fn denies_reading(&self, path: &Path, folder: &Path) -> bool {
        let session = self.session();
        let mut denying = self.rules.deny.iter().chain(&session.restrictions.deny);
        denying.any(|rule| rule.denies_file(path, folder))
    }

    /// The hosts that rules allow by name: these may be in a private network.
    pub fn named_hosts(&self) -> Vec<HostPattern> {
        let session = self.session();
        let allowing = self.rules.allow.iter().chain(&session.granted);
        allowing.filter_map(PermissionRule::host).cloned().collect()
    }

    /// Decides about a call.
    pub fn decide(&self, request: &PermissionRequest) -> PermissionDecision {
        let Ruling { verdict, why, by_rule, reading } = self.rule_on(request);
        let rule = match &reading {
            Some(objection) => PermissionRule::for_reading(objection),
            None => PermissionRule::suggested_for(request),
        };
        let reads_folder = reading
            .filter(|objection| objection.need == ReadingNeed::Outside)
            .map(|objection| objection.folder());
        let read_only = request.read_only().is_ok();
        PermissionDecision { verdict, read_only, why, by_rule, rule, reads_folder }
    }

    /// Why the call needs confirmation for what it reads. A rule for the command covers what is outside the project, not
    /// credentials.
    fn reading_objection(
        &self,
        session: &SessionState,
        request: &PermissionRequest,
        reached: &[Reach],
    ) -> Option<ReadingObjection> {
        let allowing =
            || self.rules.allow.iter().chain(&session.granted).chain(&session.skill_rules);
        let scope = self.reading.as_deref();
        let mut project: Vec<PathBuf> = std::iter::once(&request.folder)
            .chain(self.additional_folders.iter())
            .map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.clone()))
            .collect();
        project.extend(session.read_folders.iter().cloned());
        let objections = reached.iter().filter_map(|reach| match scope {
            Some(scope) => scope.objection(reach, &project),
            None => ReadingScope::environment_of_process(reach),
        });
        let is_allowed = |objection: &ReadingObjection| {
            allowing().any(|rule| rule.allows_reading(objection, request))
        };
        objections.into_iter().find(|objection| !is_allowed(objection))
    }

    /// Why a rule wants the user to be asked: it applies, or it may apply to a line that could not be parsed.
    fn asking_rule(&self, session: &SessionState, request: &PermissionRequest) -> Option<String> {
        let sets = [&*self.rules, &session.restrictions];
        if let Some(rule) = sets.iter().find_map(|rules| rules.asks(request)) {
            return Some(format!("the rule `{rule}` asks first"));
        }
        let syntax = request.unparsed_syntax()?;
        let possible = sets.iter().find_map(|rules| rules.may_restrict(request))?;
        Some(format!("{syntax}, so {possible} may apply"))
    }

    fn rule_on(&self, request: &PermissionRequest) -> Ruling {
        let session = self.session();
        let mode = self.effective_mode(&session);
        let denying = self.rules.denies(request).or_else(|| session.restrictions.denies(request));
        if let Some(rule) = denying {
            return Ruling::by_rule(
                PermissionVerdict::Deny,
                format!("the rule `{rule}` denies it"),
            );
        }
        // Looked up on disk, so only where a rule or the mode asks for it.
        let reached = LazyCell::new(|| {
            reached(request, self.reading.as_deref().and_then(ReadingScope::home))
        });
        let hidden = self.rules.hides(request, || &reached);
        if let Some((rule, file)) =
            hidden.or_else(|| session.restrictions.hides(request, || &reached))
        {
            let why =
                format!("the rule `{rule}` denies reading {}, which it can reach", file.display());
            return Ruling::by_rule(PermissionVerdict::Deny, why);
        }
        if let (PermissionMode::Plan, Some(objection)) = (mode, request.plan_mode_objection()) {
            let restriction = match (session.mode, self.own_mode()) {
                (PermissionMode::Plan, _) | (_, None) => "Plan mode allows no changes.",
                (_, Some(_)) => "This agent may only read.",
            };
            return Ruling::by_mode(PermissionVerdict::Deny, format!("{objection}. {restriction}"));
        }
        let granted = allowed_by(&session.granted, request);
        if granted.is_none()
            && let Some(why) = self.asking_rule(&session, request)
        {
            return Ruling::by_rule(PermissionVerdict::Ask, why);
        }
        if mode == PermissionMode::Bypass {
            return Ruling::by_mode(
                PermissionVerdict::Allow,
                "everything is permitted in this mode",
            );
        }
        if let Some(objection) = self.reading_objection(&session, request, &reached) {
            return Ruling {
                verdict: PermissionVerdict::Ask,
                why: objection.to_string(),
                by_rule: false,
                reading: Some(objection),
            };
        }
        let objection = match request.read_only() {
            Ok(reason) => return Ruling::by_mode(PermissionVerdict::Allow, reason),
            Err(objection) => objection,
        };
        let allowed = granted
            .or_else(|| allowed_by(&self.rules.allow, request))
            .or_else(|| allowed_by(&session.skill_rules, request));
        if let Some(rule) = allowed {
            return Ruling::by_rule(
                PermissionVerdict::Allow,
                format!("the rule `{rule}` allows it"),
            );
        }
        self.rule_by_mode(&session, mode, request, &objection.to_string())
    }

    /// What the mode says about a call that may change something and that no rule is about.
    fn rule_by_mode(
        &self,
        session: &SessionState,
        mode: PermissionMode,
        request: &PermissionRequest,
        objection: &str,
    ) -> Ruling {
        match (mode, &request.access) {
            (_, Access::Writes(path)) if is_in_scratch(session, path, &request.folder) => {
                Ruling::by_mode(PermissionVerdict::Allow, "it is in the folder for temporary files")
            }
            (PermissionMode::AcceptEdits, Access::Writes(path)) => {
                match check_accepted_edit(path, &request.folder, &self.additional_folders) {
                    Ok(()) => Ruling::by_mode(
                        PermissionVerdict::Allow,
                        "edits in the working directory are accepted",
                    ),
                    Err(error) => Ruling::by_mode(PermissionVerdict::Ask, error.to_string()),
                }
            }
            (_, Access::Runs(_))
                if self.sandbox_of(session, request).is_some_and(|sandbox| sandbox.auto_allow) =>
            {
                Ruling::by_mode(PermissionVerdict::Allow, "it runs in the sandbox")
            }
            _ => Ruling::by_mode(PermissionVerdict::Ask, objection),
        }
    }
}

/// The path with the links above it resolved. What it names itself need not exist.
fn without_links_above(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Whether a file is in the folder for temporary files. Where links lead counts: one in the folder's place leads out of it.
fn is_in_scratch(session: &SessionState, path: &Path, folder: &Path) -> bool {
    let Some(scratch) = &session.scratch else { return false };
    write_target(folder, path).is_ok_and(|real| real != *scratch && real.starts_with(scratch))
}

/// A verdict, its reason, and whether a rule decided.
struct Ruling {
    verdict: PermissionVerdict,
    why: String,
    by_rule: bool,
    /// What it reads that needs confirmation.
    reading: Option<ReadingObjection>,
}

impl Ruling {
    fn by_rule(verdict: PermissionVerdict, why: String) -> Self {
        Self { verdict, why, by_rule: true, reading: None }
    }

    fn by_mode(verdict: PermissionVerdict, why: impl Into<String>) -> Self {
        Self { verdict, why: why.into(), by_rule: false, reading: None }
    }
}
