//! What a session knows from its start besides the date: instruction files and the memory index, in the
//! first user message (L-19 to L-21, R-2), and the rules about memory. It is looked up once; what has become
//! of it since is told when the session goes on.

use std::path::Path;
use std::sync::Arc;

use dormouse_conversation::{Budget, EnvironmentFacts, PromptSize};
use dormouse_instructions::{
    ApprovedPaths, InstructionFile, InstructionNote, InstructionRoots, Instructions, LoadOccasion,
    prompt_sections,
};

use crate::memory::{SessionMemory, index_parts};
use crate::prompt::{IndexUse, MemoryRules};
use crate::recall::RecallSetup;
use crate::{AnnouncedFact, EngineConfig, PromptPosition};
use dormouse_extensions::skills::skill_listing;

/// Of the first message, instruction files may take this many times what one of them may.
const FILES_WORTH: usize = 3;

/// The fact that stands for the list of skills.
const SKILLS: &str = "skills";

/// Where instruction files are, and which outside the project may be read.
#[derive(Debug, Clone)]
pub struct InstructionSetup {
    /// Where they are looked for.
    pub roots: InstructionRoots,
    /// What the person has approved.
    pub approved: ApprovedPaths,
}

/// Memory for a session.
#[derive(Debug, Clone)]
pub struct MemorySetup {
    /// The stores, which the memory tools have as well.
    pub access: Arc<SessionMemory>,
    /// The rules that the model is told; none where they stand in its prompt already.
    pub rules: Option<MemoryRules>,
    /// How memories are found for each message; none where they are not.
    pub recall: Option<RecallSetup>,
}

/// What is known; by default nothing.
#[derive(Debug, Default)]
pub struct StartupContext {
    instructions: Option<Instructions>,
    parts: Vec<(String, String)>,
    room: usize,
    notes: Vec<InstructionNote>,
    warnings: Vec<String>,
    rules: Option<MemoryRules>,
    /// What the model is told of skills.
    skills: Option<String>,
    /// What others announce.
    announced: Vec<AnnouncedFact>,
}

impl StartupContext {
    /// Looks it up.
    pub(crate) fn look(config: &EngineConfig, occasion: LoadOccasion) -> Self {
        let mut known =
            Self { skills: skill_listing(&config.skills, &config.budget), ..Self::default() };
        known.look_again(config);
        known.warnings.extend(config.skills.problems().iter().map(ToString::to_string));
        if let Some(InstructionSetup { roots, approved }) = &config.instructions {
            known.load_instructions(roots, approved, &config.budget, occasion);
        }
        if let Some(MemorySetup { access, rules, .. }) = &config.memory {
            known.rules.clone_from(rules);
            let kept = rules.as_ref().is_none_or(|rules| rules.index == IndexUse::Kept);
            // A small window has no room for an index.
            if kept && config.budget.prompt.size == PromptSize::Full {
                let most = usize::try_from(config.budget.prompt.index_bytes).unwrap_or(usize::MAX);
                let index = index_parts(access, most);
                known.parts.extend(index.parts);
                known.warnings.extend(index.warnings);
            }
        }
        known
    }

    /// Asks again what others announce.
    pub(crate) fn look_again(&mut self, config: &EngineConfig) {
        let (tools, size) = (&config.tools, config.budget.prompt.size);
        let announced = config.announcers.iter().flat_map(|each| each.announced(tools, size));
        self.announced = announced.collect();
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

    /// The rules about memory, where there is any.
    pub(crate) fn memory_rules(&self) -> Option<&MemoryRules> {
        self.rules.as_ref()
    }

    /// The list of skills, where the model can call any.
    pub(crate) fn skills(&self) -> Option<&str> {
        self.skills.as_deref()
    }

    /// Headings and texts for the first message.
    pub(crate) fn parts(&self) -> Vec<(String, String)> {
        self.parts.iter().cloned().chain(self.announced_in(PromptPosition::First)).collect()
    }

    /// Headings and texts that others announce, for this place.
    pub(crate) fn announced_in(
        &self,
        place: PromptPosition,
    ) -> impl Iterator<Item = (String, String)> + '_ {
        let here = self.announced.iter().filter(move |each| each.place == place);
        here.map(|each| (each.fact.clone(), each.text.clone()))
    }

    /// What was told, with what others announce as it is now.
    pub(crate) fn announced_over(&self, told: &EnvironmentFacts) -> EnvironmentFacts {
        let announced = self.announced.iter().map(|each| (each.fact.as_str(), each.text.as_str()));
        announced.fold(told.clone(), hashed)
    }

    /// States it as facts: a hash each, for the texts are long.
    pub(crate) fn add_to(&self, facts: EnvironmentFacts) -> EnvironmentFacts {
        let skills = self.skills.iter().map(|list| (SKILLS, list.as_str()));
        let parts = self.parts.iter().map(|(heading, text)| (heading.as_str(), text.as_str()));
        self.announced_over(&parts.chain(skills).fold(facts, hashed))
    }

    /// The text behind a fact.
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

    /// What the person should know about them, once.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        let notes = std::mem::take(&mut self.notes);
        let mut said = std::mem::take(&mut self.warnings);
        said.extend(notes.iter().filter(|note| note.is_warning()).map(ToString::to_string));
        said
    }

    /// A file was read or written: what loads because of that, if anything.
    pub(crate) fn touched(&mut self, path: &Path) -> Vec<InstructionFile> {
        let Some(instructions) = &mut self.instructions else { return Vec::new() };
        let loaded = instructions.load_for_file(path);
        self.notes.extend(instructions.take_notes());
        loaded
    }

    /// Headings and texts of files that have just been loaded.
    pub(crate) fn parts_of(&self, loaded: &[InstructionFile]) -> Vec<(String, String)> {
        prompt_sections(loaded, self.room)
    }
}

/// A fact that stands for a text.
fn hashed(facts: EnvironmentFacts, (heading, text): (&str, &str)) -> EnvironmentFacts {
    facts.with(heading, blake3::hash(text.as_bytes()).to_hex().as_str())
}
