//! Arguments of `dormouse doctor` and `dormouse stats`.

use clap::Args;

pub(crate) const DOCTOR_EXAMPLES: &str = "\
dormouse doctor
dormouse doctor --offline
dormouse doctor --json | jq '.findings[] | select(.status != \"ok\")'";

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[arg(long)]
    pub(crate) offline: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const STATS_EXAMPLES: &str = "\
dormouse stats
dormouse stats --all --since 7d
dormouse stats --session 0193b0a4 --json | jq .cache_hit_rate";

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    #[arg(long, value_name = "ID", conflicts_with_all = ["project", "all"])]
    pub(crate) session: Option<String>,
    #[arg(long, conflicts_with = "all")]
    pub(crate) project: bool,
    #[arg(long)]
    pub(crate) all: bool,
    #[arg(long)]
    pub(crate) json: bool,
}
