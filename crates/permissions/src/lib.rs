//! Whether a tool call may run: [`PermissionGate`] decides by mode, rules and what the call would access;
//! [`classify`] decides whether a command line only reads.
//!
//! Invariants: a deny rule wins over everything; a command is read-only only if every part of it is known to be; a
//! permission for a file is for the place where its path really leads. Asks nobody and runs nothing.

#![forbid(unsafe_code)]

mod gate;
mod host;
mod known_commands;
mod protected;
mod read_access;
mod reason;
mod request;
mod rule;
mod rule_names;
mod rule_pattern;
mod rules;
mod shell;
mod word_pattern;
mod write_target;

pub use gate::{
    PermissionDecision, PermissionGate, PermissionMode, PermissionVerdict, SandboxRules,
};
pub use host::{HostPattern, normalize_host};
pub use read_access::{ReadingScope, credential_places};
pub use reason::PermissionReason;
pub use request::{Access, InternalAccess, PermissionNeed, PermissionRequest};
pub use rule::{PermissionRule, RuleError};
pub use rule_names::{COMMAND_RULE, EDIT_RULE, HOST_RULE, MCP_TOOL_PREFIX, READ_RULE, SEARCH_RULE};
pub use rule_pattern::PatternError;
pub use rules::PermissionRules;
pub use shell::{
    CommandAction, NotReadOnly, PatternRisk, SAFE_GIT_ENVIRONMENT, ScriptRisk, ShellCommand,
    ShellVerdict, UnsupportedSyntax, classify, commands,
};
pub use write_target::{WriteTargetError, write_target};
