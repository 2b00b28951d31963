//! The sections of the system prompt that belong to one session, in their fixed order.
//!
//! The memory rules, the skills, the environment and git, then what is announced: what the session itself says
//! (`session_sections`), and what others do.

use dormouse_conversation::{PromptSize, neutralize_reminder_tags};
use dormouse_memory::MemoryRules;

use crate::announcements::PromptPosition;
use crate::startup_context::StartupContext;
use crate::surroundings::Surroundings;

/// The sections: those of the system prompt as one text, and those of the first message.
///
/// In a small window the system prompt has only what is the same in every home and folder, and the rest stands in the
/// first message: servers of local models put the tools behind the system prompt, and keep what begins alike.
pub(super) fn render(
    surroundings: &Surroundings,
    known: &StartupContext,
    size: PromptSize,
) -> (String, Vec<(String, String)>) {
    let rules = known.memory_rules();
    let memory = match size {
        PromptSize::Full => rules.map(MemoryRules::full),
        PromptSize::Short => rules.map(MemoryRules::for_small_window),
    };
    let of_session = [
        ("Skills", known.skills().map(str::to_owned)),
        ("Environment", Some(environment(surroundings, size))),
        ("Git", git(surroundings)),
    ];
    let announced = known.announced_in(PromptPosition::System);
    let of_session = of_session
        .into_iter()
        .filter_map(|(heading, text)| Some((heading.to_owned(), text?)))
        .chain(announced);
    let memory = memory.map(|text| ("Memory".to_owned(), text)).into_iter();
    match size {
        PromptSize::Full => (joined(memory.chain(of_session)), Vec::new()),
        PromptSize::Short => (joined(memory), of_session.collect()),
    }
}

fn joined(sections: impl Iterator<Item = (String, String)>) -> String {
    let rendered: Vec<String> = sections
        // Skills, names of files and MCP servers are strangers' words, which do not begin a reminder.
        .map(|(heading, text)| format!("# {heading}\n{}", neutralize_reminder_tags(&text)))
        .collect();
    rendered.join("\n\n")
}

fn environment(surroundings: &Surroundings, size: PromptSize) -> String {
    let hint = match size {
        PromptSize::Full => "",
        PromptSize::Short => " (the user's files; paths may be relative to it)",
    };
    let mut lines = vec![
        format!("Working directory: {}{hint}", surroundings.folder),
        format!("System: {}", surroundings.system),
    ];
    if let Some(shell) = &surroundings.shell {
        lines.push(format!("Shell: {shell}"));
    }
    lines.join("\n")
}

fn git(surroundings: &Surroundings) -> Option<String> {
    let status = surroundings.git_status.as_ref()?;
    let branch = surroundings.branch.as_deref().unwrap_or("not known");
    Some(format!("As it was when the conversation began.\nBranch: {branch}\nStatus:\n{status}"))
}
