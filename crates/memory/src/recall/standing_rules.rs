//! Rules that hold for a kind of task, whatever its subject: `user` memories, and `feedback` without a narrow subject. They are recalled by the
//! kind of task, not by words, and once a session, as everything that a conversation has seen.

use std::collections::BTreeSet;

use dormouse_base::FileError;

use super::hit::{MemoryHit, MemoryQuery};
use super::memory_search::MemorySearch;
use crate::kind::MemoryType;

/// Maximum number of rules that come with a message.
pub const MAX_STANDING_RULES: usize = 3;
/// Maximum size of all memories about the user that are part of every session, in bytes of their files.
pub const MAX_USER_RULE_BYTES: u64 = 1_000;

impl MemorySearch {
    /// The rules for the kind of task that a message asks for, newest first. Those about the user hold for every session: the same few, whatever
    /// the query leaves out.
    pub fn standing_rules(&self, query: &MemoryQuery<'_>) -> Result<Vec<MemoryHit>, FileError> {
        let everything = BTreeSet::new();
        let all = self.rules(&MemoryQuery { exclude: &everything, ..query.clone() })?;
        let mut bytes = 0;
        let mut fits = |hit: &MemoryHit| {
            if hit.memory.header.kind != Some(MemoryType::User) {
                return true;
            }
            bytes += hit.memory.size;
            bytes <= MAX_USER_RULE_BYTES
        };
        let is_new =
            |hit: &MemoryHit| !query.exclude.contains(&(hit.store_index, hit.memory.file.clone()));
        let mut rules: Vec<MemoryHit> = all.into_iter().filter(|hit| fits(hit)).collect();
        rules.retain(is_new);
        rules.truncate(MAX_STANDING_RULES);
        Ok(rules)
    }
}
