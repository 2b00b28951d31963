//! Memories that a message brings without being asked for them: one function for sessions, MCP clients and hooks.

use std::path::Path;

use dormouse_base::FileError;
use jiff::{SignedDuration, Timestamp};

use super::ReachableMemories;
use super::found::FoundMemory;
use crate::recall::{MAX_SURE, MemoryHit, MemoryQuery, RecallChoice};

/// What recall knows of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallMessage {
    /// The user's words.
    pub text: String,
    /// Files that the conversation has open, relative to the project, the latest first.
    pub files: Vec<String>,
}

/// A memory that a message brings.
#[derive(Debug, Clone)]
pub struct UnaskedMemory {
    /// The memory.
    pub found: FoundMemory,
    /// Why.
    pub hit: MemoryHit,
}

/// The memories that a message brings, best first.
#[derive(Debug, Clone, Default)]
pub struct UnaskedMemories {
    /// Those whose text is shown.
    pub sure: Vec<UnaskedMemory>,
    /// Those that are named.
    pub likely: Vec<UnaskedMemory>,
    /// The best of the others.
    pub passed_over: Vec<UnaskedMemory>,
    /// Number of memories searched.
    pub searched: u32,
    /// Time since changes by other programs were last looked for.
    pub age: SignedDuration,
}

impl ReachableMemories {
    /// The memories for a message, without those that the conversation has `seen`. Those in quarantine are left out, and
    /// no server is asked: `vector` is that of the message, if a server has made it already.
    pub fn unasked<'a>(
        &self,
        message: &RecallMessage,
        seen: &(impl Iterator<Item = &'a Path> + Clone),
        passed_over: usize,
        vector: Option<&[f32]>,
        now: Timestamp,
    ) -> Result<UnaskedMemories, FileError> {
        let exclude = self.excluded(seen);
        let query = MemoryQuery {
            files: &message.files,
            exclude: &exclude,
            ..MemoryQuery::new(&message.text, MAX_SURE + passed_over, now)
        };
        let ranking = match vector {
            Some(vector) => self.recall().query_with_vector(&query, vector)?,
            None => self.recall().query(&query)?,
        };
        let (searched, age) = (ranking.searched, ranking.age);
        let found = |hits: Vec<MemoryHit>| -> Vec<UnaskedMemory> {
            let found = |hit: MemoryHit| Some(UnaskedMemory { found: self.found(&hit)?, hit });
            hits.into_iter().filter_map(found).collect()
        };
        let rules = self.recall().standing_rules(&query)?;
        let RecallChoice { sure, likely, passed_over } =
            RecallChoice::of(ranking).with_rules(rules);
        Ok(UnaskedMemories {
            sure: found(sure),
            likely: found(likely),
            passed_over: found(passed_over),
            searched,
            age,
        })
    }
}
