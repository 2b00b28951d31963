//! Arguments of `dormouse ui`, the viewer.

use clap::Args;

pub(crate) const UI_EXAMPLES: &str = "\
dormouse ui
dormouse ui --read-only
dormouse ui --no-open --port 8080";

#[derive(Debug, Args)]
pub(crate) struct UiArguments {
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    #[arg(long)]
    pub(crate) read_only: bool,
    #[arg(long)]
    pub(crate) no_open: bool,
}
