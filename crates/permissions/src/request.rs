//! What a tool call would access: the input of a permission decision.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::protected::lexical;
use crate::shell::{NotReadOnly, ShellCommand, ShellVerdict, classify, commands};

/// What a call would access, as far as its arguments tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Only reads.
    Reads,
    /// Writes this file: an absolute path that may contain links and `..`; see [`write_target`](crate::write_target).
    Writes(PathBuf),
    /// Runs this command line.
    Runs(String),
    /// Sends a request to this host: an address can carry data out.
    Fetches(String),
    /// Changes only state of the session, or state that has a policy of its own.
    Internal(InternalAccess),
    /// None of these, or arguments that cannot be read.
    Other,
}

/// An access that needs no permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InternalAccess {
    /// Why it needs none.
    pub reason: &'static str,
    /// Why plan mode denies it nevertheless; none where plan mode allows it.
    pub denied_in_plan_mode: Option<&'static str>,
}

/// Why a call needs permission.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PermissionNeed {
    /// It runs a command that is not known to only read.
    #[error(transparent)]
    Command(#[from] NotReadOnly),
    /// It writes a file.
    #[error("it writes {}", .0.display())]
    Write(PathBuf),
    /// It sends a request to a host.
    #[error("it sends a request to `{0}`")]
    Request(String),
    /// Nothing is known about what this tool does.
    #[error("{0} may change something")]
    UnknownTool(String),
}

/// A call that needs a decision.
#[derive(Debug)]
pub struct PermissionRequest {
    pub(crate) tool: String,
    pub(crate) rule_family: Option<&'static str>,
    pub(crate) access: Access,
    pub(crate) folder: PathBuf,
    /// The file or folder that a reading call names.
    pub(crate) path: Option<PathBuf>,
    /// Whether it reads the files below that folder, or below the working directory.
    is_search: bool,
    /// Why it needs no permission, or why it does.
    read_only: Result<&'static str, PermissionNeed>,
    /// The commands of the line; parsed on first use.
    commands: OnceCell<Option<Vec<ShellCommand>>>,
}

impl PermissionRequest {
    /// A call of `tool`, as rules name it. `folder` is the working directory.
    pub fn new(tool: impl Into<String>, access: Access, folder: &Path) -> Self {
        let tool = tool.into();
        let read_only = match &access {
            Access::Reads => Ok("it only reads"),
            Access::Runs(line) => match classify(line) {
                ShellVerdict::ReadOnly => Ok("the command only reads"),
                ShellVerdict::Changes { reason } => Err(reason.into()),
            },
            Access::Writes(path) => Err(PermissionNeed::Write(path.clone())),
            Access::Fetches(host) => Err(PermissionNeed::Request(host.clone())),
            Access::Internal(internal) => Ok(internal.reason),
            Access::Other => Err(PermissionNeed::UnknownTool(tool.clone())),
        };
        Self {
            tool,
            rule_family: None,
            access,
            folder: folder.to_owned(),
            path: None,
            is_search: false,
            read_only,
            commands: OnceCell::new(),
        }
    }

    /// Adds the file or folder that the arguments name, relative to the working directory.
    #[must_use]
    pub fn with_path(mut self, path: Option<PathBuf>) -> Self {
        self.path = path.map(|path| lexical(&self.folder.join(path)));
        self
    }

    /// Says that the call reads the files below its folder: a search.
    #[must_use]
    pub fn as_search(mut self) -> Self {
        self.is_search = true;
        self
    }

    pub(crate) fn searches(&self) -> bool {
        self.is_search
    }

    /// Adds the name of another tool whose rules cover this one as well.
    #[must_use]
    pub fn with_rule_family(mut self, rule_family: Option<&'static str>) -> Self {
        self.rule_family = rule_family;
        self
    }

    /// Why the call needs no permission, or why it does.
    pub(crate) fn read_only(&self) -> Result<&'static str, &PermissionNeed> {
        self.read_only.as_ref().copied()
    }

    /// Why plan mode denies the call.
    pub(crate) fn plan_mode_objection(&self) -> Option<String> {
        match (&self.read_only, &self.access) {
            (Err(reason), _) => Some(reason.to_string()),
            (Ok(_), Access::Internal(internal)) => internal.denied_in_plan_mode.map(str::to_owned),
            (Ok(_), _) => None,
        }
    }

    /// The syntax that keeps the line it runs from being parsed; none if it can be parsed, or there is no line.
    pub(crate) fn unparsed_syntax(&self) -> Option<String> {
        let Access::Runs(_) = &self.access else { return None };
        match (self.commands(), &self.read_only) {
            (None, Err(reason)) => Some(reason.to_string()),
            _ => None,
        }
    }

    /// The commands of the line it runs; none if the line is not understood.
    pub(crate) fn commands(&self) -> Option<&[ShellCommand]> {
        let Access::Runs(line) = &self.access else { return None };
        self.commands.get_or_init(|| commands(line)).as_deref()
    }
}
