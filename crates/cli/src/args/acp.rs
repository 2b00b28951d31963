//! Arguments of `dormouse acp`.

use clap::{Args, Parser};
use dormouse_conversation::Effort;

use super::{Arguments, PermissionModeArgument};
use crate::wiring::exit::Failure;

pub(crate) const ACP_EXAMPLES: &str = "\
dormouse acp
dormouse acp --permission-mode accept-edits";

#[derive(Debug, Args)]
pub(crate) struct AcpArguments {
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[arg(long, value_name = "LEVEL")]
    pub(crate) effort: Option<Effort>,
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permission_mode: Option<PermissionModeArgument>,
}

impl AcpArguments {
    /// The arguments of a session that an editor opens.
    pub(crate) fn for_sessions(&self) -> Result<Arguments, Failure> {
        let defaults = Arguments::try_parse_from(["dormouse"]).map_err(Failure::usage)?;
        Ok(Arguments {
            model: self.model.clone(),
            effort: self.effort,
            permission_mode: self.permission_mode,
            ..defaults
        })
    }
}
