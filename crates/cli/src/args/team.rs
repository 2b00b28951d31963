//! Arguments of `dormouse team`.

#[cfg(feature = "team-server")]
use std::net::SocketAddr;
#[cfg(feature = "team-server")]
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(crate) const TEAM_EXAMPLES: &str = "\
dormouse team serve
dormouse team token create ana --role write
dormouse team join https://team.example.com
dormouse team sync";

#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommand {
    #[command(
        after_help = "dormouse team join https://team.example.com\nDORMOUSE_TEAM_TOKEN=dmt_… dormouse team join http://127.0.0.1:7311"
    )]
    Join(JoinArguments),
    #[command(after_help = "dormouse team leave")]
    Leave,
    #[command(after_help = "dormouse team sync\ndormouse team sync --json")]
    Sync {
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = "dormouse team status\ndormouse team status --json")]
    Status {
        #[arg(long)]
        json: bool,
    },
    #[command(
        after_help = "dormouse team log\ndormouse team log ci.md\ndormouse team log ci.md --restore 12"
    )]
    Log(TeamLogArguments),
    #[command(after_help = "dormouse team rm ci.md\ndormouse team rm ci.md --yes")]
    Rm {
        entry: String,
        #[arg(long)]
        yes: bool,
    },
    #[command(
        after_help = "dormouse team review\ndormouse team review --accept 3\ndormouse team review --require on"
    )]
    Review(ReviewArguments),
    #[command(
        after_help = "dormouse team layers --off dream --off extraction\ndormouse team layers --none"
    )]
    Layers {
        #[arg(long, value_name = "LAYER", required_unless_present = "none")]
        off: Vec<String>,
        #[arg(long, conflicts_with = "off")]
        none: bool,
    },
    #[cfg(feature = "team-server")]
    #[command(
        after_help = "dormouse team serve\ndormouse team serve --listen 0.0.0.0:7311 --tls-cert chain.pem --tls-key key.pem\ndormouse team serve --config team-server.json"
    )]
    Serve(ServeArguments),
    #[cfg(feature = "team-server")]
    #[command(
        subcommand,
        after_help = "dormouse team token create ana --role write\ndormouse team token list"
    )]
    Token(TokenCommand),
    #[cfg(feature = "team-server")]
    #[command(after_help = "dormouse team backup team.jsonl")]
    Backup(DatabaseFileArguments),
    #[cfg(feature = "team-server")]
    #[command(after_help = "dormouse team restore team.jsonl --database new.db")]
    Restore(DatabaseFileArguments),
    #[cfg(feature = "team-server")]
    #[command(after_help = "dormouse team purge ana\ndormouse team purge ana --entries")]
    Purge(PurgeArguments),
}

#[derive(Debug, Args)]
pub(crate) struct JoinArguments {
    pub(crate) url: String,
    #[arg(long, value_name = "HOST/OWNER/REPO")]
    pub(crate) repository: Option<String>,
    #[arg(long)]
    pub(crate) plain_http: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TeamLogArguments {
    pub(crate) entry: Option<String>,
    #[arg(long, value_name = "VERSION", requires = "entry")]
    pub(crate) restore: Option<u64>,
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: u32,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    #[arg(long, value_name = "N")]
    pub(crate) accept: Vec<u64>,
    #[arg(long, value_name = "N")]
    pub(crate) reject: Vec<u64>,
    #[arg(long, value_enum)]
    pub(crate) require: Option<ReviewRequirement>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewRequirement {
    On,
    Off,
}

#[cfg(feature = "team-server")]
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    #[arg(long, value_name = "DATABASE")]
    pub(crate) database: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    #[arg(long, value_name = "N")]
    pub(crate) max_entries: Option<usize>,
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    #[arg(long, value_enum)]
    pub(crate) log: Option<ServerLogFormat>,
}

#[cfg(feature = "team-server")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ServerLogFormat {
    Text,
    Json,
    None,
}

#[cfg(feature = "team-server")]
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    #[command(after_help = "dormouse team token create ana --role write")]
    Create(TokenCreateArguments),
    #[command(after_help = "dormouse team token list\ndormouse team token list --json")]
    List {
        #[arg(long, value_name = "DATABASE")]
        database: Option<String>,
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = "dormouse team token revoke 5f2c9a81d04e")]
    Revoke {
        id: String,
        #[arg(long, value_name = "DATABASE")]
        database: Option<String>,
    },
}

#[cfg(feature = "team-server")]
#[derive(Debug, Args)]
pub(crate) struct TokenCreateArguments {
    pub(crate) person: String,
    #[arg(long, value_enum, default_value_t = RoleArgument::Write)]
    pub(crate) role: RoleArgument,
    #[arg(long, value_name = "HOST/OWNER/REPO")]
    pub(crate) repository: Option<String>,
    #[arg(long, value_name = "DATABASE")]
    pub(crate) database: Option<String>,
}

#[cfg(feature = "team-server")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArgument {
    Read,
    Write,
    Admin,
}

#[cfg(feature = "team-server")]
#[derive(Debug, Args)]
pub(crate) struct DatabaseFileArguments {
    pub(crate) file: PathBuf,
    #[arg(long, value_name = "DATABASE")]
    pub(crate) database: Option<String>,
}

#[cfg(feature = "team-server")]
#[derive(Debug, Args)]
pub(crate) struct PurgeArguments {
    pub(crate) person: String,
    #[arg(long)]
    pub(crate) entries: bool,
    #[arg(long, value_name = "DATABASE")]
    pub(crate) database: Option<String>,
    #[arg(long)]
    pub(crate) yes: bool,
}
