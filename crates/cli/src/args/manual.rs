//! Arguments of `dormouse help`.

use clap::Args;

pub(crate) const MANUAL_EXAMPLES: &str = "\
dormouse help
dormouse help interface
dormouse help memory add";

#[derive(Debug, Args)]
pub(crate) struct ManualArguments {
    pub(crate) topic: Vec<String>,
}
