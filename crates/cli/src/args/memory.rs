//! The arguments of `dormouse memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What the commands end with; said in the help of `dormouse memory`.
pub(crate) const MEMORY_HELP: &str = "\
Examples:
  dormouse memory list
  dormouse memory add \"Test database\" --type project --description \"where it runs\" --body \"Port 5433\"
  dormouse memory search database --json | jq '.[0].path'
  dormouse memory undo

A memory is named by its file or by its name. With --json there is only JSON on standard output, after a failure too:
{\"error\": …, \"kind\": …, \"hints\": […]}.

Exit codes:
  0    done; finding nothing is no failure of `list`, `search`, `log` and `inbox`
  1    it could not be done, there is no such memory, or `doctor` or `lint` found something
  2    the command line or the settings are wrong, a path can not be read, or a name fits several memories";

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List memories, newest first
    #[command(
        after_help = "Examples:\n  dormouse memory list\n  dormouse memory list --type feedback --scope user\n  dormouse memory list --json | jq -r '.[].path'"
    )]
    List(ListArguments),
    /// Print a memory as its file has it
    #[command(
        after_help = "Examples:\n  dormouse memory show test-database.md\n  dormouse memory show \"Test database\" --json"
    )]
    Show(NamedArguments),
    /// Save a memory and print its file's path; the text comes from standard input unless --body has it
    #[command(
        after_help = "Examples:\n  dormouse memory add \"Test database\" --type project --description \"where it runs\" --body \"Port 5433\"\n  git log -1 | dormouse memory add \"Last release\" --type reference --description \"its commit\""
    )]
    Add(AddArguments),
    /// Change a memory in your editor, or just what the options name
    #[command(
        after_help = "Examples:\n  dormouse memory edit test-database.md\n  dormouse memory edit \"Test database\" --description \"where it runs, and on which port\"\n  git log -1 | dormouse memory edit \"Last release\" --body -"
    )]
    Edit(EditArguments),
    /// Remove memories; they can be restored for 30 days
    #[command(
        after_help = "Examples:\n  dormouse memory rm test-database.md\n  dormouse memory rm \"Test database\" \"Last release\""
    )]
    Rm(RmArguments),
    /// Confirm a memory that came only from outside, so that the model may see it
    #[command(
        after_help = "Examples:\n  dormouse memory confirm build-server.md\n  dormouse memory confirm \"Build server\" --json"
    )]
    Confirm(NamedArguments),
    /// Find memories by words in their name, description and text
    #[command(
        after_help = "Examples:\n  dormouse memory search database\n  dormouse memory search \"slow migration\" --limit 3 --json"
    )]
    Search(SearchArguments),
    /// List changes, newest first: who, when, why
    #[command(
        after_help = "Examples:\n  dormouse memory log\n  dormouse memory log test-database.md --limit 5\n  dormouse memory log --json | jq '.[] | select(.author == \"model\")'"
    )]
    Log(LogArguments),
    /// Show what a change did: the last one, one by its number, or the last of a memory
    #[command(
        after_help = "Examples:\n  dormouse memory diff\n  dormouse memory diff 12 --scope project\n  dormouse memory diff test-database.md"
    )]
    Diff(DiffArguments),
    /// Undo a change as one: the last one, or one by its number
    #[command(
        after_help = "Examples:\n  dormouse memory undo\n  dormouse memory undo 12 --scope project"
    )]
    Undo(UndoArguments),
    /// Bring a memory back: a removed one as it last was, any as a change left it; without a name, list the removed
    #[command(
        after_help = "Examples:\n  dormouse memory restore\n  dormouse memory restore test-database.md\n  dormouse memory restore test-database.md --change 3"
    )]
    Restore(RestoreArguments),
    /// See what agents would like to change; accept, edit or refuse it
    #[command(
        after_help = "Examples:\n  dormouse memory inbox\n  dormouse memory inbox accept 1 2\n  dormouse memory inbox edit 3\n  dormouse memory inbox refuse --all"
    )]
    Inbox(InboxArguments),
    /// Make a rule or a hook of a memory that had to be said again and again; without a name, list what is offered
    #[command(
        after_help = "Examples:\n  dormouse memory guard\n  dormouse memory guard no-force-push.md\n  dormouse memory guard \"No force push\" --install\n  dormouse memory guard no-force-push.md --remove"
    )]
    Guard(GuardArguments),
    /// Check the memory directories; with --mend, mend their indexes
    #[command(
        after_help = "Examples:\n  dormouse memory doctor\n  dormouse memory doctor --mend\n\nExit codes:\n  0    nothing was found, or all of it was mended\n  1    something was found"
    )]
    Doctor(MemoryDoctorArguments),
    /// Check any markdown files or folders: secrets, sizes, index, anchors, duplicates
    #[command(
        after_help = "Examples:\n  dormouse memory lint\n  dormouse memory lint docs notes.md --json\n\nExit codes:\n  0    nothing was found\n  1    something was found\n  2    a path can not be read"
    )]
    Lint(LintArguments),
    /// Print where memories are kept
    #[command(
        after_help = "Examples:\n  dormouse memory path\n  dormouse memory path --scope user\n  dormouse memory path --json"
    )]
    Path(PathArguments),
    /// Make the vectors that memories do not have yet, with the model that the settings name under `embeddings`
    #[command(
        after_help = "Examples:\n  dormouse memory embed\n  dormouse memory embed --again\n  dormouse memory embed --json | jq .missing"
    )]
    Embed(EmbedArguments),
    /// Hand memories out: as JSON, or as files into a folder
    #[command(
        after_help = "Examples:\n  dormouse memory export > memories.json\n  dormouse memory export backup --scope user"
    )]
    Export(ExportArguments),
    /// Bring memories in, as one change: a folder of markdown (another agent's memory directory too), or a JSON export
    #[command(
        after_help = "Examples:\n  dormouse memory import ~/.claude/projects/-home-me-app/memory\n  dormouse memory import mem0.json --scope user\n  dormouse memory import memory.jsonl --format mcp\n  dormouse memory import memories.json"
    )]
    Import(ImportArguments),
}

