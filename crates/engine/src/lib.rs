//! The query loop: prepare, request, stream, tools, again, until no call is left.
//!
//! [`Engine`] is one conversation. What happens next is decided by a pure step (`turn`) and carried out
//! by a short driver (`driver`). The engine prints nothing, ends nothing and reads no arguments: what a
//! person should see goes out as [`EngineEvent`]s.

#![forbid(unsafe_code)]

mod anew;
mod announce;
mod beside;
mod branch;
mod compact;
mod config;
mod driver;
mod engine;
mod error;
mod event;
mod fork;
mod hooks;
mod incoming;
mod jobs;
mod known;
mod layers;
mod memory;
mod memory_usage;
mod meter;
mod own_tools;
mod plan;
pub mod plugins;
mod prompt;
mod recall;
mod results;
mod resume;
mod servers;
mod session;
mod side;
mod skills;
mod spending;
mod surroundings;
mod turn;
mod turns;

pub use anew::OtherModel;
pub use announce::{AnnouncedIn, Announcement, Announces};
pub use beside::{Beside, KeptNotes, Moment};
pub use branch::{Branch, Branches};
pub use dormouse_context::compact::{Fidelity, Way};

pub use compact::{CompactOrder, CompactReport, Compacted, CompactionRules, Filling, Span, Spoken};
pub use config::EngineConfig;
pub use engine::Engine;
pub use error::EngineError;
pub use event::{EngineEvent, TurnEnd, TurnReport};
pub use fork::{FORK_TAG, ForkEnd, ForkGate, ForkOrder, ForkReport, Seed, Writes};
pub use hooks::{
    Bell, DreamNews, HookEvent, HookLayer, HookOrigin, HookProblem, HookView, Hooks, Idle,
    Occasion as HookOccasion, PluginHome, SavedMemory, SessionEndReason, SessionSource,
    SetupTrigger,
};
pub use incoming::{Arrival, Incoming};
pub use jobs::{Job, JobEnd, JobHandle, JobId, JobStatus, Jobs};
pub use known::{InstructionSetup, Known, MemorySetup};
pub use layers::LayerRules;
pub use memory::{
    MEMORY_TOOLS, MemoryText, Said, SessionMemory, Voice, Wanted, Witness, Written, memory_tools,
    voices,
};
pub use memory_usage::RepeatedCorrection;
pub use plan::Plan;
pub use prompt::{IndexUse, MemoryRules, PromptOverrides, Saving, build_prefix};
pub use recall::{
    MentionedAgentMemory, RecallReceipt, RecallReceiptEntry, RecallSetup, RecallStep,
    SkippedMemory, SmallModel,
};
pub use results::ResultRules;
pub use resume::ResumeReport;
pub use session::{OpenedSession, SessionFolder};
pub use side::SideChain;
pub use skills::{
    Skill, SkillCallers, SkillOwner, SkillPlaces, SkillProblem, Skills, SkillsInUse, lines_within,
    read_definition,
};
pub use surroundings::Surroundings;
pub use turns::TITLE_FILE;
