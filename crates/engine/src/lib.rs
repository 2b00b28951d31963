//! The query loop: prepare, request, stream, tools, again, until no call is left.
//!
//! [`Engine`] is one conversation. A pure step (`turn_state`) decides what happens next, and a short driver (`driver`)
//! carries it out. The engine prints nothing, exits nothing and reads no arguments: output for the user goes out as
//! [`EngineEvent`]s.

#![forbid(unsafe_code)]

mod announcements;
mod attached_files;
mod background_limit;
mod background_task;
mod called_prompt;
mod compact;
mod config;
mod context_sources;
mod conversation;
mod driver;
mod engine;
mod error;
mod event;
mod event_sink;
mod fork;
mod hook_model;
mod hook_servers;
#[cfg(test)]
mod hook_tests;
mod hook_wiring;
mod jobs;
mod known_results;
mod layers;
mod mcp_servers;
mod memory;
mod memory_usage;
mod meter;
mod note_text;
mod notice;
mod plan;
mod prompt;
mod recall;
mod repeated_correction;
mod resume;
mod rewind;
mod search_notice;
mod session;
mod session_account;
mod session_control;
mod session_hooks;
mod session_messages;
mod session_sections;
mod session_tools;
#[cfg(test)]
mod skill_tests;
mod spending;
mod startup_context;
mod stored_results;
mod subagent_session;
mod submitted_plan;
mod surroundings;
mod tool_state;
mod turn_memory;
mod turn_runner;
mod turn_state;
mod wire_state;

pub use announcements::{AnnouncedFact, Announcer, PromptPosition};
pub use background_task::{BackgroundTask, SavedNotes, TaskOccasion, TurnSnapshot};
pub use dormouse_context::compact::{CompactionMethod, Fidelity};

pub use compact::{
    CompactionOutcome, CompactionReport, CompactionRequest, CompactionRules, CompactionScope,
    WindowPart, WindowShare, WindowStatus, window_shares,
};
pub use config::instruction_setup::InstructionSetup;
pub use config::memory_setup::MemorySetup;
pub use config::model_setup::{CostRules, ModelSetup};
pub use config::result_rules::ResultRules;
pub use config::services::Services;
pub use config::{EngineConfig, Extensions, ForkPoint, ForkPoints, ToolSetup, WindowRules};
pub use conversation::{Conversation, UserMessage};
pub use engine::Engine;
pub use error::EngineError;
pub use event::{EngineEvent, TurnEnd, TurnReport};
pub use event_sink::{EventSink, Steering, TurnContext};
pub use fork::{
    FORK_TAG, ForkEnd, ForkGate, ForkOrder, ForkReport, ForkRoute, ForkSource, TaskSize, Writes,
};
pub use jobs::{AGENT_JOB, Job, JobEnd, JobFailure, JobHandle, JobId, JobStatus, Jobs};
pub use layers::LayerRules;
pub use memory::{
    MemoryManifest, MemoryNotices, MemorySwitch, SessionMemory, SessionMemoryError, WrittenChange,
    memory_tools,
};
pub use note_text::without_notes;
pub use notice::{AgentEnd, EngineNotice};
pub use prompt::{IndexUse, MemoryRules, PromptOverrides, Saving, SessionTexts, build_prefix};
pub use recall::{
    MentionedAgentMemory, RecallReceipt, RecallReceiptEntry, RecallSetup, SkippedMemory, SmallModel,
};
pub use repeated_correction::RepeatedCorrection;
pub use resume::ResumeReport;
pub use rewind::{RewindOutcome, RewindPoint, SessionRewind};
pub use session::{OpenedSession, SessionFolder};
pub use session_account::SessionAccount;
pub use session_hooks::{TITLE_FILE, save_title};
pub use session_messages::{IncomingMessage, IncomingMessageSource};
pub use session_tools::SessionTools;
pub use spending::{Spending, SpentDollars};
pub use startup_context::StartupContext;
pub use subagent_session::SubagentSession;
pub use submitted_plan::SubmittedPlan;
pub use surroundings::Surroundings;
