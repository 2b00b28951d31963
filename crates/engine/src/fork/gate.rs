//! What a fork may call (B-3): reading as the parent may, and writing in the one place it was given.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use dormouse_permissions::{Access, PermissionGate, PermissionMode};
use dormouse_tools::{FileGuard, FileRoute, Tool};
use serde_json::value::RawValue;

/// Tools that only read but leave something behind in the parent: a skill in use lends its rules to the parent's gate,
/// and agents report to the parent.
const OF_THE_PARENT: &[&str] = &["Agent", "SendMessage", "Skill"];

/// Where a fork may write with Write and Edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    /// Nowhere.
    Nowhere,
    /// This file.
    File(PathBuf),
    /// In this folder, and in those below it.
    Below(PathBuf),
}

impl Writes {
    /// Whether a path, as it is written, lies in it.
    fn covers(&self, path: &Path) -> bool {
        if path.components().any(|part| part == Component::ParentDir) {
            return false;
        }
        match self {
            Self::Nowhere => false,
            Self::File(file) => path == file,
            Self::Below(folder) => path.starts_with(folder) && path != folder,
        }
    }
}

/// The gate of a fork. The tools stay defined, or the prefix would differ; most of them are denied.
#[derive(Debug, Clone)]
pub struct ForkGate {
    /// Whether it may read and search at all.
    pub reads: bool,
    /// Where it may write.
    pub writes: Writes,
    /// Further tools that it may call, by name: they have a door of their own.
    pub tools: &'static [&'static str],
}

impl ForkGate {
    /// Nothing: the fork is to answer, and to do nothing else.
    pub fn nothing() -> Self {
        Self { reads: false, writes: Writes::Nowhere, tools: &[] }
    }

    /// The gate that a call goes through, or why it may not run.
    pub(super) fn admit(
        &self,
        tool: &dyn Tool,
        input: &RawValue,
        folder: &Path,
        parent: &PermissionGate,
    ) -> Result<PermissionGate, String> {
        let name = tool.name();
        if self.tools.contains(&name) {
            return Ok(PermissionGate::new(PermissionMode::Bypass, parent.rules().clone()));
        }
        if OF_THE_PARENT.contains(&name) {
            return Err(self.says(name));
        }
        match tool.access(input, folder) {
            Access::Writes(path) if self.writes != Writes::Nowhere => {
                if !self.writes.covers(&path) {
                    return Err(self.only_there(&path));
                }
                Ok(PermissionGate::new(PermissionMode::Bypass, parent.rules().clone()))
            }
            // What only reads passes the plan mode's gate, and nothing else does.
            Access::Reads | Access::Runs(_) if self.reads => {
                Ok(PermissionGate::new(PermissionMode::Plan, parent.rules().clone()))
            }
            Access::Writes(_)
            | Access::Reads
            | Access::Runs(_)
            | Access::Fetches(_)
            | Access::Internal(_)
            | Access::Other => Err(self.says(name)),
        }
    }

    fn says(&self, name: &str) -> String {
        if !self.reads && self.writes == Writes::Nowhere && self.tools.is_empty() {
            return format!(
                "{name} may not be called here, and no other tool either: answer in text, with what you know already"
            );
        }
        format!(
            "{name} may not be called here: this is work beside the conversation. {}",
            self.offers()
        )
    }

    fn only_there(&self, path: &Path) -> String {
        format!("{} may not be written here. {}", path.display(), self.offers())
    }

    /// What it may do instead.
    fn offers(&self) -> String {
        let mut offers = Vec::new();
        if self.reads {
            offers.push("read and search (commands that only read, too)".to_owned());
        }
        match &self.writes {
            Writes::Nowhere => {}
            Writes::File(file) => offers.push(format!("change the file {}", file.display())),
            Writes::Below(folder) => offers.push(format!("write files in {}", folder.display())),
        }
        if !self.tools.is_empty() {
            offers.push(format!("call {}", self.tools.join(", ")));
        }
        format!("You can {}", offers.join("; "))
    }
}

/// The same for the place that a path really leads to: asked when a file is about to be written, so that a
/// link made in the meantime is no way around.
pub(super) struct ForkGuard {
    pub(super) writes: Writes,
    pub(super) parent: Option<Arc<dyn FileGuard>>,
}

impl FileGuard for ForkGuard {
    fn route(&self, path: &Path) -> FileRoute {
        if !self.writes.covers(path) {
            return FileRoute::Refused(format!(
                "{} may not be written by work beside the conversation",
                path.display()
            ));
        }
        match &self.parent {
            Some(parent) => parent.route(path),
            None => FileRoute::Plain,
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
