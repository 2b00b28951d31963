//! Arguments of `dormouse send`.

use clap::Args;
use dormouse_agents::messages::{Address, AgentName};

pub(crate) const SEND_HELP: &str = "\
Examples:
  dormouse send reviewer \"the branch is ready\"
  make test 2>&1 | tail -1 | dormouse send builder --from ci
  dormouse send uds:/run/user/1000/dormouse/2f6c01b39d4e8a57.sock \"the branch is ready\"

The message waits in the agent's mailbox until it is told, at its next step or when it is started again. It is marked as one
of an agent, not of the person.";

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// The name of a session of this project (`dormouse --name NAME`), or `uds:` and the path of a socket
    pub(crate) to: Address,
    /// What to say; without it, what is piped in
    pub(crate) text: Vec<String>,
    /// The same in 5 to 10 words, for whoever looks on; without it, how the text begins
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// Who says it
    #[arg(long, value_name = "NAME", default_value = "shell")]
    pub(crate) from: AgentName,
    /// Every line that is piped in is a message
    #[arg(long, conflicts_with = "text")]
    pub(crate) lines: bool,
}