impl MemoryCommand {
    /// Whether a program reads what comes out.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::List(ListArguments { common, .. })
            | Self::Show(NamedArguments { common, .. })
            | Self::Confirm(NamedArguments { common, .. })
            | Self::Edit(EditArguments { common, .. })
            | Self::Rm(RmArguments { common, .. })
            | Self::Search(SearchArguments { common, .. })
            | Self::Log(LogArguments { common, .. })
            | Self::Diff(DiffArguments { common, .. })
            | Self::Undo(UndoArguments { common, .. })
            | Self::Restore(RestoreArguments { common, .. })
            | Self::Inbox(InboxArguments { common, .. })
            | Self::Guard(GuardArguments { common, .. })
            | Self::Embed(EmbedArguments { common, .. })
            | Self::Doctor(MemoryDoctorArguments { common, .. })
            | Self::Lint(LintArguments { common, .. })
            | Self::Path(PathArguments { common })
            | Self::Export(ExportArguments { common, .. })
            | Self::Import(ImportArguments { common, .. }) => common.json,
            Self::Add(arguments) => arguments.json,
        }
    }
}

/// Whose memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryScope {
    /// Your own, in every project
    User,
    /// Your own, in this project
    Project,
    /// Everybody's on this project
    Team,
    /// Kept in the repository itself, in .dormouse/memory
    Repo,
}

/// What a memory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryKind {
    /// Who you are, what you know and prefer
    User,
    /// How to work
    Feedback,
    /// Goals, decisions, incidents that code and git do not tell
    Project,
    /// Where to look outside
    Reference,
}

