//! Arguments of `dormouse sessions`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct SessionsArguments {
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}
