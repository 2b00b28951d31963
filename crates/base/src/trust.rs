//! Which projects the user has trusted, and with what (L-29).
//!
//! A project is trusted as it was when the user looked: the record holds a hash of what waited for
//! trust then. When that changes, the trust is gone until somebody looks again.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::dir::{Dir, FileError};
use crate::home::{Project, stable_hash};
use crate::rel_path::RelPath;
use crate::settings::{SettingsStack, TrustRequest};

/// Who keeps the records.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    checkout: String,
    /// Of what was trusted.
    digest: String,
    at: String,
}

/// How a project stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// It asks for nothing that would need it.
    NotNeeded,
    /// Nobody has been asked yet.
    Undecided,
    /// It was trusted, but asks for something else now.
    Changed,
    /// Trusted as it is.
    Trusted,
}

impl TrustStore {
    /// The store in the program's own folder.
    pub fn new(home: &Path) -> Self {
        Self { folder: home.join("trust") }
    }

    /// The store for what an editor brings along for a project, which is trusted by itself.
    pub fn for_editor(home: &Path) -> Self {
        Self { folder: home.join("trust").join("editor") }
    }

    /// How a project stands with these settings.
    pub fn state(&self, project: &Project, stack: &SettingsStack) -> TrustState {
        let waiting = stack.trust_requests();
        if waiting.is_empty() {
            return TrustState::NotNeeded;
        }
        let record = Dir::open(&self.folder)
            .and_then(|dir| dir.read(&file(project)))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok())
            .filter(|record| record.checkout == project.checkout.display().to_string());
        match record {
            None => TrustState::Undecided,
            Some(record) if record.digest == digest(&waiting) => TrustState::Trusted,
            Some(_) => TrustState::Changed,
        }
    }

    /// Writes down that the project is trusted with what it asks for now.
    pub fn grant(
        &self,
        project: &Project,
        stack: &SettingsStack,
        at: Timestamp,
    ) -> Result<(), FileError> {
        let record = Record {
            checkout: project.checkout.display().to_string(),
            digest: digest(&stack.trust_requests()),
            at: at.to_string(),
        };
        // A struct of strings has no way to fail to serialize.
        let bytes = serde_json::to_vec_pretty(&record).unwrap_or_default();
        Dir::create(&self.folder)?.replace(&file(project), &bytes)
    }

    /// Takes the trust back; gives whether there was any.
    pub fn revoke(&self, project: &Project) -> Result<bool, FileError> {
        let removed = Dir::open(&self.folder).and_then(|dir| dir.remove_file(&file(project)));
        match removed {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// One file a checkout: two programs that trust two projects do not meet. A worktree is trusted by
/// itself, for the scripts in it are its own.
#[expect(clippy::expect_used, reason = "digits and a fixed ending are a plain file name")]
fn file(project: &Project) -> RelPath {
    let hash = stable_hash(project.checkout.as_os_str().as_encoded_bytes());
    RelPath::new(format!("{hash:016x}.json")).expect("a plain name")
}

/// Keys are in order in a `Value`, so that the same settings have the same digest however they are laid
/// out.
fn digest(waiting: &[TrustRequest]) -> String {
    // Texts and values that were JSON before have no way to fail to serialize.
    let bytes = serde_json::to_vec(waiting).unwrap_or_default();
    blake3::hash(&bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::find_project;
    use crate::settings::{SettingsLayer, SettingsSource};

    fn stack(text: &str) -> SettingsStack {
        SettingsStack::new(vec![
            SettingsLayer::parse(SettingsSource::Project, "p", text.as_bytes()).unwrap(),
        ])
    }

    #[test]
    fn trust_is_for_what_was_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let project = find_project(folder.path()).unwrap();
        let store = TrustStore::new(&folder.path().join("home"));
        let hooks = stack(r#"{"hooks":{"Stop":[1]},"model":"a"}"#);
        assert_eq!(store.state(&project, &stack(r#"{"model":"a"}"#)), TrustState::NotNeeded);
        assert_eq!(store.state(&project, &hooks), TrustState::Undecided);
        store.grant(&project, &hooks, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(store.state(&project, &hooks), TrustState::Trusted);
        // What restricts may change freely, and so may the layout.
        let same = stack("{\"model\":\"b\",\n\n\"hooks\": {\"Stop\": [1]}}");
        assert_eq!(store.state(&project, &same), TrustState::Trusted);
        assert_eq!(store.state(&project, &stack(r#"{"hooks":{"Stop":[2]}}"#)), TrustState::Changed);
        assert!(store.revoke(&project).unwrap());
        assert_eq!(store.state(&project, &hooks), TrustState::Undecided);
        assert!(!store.revoke(&project).unwrap());
    }
}