/// What every command takes.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Common {
    /// Only these memories
    #[arg(long, value_enum)]
    pub(crate) scope: Option<MemoryScope>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only those of this type
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryKind>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct NamedArguments {
    /// The memory: its file or its name
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct GuardArguments {
    /// The memory: its file or its name; without it, what is offered and what is in force is listed
    pub(crate) name: Option<String>,
    /// Put it in without a question
    #[arg(long, requires = "name", group = "done")]
    pub(crate) install: bool,
    /// Take it out again
    #[arg(long, requires = "name", group = "done")]
    pub(crate) remove: bool,
    /// Do without it, until the memory was corrected 3 more times
    #[arg(long, requires = "name", group = "done")]
    pub(crate) refuse: bool,
    /// What a guard's hooks call
    #[arg(long, hide = true, value_name = "FILE", conflicts_with = "name")]
    pub(crate) remind: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// What to call it
    pub(crate) name: String,
    /// What it is about
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: MemoryKind,
    /// One line by which its relevance is judged
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: String,
    /// Its text; without it, standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// Whose; without it, yours in every project for the type `user`, else yours in this project
    #[arg(long, value_enum)]
    pub(crate) scope: Option<MemoryScope>,
    /// Always keep its place in the loaded index
    #[arg(long)]
    pub(crate) pin: bool,
    /// Save it even if it looks like a secret
    #[arg(long)]
    pub(crate) allow_secret: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EditArguments {
    /// The memory: its file or its name
    pub(crate) name: String,
    /// Call it so; its file keeps its name
    #[arg(long = "name", value_name = "TEXT")]
    pub(crate) new_name: Option<String>,
    /// What it is about
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryKind>,
    /// One line by which its relevance is judged
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Its text; `-` is standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// Always keep its place in the loaded index, or no longer
    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) pin: Option<bool>,
    /// Save it even if it looks like a secret
    #[arg(long)]
    pub(crate) allow_secret: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct RmArguments {
    /// The memories: their files or names
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// The words
    pub(crate) query: String,
    /// The most to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct EmbedArguments {
    /// Make all of them anew: the model has changed behind its name
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct SearchPastArguments {
    /// Search what was said in past sessions of this project, instead of memories
    #[arg(long, conflicts_with = "scope")]
    pub(crate) sessions: bool,
    #[command(flatten)]
    pub(crate) search: SearchArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArguments {
    /// The question
    pub(crate) query: String,
    /// The most to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Say why each was found, and which would be put into a conversation unasked
    #[arg(long)]
    pub(crate) explain: bool,
    /// Look for changes made by other programs first
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// Only changes of this memory: its file or its name
    pub(crate) name: Option<String>,
    /// The most to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// A change by its number, or a memory by its file or name; without it, the last change
    pub(crate) what: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// A change by its number, as `dormouse memory log` lists it; without it, the last one
    pub(crate) change: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// The memory: its file or its name
    pub(crate) file: Option<String>,
    /// As this change left it
    #[arg(long, value_name = "CHANGE", requires = "file")]
    pub(crate) change: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InboxVerb {
    /// Make the change
    Accept,
    /// Change it in your editor, then make it
    Edit,
    /// Do not make it
    Refuse,
}

#[derive(Debug, Args)]
pub(crate) struct InboxArguments {
    /// What to do; without it, they are listed
    #[arg(value_enum, requires = "which")]
    pub(crate) verb: Option<InboxVerb>,
    /// Which: their numbers
    #[arg(group = "which", value_name = "ID")]
    pub(crate) ids: Vec<u64>,
    /// All of them
    #[arg(long, group = "which")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct MemoryDoctorArguments {
    /// Make the indexes true
    #[arg(long)]
    pub(crate) mend: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// Files or folders; without any, the memory directories
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The folder to write files into; without it, JSON is printed
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// A folder of markdown
    Folder,
    /// What `dormouse memory export` prints
    Dormouse,
    /// A mem0 export
    Mem0,
    /// The file or graph of the MCP memory server
    Mcp,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The folder or file
    pub(crate) path: PathBuf,
    /// What it is; without it, that is found out
    #[arg(long, value_enum)]
    pub(crate) format: Option<ImportFormat>,
    /// Save them even if they look like secrets
    #[arg(long)]
    pub(crate) allow_secret: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl From<MemoryKind> for dormouse_memory::MemoryType {
    fn from(kind: MemoryKind) -> Self {
        match kind {
            MemoryKind::User => Self::User,
            MemoryKind::Feedback => Self::Feedback,
            MemoryKind::Project => Self::Project,
            MemoryKind::Reference => Self::Reference,
        }
    }
}
