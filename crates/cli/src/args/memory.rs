//! Arguments of `dormouse memory`, `dormouse recall` and `dormouse search`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::memory_scope::{MemoryScopeArgument, MemoryScopeParser};

pub(crate) const MEMORY_EXAMPLES: &str = "\
dormouse memory list
dormouse memory add \"Test database\" --type project --description \"where it runs\" --body \"Port 5433\"
dormouse memory search database --json | jq '.[0].path'
dormouse memory undo";

pub(crate) const RECALL_EXAMPLES: &str = "\
dormouse recall \"which port has the test database\"
dormouse recall \"slow migration\" --explain
dormouse recall database --json --limit 3";

pub(crate) const SEARCH_EXAMPLES: &str = "\
dormouse search --sessions \"broken pipe\"
dormouse search --sessions parse_header --json
dormouse search database";

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    #[command(
        visible_alias = "ls",
        after_help = "dormouse memory list\ndormouse memory list --type feedback --scope user\ndormouse memory list --json | jq -r '.[].path'"
    )]
    List(ListArguments),
    #[command(
        after_help = "dormouse memory show test-database.md\ndormouse memory show \"Test database\" --json"
    )]
    Show(NamedArguments),
    #[command(
        after_help = "dormouse memory add \"we deploy from main\"\ndormouse memory add \"Test database\" --type project --description \"where it runs\" --body \"Port 5433\"\ngit log -1 | dormouse memory add \"Last release\" --type reference --description \"its commit\""
    )]
    Add(AddArguments),
    #[command(
        after_help = "dormouse memory edit test-database.md\ndormouse memory edit \"Test database\" --description \"where it runs, and on which port\"\ngit log -1 | dormouse memory edit \"Last release\" --body -"
    )]
    Edit(EditArguments),
    #[command(
        visible_aliases = ["remove", "delete"],
        after_help = "dormouse memory rm test-database.md\ndormouse memory rm \"Test database\" \"Last release\""
    )]
    Rm(RmArguments),
    #[command(
        after_help = "dormouse memory promote test-database.md\ndormouse memory promote \"Test database\" --force"
    )]
    Promote(PromoteArguments),
    #[command(
        after_help = "dormouse memory confirm build-server.md\ndormouse memory confirm \"Build server\" --json"
    )]
    Confirm(NamedArguments),
    #[command(
        after_help = "dormouse memory search database\ndormouse memory search \"slow migration\" --limit 3 --json"
    )]
    Search(SearchArguments),
    #[command(
        after_help = "dormouse memory log\ndormouse memory log test-database.md --limit 5\ndormouse memory log --json | jq '.[] | select(.author == \"model\")'"
    )]
    Log(LogArguments),
    #[command(
        after_help = "dormouse memory diff\ndormouse memory diff 12 --scope project\ndormouse memory diff test-database.md"
    )]
    Diff(DiffArguments),
    #[command(after_help = "dormouse memory undo\ndormouse memory undo 12 --scope project")]
    Undo(UndoArguments),
    #[command(
        after_help = "dormouse memory restore\ndormouse memory restore test-database.md\ndormouse memory restore test-database.md --change 3"
    )]
    Restore(RestoreArguments),
    #[command(
        override_usage = "dormouse memory inbox [accept|edit|refuse] [ID]... [--all]",
        after_help = "dormouse memory inbox\ndormouse memory inbox accept 1 2\ndormouse memory inbox edit 3\ndormouse memory inbox refuse --all"
    )]
    Inbox(InboxArguments),
    #[command(
        after_help = "dormouse memory guard\ndormouse memory guard no-force-push.md\ndormouse memory guard \"No force push\" --install\ndormouse memory guard no-force-push.md --remove"
    )]
    Guard(GuardArguments),
    #[command(after_help = "dormouse memory doctor\ndormouse memory doctor --fix")]
    Doctor(MemoryDoctorArguments),
    #[command(
        after_help = "dormouse memory lint\ndormouse memory lint docs notes.md --json\ndormouse memory lint .dormouse/memory --annotations github"
    )]
    Lint(LintArguments),
    #[command(
        after_help = "dormouse memory path\ndormouse memory path --scope user\ndormouse memory path --json"
    )]
    Path(PathArguments),
    #[command(
        after_help = "dormouse memory embed\ndormouse memory embed --again\ndormouse memory embed --json | jq .missing"
    )]
    Embed(EmbedArguments),
    #[command(
        after_help = "dormouse memory export > memories.json\ndormouse memory export backup --scope user"
    )]
    Export(ExportArguments),
    #[command(
        after_help = "dormouse memory import\ndormouse memory import --from claude-code\ndormouse memory import ~/notes\ndormouse memory import mem0.json --scope user\ndormouse memory import memory.jsonl --format mcp\ndormouse memory import memories.json"
    )]
    Import(ImportArguments),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryTypeArgument {
    User,
    Feedback,
    Project,
    Reference,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct MemoryCommonArguments {
    #[arg(long, value_parser = MemoryScopeParser)]
    pub(crate) scope: Option<MemoryScopeArgument>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryTypeArgument>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct PromoteArguments {
    pub(crate) name: String,
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NamedArguments {
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct GuardArguments {
    pub(crate) name: Option<String>,
    #[arg(long, requires = "name", group = "done")]
    pub(crate) install: bool,
    #[arg(long, requires = "name", group = "done")]
    pub(crate) remove: bool,
    #[arg(long, requires = "name", group = "done")]
    pub(crate) refuse: bool,
    #[arg(long, hide = true, value_name = "FILE", conflicts_with = "name")]
    pub(crate) remind: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    #[arg(required = true)]
    pub(crate) name: Vec<String>,
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryTypeArgument>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    #[arg(long)]
    pub(crate) new: bool,
    #[arg(long, value_parser = MemoryScopeParser)]
    pub(crate) scope: Option<MemoryScopeArgument>,
    #[arg(long)]
    pub(crate) pin: bool,
    #[arg(long)]
    pub(crate) allow_secret: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EditArguments {
    pub(crate) name: String,
    #[arg(long = "name", value_name = "TEXT")]
    pub(crate) new_name: Option<String>,
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryTypeArgument>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) pin: Option<bool>,
    #[arg(long)]
    pub(crate) allow_secret: bool,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RmArguments {
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct EmbedArguments {
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SearchPastArguments {
    #[arg(long, conflicts_with = "scope")]
    pub(crate) sessions: bool,
    #[command(flatten)]
    pub(crate) search: SearchArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArguments {
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) explain: bool,
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    pub(crate) name: Option<String>,
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    pub(crate) change: Option<u64>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    pub(crate) file: Option<String>,
    #[arg(long, value_name = "CHANGE", requires = "file")]
    pub(crate) change: Option<u64>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InboxVerb {
    Accept,
    Edit,
    Refuse,
}

#[derive(Debug, Args)]
pub(crate) struct InboxArguments {
    #[arg(value_enum, requires = "which")]
    pub(crate) verb: Option<InboxVerb>,
    #[arg(group = "which", value_name = "ID")]
    pub(crate) ids: Vec<u64>,
    #[arg(long, group = "which")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct MemoryDoctorArguments {
    #[arg(long, alias = "mend")]
    pub(crate) fix: bool,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

/// How a code host shows findings beside the lines of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotationFormat {
    /// Workflow commands of GitHub Actions; Gitea and Forgejo read them as well.
    Github,
    /// A code quality report of GitLab.
    Gitlab,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    pub(crate) paths: Vec<PathBuf>,
    #[arg(long, value_enum, conflicts_with = "json")]
    pub(crate) annotations: Option<AnnotationFormat>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    Folder,
    Dormouse,
    Mem0,
    Mcp,
}

/// Another agent whose memories about this project can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OtherAgent {
    ClaudeCode,
    Codex,
    Cursor,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    #[arg(conflicts_with = "from")]
    pub(crate) path: Option<PathBuf>,
    #[arg(long, value_enum)]
    pub(crate) from: Option<OtherAgent>,
    #[arg(long, value_enum, requires = "path")]
    pub(crate) format: Option<ImportFormat>,
    #[arg(long)]
    pub(crate) allow_secret: bool,
    #[command(flatten)]
    pub(crate) common: MemoryCommonArguments,
}

impl From<MemoryTypeArgument> for dormouse_memory::MemoryType {
    fn from(kind: MemoryTypeArgument) -> Self {
        match kind {
            MemoryTypeArgument::User => Self::User,
            MemoryTypeArgument::Feedback => Self::Feedback,
            MemoryTypeArgument::Project => Self::Project,
            MemoryTypeArgument::Reference => Self::Reference,
        }
    }
}
