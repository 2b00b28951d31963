//! Arguments of `dormouse hooks` (our own hooks) and `dormouse hook` (hook events of other agents).

use clap::Args;

pub(crate) const HOOK_EXAMPLES: &str =
    "echo '{\"prompt\":\"how do we deploy?\",\"cwd\":\"/home/me/app\"}' | dormouse hook prompt";

#[derive(Debug, Args)]
pub(crate) struct HookArguments {
    #[arg(allow_hyphen_values = true, num_args = 0.., trailing_var_arg = true)]
    pub(crate) event: Vec<String>,
}

pub(crate) const HOOKS_EXAMPLES: &str = "\
dormouse hooks
dormouse hooks PreToolUse --tool Bash --input '{\"command\":\"git push\"}'
dormouse hooks SessionStart --tool startup --json | jq '.hooks[] | select(.runs | not)'";

#[derive(Debug, Args)]
pub(crate) struct HooksArguments {
    pub(crate) event: Option<String>,
    #[arg(long, value_name = "NAME", requires = "event")]
    pub(crate) tool: Option<String>,
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) settings: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}
