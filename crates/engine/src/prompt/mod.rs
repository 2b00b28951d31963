//! The system prompt: a static part that is the same for everybody, then sections about this session.
//!
//! Everything is computed once and frozen in a [`Prefix`]. Nothing in it is volatile: changes during the
//! conversation are announced in later messages, and enter their section when the prefix is rebuilt.

mod overrides;
mod sections;
mod static_part;

use std::sync::Arc;

use dormouse_context::{FirstMessage, Fragment};
use dormouse_conversation::{Prefix, PromptSize, SystemBlock};
use dormouse_tools::ToolSet;

pub use dormouse_memory::{IndexUse, MemoryRules, Saving};

use crate::config::EngineConfig;
use crate::startup_context::StartupContext;
use crate::surroundings::Surroundings;
pub use overrides::{PromptOverrides, SessionTexts};

/// The prefix of a conversation with this configuration.
pub(crate) fn configured_prefix(
    config: &EngineConfig,
    surroundings: &Surroundings,
    startup: &StartupContext,
) -> Arc<Prefix> {
    let size = config.model.budget.prompt.size;
    build_prefix(surroundings, &config.tools.set, size, &config.overrides, startup)
}

/// Builds the prefix of a conversation.
pub fn build_prefix(
    surroundings: &Surroundings,
    tools: &ToolSet,
    size: PromptSize,
    overrides: &PromptOverrides,
    known: &StartupContext,
) -> Arc<Prefix> {
    let block = |text: String, is_static| SystemBlock { text, is_static };
    let mut static_text =
        overrides.system.clone().unwrap_or_else(|| static_part::text(size).to_owned());
    if let Some(more) = &overrides.append {
        static_text.push_str("\n\n");
        static_text.push_str(more);
    }
    let mut system = vec![block(static_text, true)];
    let (dynamic, mut parts) = sections::render(surroundings, known, size);
    if !dynamic.is_empty() {
        system.push(block(dynamic, false));
    }
    parts.extend(known.parts());
    let first = FirstMessage { parts, date: surroundings.date.clone() };
    let facts = known.add_to(surroundings.facts(tools.names()));
    Prefix::new(system, tools.definitions(size), vec![first.to_block()], facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings() -> Surroundings {
        Surroundings {
            date: "Sunday, 2026-11-15".into(),
            folder: "/home/u/app".into(),
            system: "linux (x86_64)".into(),
            shell: Some("bash".into()),
            branch: Some("main".into()),
            git_status: Some("clean".into()),
        }
    }

    fn prefix(size: PromptSize, overrides: &PromptOverrides) -> Arc<Prefix> {
        let tools = match size {
            PromptSize::Full => ToolSet::builtin(),
            PromptSize::Short => ToolSet::builtin().for_small_window(&[]),
        };
        build_prefix(&surroundings(), &tools, size, overrides, &StartupContext::default())
    }

    #[test]
    fn the_static_part_says_nothing_of_person_or_project() {
        let prefix = prefix(PromptSize::Full, &PromptOverrides::default());
        let (first, rest) = prefix.system().split_first().unwrap();
        assert!(first.is_static && rest.iter().all(|block| !block.is_static));
        for private in ["/home/u/app", "2026", "main", "bash"] {
            assert!(!first.text.contains(private), "{private}");
        }
        // The date is no part of the system prompt at all: it changes at midnight.
        assert!(!rest[0].text.contains("2026-11-15"));
        assert!(prefix.opening_blocks()[0].as_text().unwrap().contains("2026-11-15"));
    }

    #[test]
    fn the_short_prompt_is_short() {
        let full = prefix(PromptSize::Full, &PromptOverrides::default()).tokens();
        let short = prefix(PromptSize::Short, &PromptOverrides::default()).tokens();
        assert!(short < 1_500 && short * 2 < full, "{short} {full}");
    }

    #[test]
    fn overrides() {
        let overrides = PromptOverrides {
            system: Some("Be a cat.".into()),
            append: Some("Purr.".into()),
            session: None,
        };
        assert_eq!(prefix(PromptSize::Full, &overrides).system()[0].text, "Be a cat.\n\nPurr.");
    }
}
