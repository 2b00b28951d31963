//! What a tool call would access: the input of a permission decision.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::protected::lexical;
use crate::shell::{ShellVerdict, classify, commands};

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

/// A call that needs a decision.
#[derive(Debug)]
pub struct PermissionRequest {
    pub(crate) tool: String,
    pub(crate) rule_family: Option<&'static str>,
    pub(crate) access: Access,
    pub(crate) folder: PathBuf,
    /// The file or folder that a reading call names.
    pub(crate) path: Option<PathBuf>,
    read_only: Result<&'static str, String>,
    /// The commands of the line; parsed on first use.
    commands: OnceCell<Option<Vec<Vec<String>>>>,
}

impl PermissionRequest {
    /// A call of `tool`, as rules name it. `folder` is the working directory.
    pub fn new(tool: impl Into<String>, access: Access, folder: &Path) -> Self {
        let tool = tool.into();
        let read_only = match &access {
            Access::Reads => Ok("it only reads"),
            Access::Runs(line) => match classify(line) {
                ShellVerdict::ReadOnly => Ok("the command only reads"),
                ShellVerdict::Changes { reason } => Err(reason),
            },
            Access::Writes(path) => Err(format!("it writes {}", path.display())),
            Access::Fetches(host) => Err(format!("it sends a request to `{host}`")),
            Access::Internal(internal) => Ok(internal.reason),
            Access::Other => Err(format!("{tool} may change something")),
        };
        Self {
            tool,
            rule_family: None,
            access,
            folder: folder.to_owned(),
            path: None,
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

    /// Adds the name of another tool whose rules cover this one as well.
    #[must_use]
    pub fn with_rule_family(mut self, rule_family: Option<&'static str>) -> Self {
        self.rule_family = rule_family;
        self
    }

    /// Why the call needs no permission, or why it does.
    pub(crate) fn read_only(&self) -> Result<&'static str, &str> {
        self.read_only.as_ref().copied().map_err(String::as_str)
    }

    /// Why plan mode denies the call.
    pub(crate) fn plan_mode_objection(&self) -> Option<&str> {
        match (&self.read_only, &self.access) {
            (Err(reason), _) => Some(reason),
            (Ok(_), Access::Internal(internal)) => internal.denied_in_plan_mode,
            (Ok(_), _) => None,
        }
    }

    /// The commands of the line it runs; none if the line is not understood.
    pub(crate) fn commands(&self) -> Option<&[Vec<String>]> {
        let Access::Runs(line) = &self.access else { return None };
        self.commands.get_or_init(|| commands(line)).as_deref()
    }
}
