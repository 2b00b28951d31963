//! The instruction files of one session.

use std::path::Path;

use crate::instruction_file::{InstructionFile, LoadOccasion, LoadReason};
use crate::loader::Loader;
use crate::locations;
use crate::note::InstructionNote;
use crate::roots::{ApprovedPaths, InstructionRoots};

/// The instruction files of a session.
#[derive(Debug)]
pub struct Instructions {
    loader: Loader,
    loaded: Vec<InstructionFile>,
}

impl Instructions {
    /// Loads the files that every session has, and registers the rules that wait for a matching file.
    pub fn load(roots: InstructionRoots, approved: ApprovedPaths, occasion: LoadOccasion) -> Self {
        let reason = match occasion {
            LoadOccasion::Start => LoadReason::SessionStart,
            LoadOccasion::Compaction => LoadReason::Compact,
        };
        let mut loader = Loader::new(roots, approved);
        locations::load_session(&mut loader, reason);
        let loaded = loader.take_loaded();
        Self { loader, loaded }
    }

    /// The files that every session has, lowest precedence first.
    pub fn loaded(&self) -> &[InstructionFile] {
        &self.loaded
    }

    /// Loads the instructions for a file that a tool has read or is about to write: instruction files of the folders
    /// between the working directory and the file, and rules whose `paths:` match it. Each is loaded once.
    pub fn load_for_file(&mut self, path: &Path) -> Vec<InstructionFile> {
        locations::load_for_file(&mut self.loader, path);
        self.loader.take_loaded()
    }

    /// Notes added since the last call.
    pub fn take_notes(&mut self) -> Vec<InstructionNote> {
        self.loader.take_notes()
    }
}
