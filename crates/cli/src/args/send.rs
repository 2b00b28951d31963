//! Arguments of `dormouse send`.

use clap::Args;
use dormouse_agents::messages::{Address, AgentName};

pub(crate) const SEND_EXAMPLES: &str = "\
dormouse send reviewer \"the branch is ready\"
make test 2>&1 | tail -1 | dormouse send builder --from ci
dormouse send uds:/run/user/1000/dormouse/2f6c01b39d4e8a57.sock \"the branch is ready\"";

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    pub(crate) to: Address,
    pub(crate) text: Vec<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    #[arg(long, value_name = "NAME", default_value = "shell")]
    pub(crate) from: AgentName,
    #[arg(long, conflicts_with = "text")]
    pub(crate) lines: bool,
}
