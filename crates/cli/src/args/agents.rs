//! Arguments of `dormouse agents`.

use clap::Args;

pub(crate) const AGENTS_HELP: &str = "\
Examples:
  dormouse agents
  dormouse agents --json | jq '.agents[].name'

An agent of your own is a markdown file in ~/.dormouse/agents, or in .dormouse/agents of a project: docs/agents.md says
what stands in it.";

#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}
