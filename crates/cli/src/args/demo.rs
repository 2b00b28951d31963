//! Arguments of `dormouse demo`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    #[arg(long)]
    pub(crate) fast: bool,
}
