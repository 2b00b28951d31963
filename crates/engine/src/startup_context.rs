//! The context of a session from its start: instruction files and the memory index in the first user message (L-19 to
//! L-21, R-2), the memory rules, the list of skills, and announced facts. It is loaded once; later changes are announced
//! with a prompt.

use std::path::Path;

use dormouse_conversation::{Budget, EnvironmentFacts, PromptSize};
use dormouse_extensions::skills::skill_listing;
use dormouse_instructions::{
    ApprovedPaths, InstructionFile, InstructionNote, InstructionRoots, Instructions, LoadOccasion,
    prompt_sections,
};
use dormouse_memory::index::IndexLimits;
use dormouse_memory::{IndexUse, MemoryRules};

use crate::announcements::{AnnouncedFact, PromptPosition};
use crate::config::EngineConfig;
use crate::config::instruction_setup::InstructionSetup;
use crate::config::memory_setup::MemorySetup;
use crate::memory::index_parts;
use crate::session_sections::session_sections;

/// All instruction files together may take this many times the size of one.
const FILES_WORTH: usize = 3;

/// The name of the fact for the list of skills.
const SKILLS: &str = "skills";

/// The context that the prefix is built from; empty by default.
#[derive(Debug, Default)]
pub struct StartupContext {
    instructions: Option<Instructions>,
    parts: Vec<(String, String)>,
    room: usize,
    notes: Vec<InstructionNote>,
    warnings: Vec<String>,
    rules: Option<MemoryRules>,
    /// The list of skills.
    skills: Option<String>,
    /// Facts of announcers.
    announced: Vec<AnnouncedFact>,
    /// The memories that the indexes list.
    listed_memories: usize,
}

impl StartupContext {
    pub(crate) fn load(config: &EngineConfig, occasion: LoadOccasion) -> Self {
        let mut context = Self {
            skills: skill_listing(&config.extensions.skills, &config.model.budget),
            ..Self::default()
        };
        context.refresh(config);
        context
            .warnings
            .extend(config.extensions.skills.problems().iter().map(ToString::to_string));
        if let Some(InstructionSetup { roots, approved }) = &config.instructions {
            context.load_instructions(roots, approved, &config.model.budget, occasion);
        }
        if let Some(MemorySetup { access, rules, .. }) = &config.memory {
            context.rules.clone_from(rules);
            let kept = rules.as_ref().is_none_or(|rules| rules.index == IndexUse::Kept);
            if kept {
                let budget = config.model.budget.prompt;
                let most = usize::try_from(budget.index_bytes).unwrap_or(usize::MAX);
                let limits = match budget.size {
                    PromptSize::Full => IndexLimits::FULL,
                    PromptSize::Short => share_of_small(access.memories().stores().len()),
                };
                let index = index_parts(access, limits, most);
                context.listed_memories = index.listed;
                context.parts.extend(index.parts);
                context.warnings.extend(index.warnings);
            }
        }
        context
    }

    /// Asks the announcers again.
    pub(crate) fn refresh(&mut self, config: &EngineConfig) {
        let (tools, size) = (&config.tools.set, config.model.budget.prompt.size);
        let announced =
            config.extensions.announcers.iter().flat_map(|each| each.announced(tools, size));
        self.announced = session_sections(config).into_iter().chain(announced).collect();
    }

    fn load_instructions(
        &mut self,
        roots: &InstructionRoots,
        approved: &ApprovedPaths,
        budget: &Budget,
        occasion: LoadOccasion,
    ) {
        let room = usize::try_from(budget.prompt.instructions_chars).unwrap_or(usize::MAX);
        self.room = room.saturating_mul(FILES_WORTH);
        let mut instructions = Instructions::load(roots.clone(), approved.clone(), occasion);
        self.notes = instructions.take_notes();
        self.parts = prompt_sections(instructions.loaded(), self.room);
        self.instructions = Some(instructions);
    }

    /// How many memories the first message lists.
    pub(crate) fn listed_memories(&self) -> usize {
        self.listed_memories
    }

    /// The memory rules, where memory is on.
    pub(crate) fn memory_rules(&self) -> Option<&MemoryRules> {
        self.rules.as_ref()
    }

    /// The list of skills, if the model can call any.
    pub(crate) fn skills(&self) -> Option<&str> {
        self.skills.as_deref()
    }

    /// Headings and texts for the first message.
    pub(crate) fn parts(&self) -> Vec<(String, String)> {
        self.parts.iter().cloned().chain(self.announced_in(PromptPosition::First)).collect()
    }

    /// Headings and texts of announcers for this position.
    pub(crate) fn announced_in(
        &self,
        place: PromptPosition,
    ) -> impl Iterator<Item = (String, String)> + '_ {
        let here = self.announced.iter().filter(move |each| each.place == place);
        here.map(|each| (each.fact.clone(), each.text.clone()))
    }

    /// Announced facts, updated with those of announcers.
    pub(crate) fn announced_over(&self, announced: &EnvironmentFacts) -> EnvironmentFacts {
        let facts = self.announced.iter().map(|each| (each.fact.as_str(), each.text.as_str()));
        facts.fold(announced.clone(), hashed)
    }

    /// Adds it as facts: a hash each, because the texts are long.
    pub(crate) fn add_to(&self, facts: EnvironmentFacts) -> EnvironmentFacts {
        let skills = self.skills.iter().map(|list| (SKILLS, list.as_str()));
        let parts = self.parts.iter().map(|(heading, text)| (heading.as_str(), text.as_str()));
        self.announced_over(&parts.chain(skills).fold(facts, hashed))
    }

    /// The text of a fact.
    pub(crate) fn text_of(&self, fact: &str) -> Option<&str> {
        if fact == SKILLS {
            return self.skills();
        }
        let part = self.parts.iter().find(|(heading, _)| heading == fact);
        let announced = || self.announced.iter().find(|each| each.fact == fact);
        part.map(|(_, text)| text.as_str()).or_else(|| announced().map(|each| each.text.as_str()))
    }

    /// The files that were loaded at the start, for hooks.
    pub(crate) fn loaded(&self) -> &[InstructionFile] {
        self.instructions.as_ref().map(Instructions::loaded).unwrap_or_default()
    }

    /// Warnings about them for the user, once.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        let notes = std::mem::take(&mut self.notes);
        let mut said = std::mem::take(&mut self.warnings);
        said.extend(notes.iter().filter(|note| note.is_warning()).map(ToString::to_string));
        said
    }

    /// The instruction files that load because this file was read or written.
    pub(crate) fn touched(&mut self, path: &Path) -> Vec<InstructionFile> {
        let Some(instructions) = &mut self.instructions else { return Vec::new() };
        let loaded = instructions.load_for_file(path);
        self.notes.extend(instructions.take_notes());
        loaded
    }

    /// Headings and texts of these instruction files.
    pub(crate) fn parts_of(&self, loaded: &[InstructionFile]) -> Vec<(String, String)> {
        prompt_sections(loaded, self.room)
    }
}

/// Adds the hash of a text as a fact.
fn hashed(facts: EnvironmentFacts, (heading, text): (&str, &str)) -> EnvironmentFacts {
    facts.with(heading, blake3::hash(text.as_bytes()).to_hex().as_str())
}

/// The limits of each index in a small window, which several share.
fn share_of_small(stores: usize) -> IndexLimits {
    let share = |whole: usize| whole / stores.max(1);
    IndexLimits { lines: share(IndexLimits::SMALL.lines), bytes: share(IndexLimits::SMALL.bytes) }
}
