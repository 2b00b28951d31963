//! The sections of the system prompt that belong to one session, in their fixed order.
//!
//! Today: the memory rules, the skills, the environment and git, then what others announce. Language, output style,
//! scratch folder and token budget take their places in this list when they come.

use dormouse_conversation::{PromptSize, neutralize_reminder_tags};
use dormouse_memory::MemoryRules;

use crate::announcements::PromptPosition;
use crate::startup_context::StartupContext;
use crate::surroundings::Surroundings;

/// All sections, with their headings.
pub(super) fn render(
    surroundings: &Surroundings,
    known: &StartupContext,
    size: PromptSize,
) -> String {
    let sections = [
        ("Memory", known.memory_rules().map(|rules| memory_rules(rules, size))),
        ("Skills", known.skills().map(str::to_owned)),
        ("Environment", Some(environment(surroundings))),
        ("Git", git(surroundings)),
    ];
    let announced = known.announced_in(PromptPosition::System);
    let rendered: Vec<String> = sections
        .into_iter()
        .filter_map(|(heading, text)| Some((heading.to_owned(), text?)))
        .chain(announced)
        // Skills, names of files and MCP servers are strangers' words, which do not begin a reminder.
        .map(|(heading, text)| format!("# {heading}\n{}", neutralize_reminder_tags(&text)))
        .collect();
    rendered.join("\n\n")
}

fn memory_rules(rules: &MemoryRules, size: PromptSize) -> String {
    match size {
        PromptSize::Full => rules.full(),
        PromptSize::Short => rules.short(),
    }
}

fn environment(surroundings: &Surroundings) -> String {
    let mut lines = vec![
        format!("Working directory: {}", surroundings.folder),
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
