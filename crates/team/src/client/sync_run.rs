//! One sync: fetch, decide, push, pull. The decisions are [`crate::plan`]'s; this performs them.
//!
//! Invariant: a local content is only replaced by a change that expects exactly the content that the decision was made
//! from; what the user writes meanwhile stays.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dormouse_base::{Lock, LockError};
use dormouse_memory::{ChangeAuthor, ChangeError, ChangeOrigin, ChangeOutcome, Expected, Store};

use super::http::TeamClient;
use super::local_files::LocalFiles;
use super::membership::MembershipFile;
use super::report::{PulledEntry, ReplacedEntry, SyncReport};
use super::state_files::path;
use super::sync_error::SyncError;
use super::sync_state::{ServerEntry, SyncState};
use crate::api::{TeamEntry, UploadRequest, UploadedEntry};
use crate::checksum::Checksum;
use crate::entry_name::EntryName;
use crate::limits::CONFLICT_RETRIES;
use crate::sync::{PullReason, RemoveReason, SyncAction, SyncStates, plan, uploads};
use crate::version::EntityTag;

/// How long a sync waits for another one of the same directory.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// A sync of a memory directory with a server.
pub struct TeamSync<'a> {
    store: &'a Store,
    client: &'a TeamClient,
    membership: &'a MembershipFile,
    state: SyncState,
    report: SyncReport,
    /// Contents that came with the last fetch.
    fetched: BTreeMap<EntryName, TeamEntry>,
}

impl<'a> TeamSync<'a> {
    /// Prepares a sync.
    pub fn new(store: &'a Store, client: &'a TeamClient, membership: &'a MembershipFile) -> Self {
        Self {
            store,
            client,
            membership,
            state: SyncState::default(),
            report: SyncReport::default(),
            fetched: BTreeMap::new(),
        }
    }

    /// The version that was last fetched.
    pub fn known_version(membership: &MembershipFile) -> Option<EntityTag> {
        SyncState::read(membership.folder()).etag
    }

    /// Pushes what changed here and pulls what changed there.
    pub async fn run(mut self) -> Result<SyncReport, SyncError> {
        let folder = self.membership.folder();
        let lock = match path("sync.lock") {
            Some(path) => Lock::acquire_within(folder, &path, LOCK_PATIENCE),
            None => return Err(SyncError::Busy),
        };
        let _lock = match lock {
            Ok(lock) => lock,
            Err(LockError::Held { .. }) => return Err(SyncError::Busy),
            Err(LockError::File(error)) => return Err(error.into()),
        };
        self.state = SyncState::read(folder);
        let local = LocalFiles::read(self.store, &mut self.report)?;
        self.fetch(&local).await?;
        // What was fetched and what was pushed is kept even if the rest fails.
        let pushed = self.push(&local).await;
        let pulled = self.pull(&local).await;
        self.state.write(folder)?;
        pushed?;
        pulled?;
        Ok(self.report)
    }

    async fn fetch(&mut self, local: &LocalFiles) -> Result<(), SyncError> {
        let fetched = self.client.snapshot(self.state.etag.as_ref()).await?;
        if let Some(off) = fetched.switched_off {
            self.keep_switches(off)?;
        }
        let Some(snapshot) = fetched.snapshot else { return Ok(()) };
        self.state.take_snapshot(&snapshot);
        let entries = snapshot.entries.into_iter();
        self.fetched = entries.map(|entry| (entry.name.clone(), entry)).collect();
        self.recover_base(local).await
    }

    /// Remembers which layers are off for everybody; sessions that start later obey (T-13).
    fn keep_switches(&mut self, off: Vec<String>) -> Result<(), SyncError> {
        let Some(mut membership) = self.membership.read() else { return Ok(()) };
        if membership.switched_off != off {
            membership.switched_off.clone_from(&off);
            self.membership.write(&membership)?;
            self.report.switched_off = Some(off);
        }
        Ok(())
    }

    /// A local content that is in the server's history is only old: it must not win over a newer one. Where the last state
    /// was lost (a new folder, a crash or a full disk after the file was written), it would look like a change of the user.
    async fn recover_base(&mut self, local: &LocalFiles) -> Result<(), SyncError> {
        for (name, entry) in &local.entries {
            let Some(server) = self.state.server.get(name) else { continue };
            let (ours, theirs) = (Some(&entry.checksum), server.checksum.as_ref());
            let known = self.state.base.get(name);
            let both_changed = ours != theirs && ours != known && theirs != known;
            if !both_changed || self.state.proposed.get(name) == ours {
                continue;
            }
            let versions = self.client.history(name).await?.versions;
            if versions.iter().any(|version| version.checksum.as_ref() == ours) {
                self.state.base.insert(name.clone(), entry.checksum.clone());
            }
        }
        Ok(())
    }

    async fn decide(
        &self,
        local: &LocalFiles,
    ) -> Result<BTreeMap<EntryName, SyncAction>, SyncError> {
        let mut undecided = BTreeMap::new();
        if !self.state.proposed.is_empty() {
            for open in self.client.proposals().await?.proposals {
                undecided.extend(open.checksum.map(|checksum| (open.name, checksum)));
            }
        }
        Ok(plan(SyncStates {
            local: &local.checksums(),
            server: &self.state.live(),
            base: &self.state.base,
            proposed: &self.state.proposed,
            undecided: &undecided,
        }))
    }

    /// Sends local changes, in uploads of a bounded size. After another client's push, decides again (T-5).
    async fn push(&mut self, local: &LocalFiles) -> Result<(), SyncError> {
        let mut refused = BTreeSet::new();
        for attempt in 0..=CONFLICT_RETRIES {
            let mut wanted = Vec::new();
            for (name, action) in self.decide(local).await? {
                if matches!(action, SyncAction::Push(_)) && !refused.contains(&name) {
                    wanted.extend(self.readable(local, name, attempt));
                }
            }
            match self.push_all(wanted, &mut refused).await {
                Err(SyncError::Client(error)) if error.is_other_version() => {
                    self.state.take_checksums(&self.client.checksums().await?);
                    self.recover_base(local).await?;
                }
                other => return other,
            }
        }
        for (name, action) in self.decide(local).await? {
            if matches!(action, SyncAction::Push(_)) && !refused.contains(&name) {
                self.report.postponed.push(name);
            }
        }
        Ok(())
    }

    /// The content of a local change, and its size in an upload; none if it must not be sent or has changed meanwhile.
    fn readable(
        &mut self,
        local: &LocalFiles,
        name: EntryName,
        attempt: usize,
    ) -> Option<(UploadedEntry, usize)> {
        let entry = local.entries.get(&name)?;
        if let Some(reason) = &entry.kept {
            if attempt == 0 {
                self.report.hold_back(name.as_str(), reason.clone());
            }
            return None;
        }
        let (bytes, _) = self.store.read(name.file()).ok()?;
        let content = String::from_utf8(bytes).ok()?;
        if Checksum::of(content.as_bytes()) != entry.checksum {
            return None;
        }
        let upload = UploadedEntry { name, content };
        let size = serde_json::to_string(&upload).map_or(0, |text| text.len() + 16);
        Some((upload, size))
    }

    async fn push_all(
        &mut self,
        wanted: Vec<(UploadedEntry, usize)>,
        refused: &mut BTreeSet<EntryName>,
    ) -> Result<(), SyncError> {
        for upload in uploads(wanted) {
            match self.push_one(upload.clone()).await {
                Err(SyncError::Client(error)) if error.is_about_content() => {
                    // One of them is refused: the others go alone.
                    for entry in upload {
                        let name = entry.name.clone();
                        match self.push_one(vec![entry]).await {
                            Err(SyncError::Client(error)) if error.is_about_content() => {
                                self.report.hold_back(name.as_str(), error.to_string());
                                refused.insert(name);
                            }
                            other => other?,
                        }
                    }
                }
                other => other?,
            }
        }
        Ok(())
    }

    async fn push_one(&mut self, entries: Vec<UploadedEntry>) -> Result<(), SyncError> {
        let Some(etag) = self.state.etag.clone() else { return Ok(()) };
        let upload = UploadRequest { entries };
        let answer = self.client.upload(&etag, &upload).await?;
        for entry in &upload.entries {
            let checksum = Checksum::of(entry.content.as_bytes());
            if answer.proposed.contains(&entry.name) {
                self.state.proposed.insert(entry.name.clone(), checksum);
                self.report.proposed.push(entry.name.clone());
                continue;
            }
            let was_deleted =
                self.state.server.get(&entry.name).is_some_and(|known| known.checksum.is_none());
            let known = self.state.base.get(&entry.name);
            let replaced = answer.replaced.iter().find(|replaced| replaced.name == entry.name);
            match replaced {
                Some(other) if other.checksum.as_ref() != known => {
                    self.report.replaced.push(ReplacedEntry {
                        name: entry.name.clone(),
                        author: Some(other.author.clone()),
                    });
                }
                None if was_deleted => {
                    self.report
                        .replaced
                        .push(ReplacedEntry { name: entry.name.clone(), author: None });
                }
                Some(_) | None => {}
            }
            let now = ServerEntry { checksum: Some(checksum), author: None, time: None };
            self.state.server.insert(entry.name.clone(), now);
            self.state.agree(&entry.name);
            self.report.pushed.push(entry.name.clone());
        }
        // Otherwise somebody wrote in between: the next fetch, from the version known here, brings that as well.
        if answer.etag.version().0 <= etag.version().0 + 1 || !answer.etag.shares_history(&etag) {
            self.state.etag = Some(answer.etag);
        }
        // Kept at once: a crash now must not make the next sync take this for a conflict.
        self.state.write(self.membership.folder())?;
        Ok(())
    }

    /// Writes what changed on the server, entry by entry.
    async fn pull(&mut self, local: &LocalFiles) -> Result<(), SyncError> {
        for (name, action) in self.decide(local).await? {
            match action {
                SyncAction::Push(_) => {}
                SyncAction::AwaitReview => self.report.waiting.push(name),
                SyncAction::Agree => self.state.agree(&name),
                SyncAction::Pull(reason) => self.pull_one(local, &name, reason).await?,
                SyncAction::Remove(reason) => self.remove_one(local, &name, reason)?,
            }
        }
        Ok(())
    }

    async fn pull_one(
        &mut self,
        local: &LocalFiles,
        name: &EntryName,
        reason: PullReason,
    ) -> Result<(), SyncError> {
        let wanted = self.state.server.get(name).and_then(|entry| entry.checksum.clone());
        if wanted.is_some() && self.state.in_inbox.get(name) == wanted.as_ref() {
            return Ok(());
        }
        let fetched = self.fetched.remove(name).filter(|entry| entry.checksum == wanted);
        let entry = match fetched {
            Some(entry) => entry,
            None => match self.client.entry(name).await {
                // Deleted or changed meanwhile: the next sync sees it.
                Err(error) if error.code() == Some("not_found") => return Ok(()),
                other => other?,
            },
        };
        let content = entry.content.unwrap_or_default();
        let checksum = Checksum::of(content.as_bytes());
        if Some(&checksum) != wanted.as_ref() {
            return Ok(());
        }
        let author = ChangeAuthor::Teammate(entry.author.to_string());
        let origin = ChangeOrigin::new(author, format!("team sync, version {}", entry.version));
        let expected = expected(local, name);
        let outcome = self.store.change(&origin, |plan| {
            plan.write_as_of(name.file(), content.as_bytes(), &expected, entry.time)
        });
        match self.accepted(name, outcome)? {
            Applied::Done => {
                self.state.agree(name);
                let (name, author) = (name.clone(), entry.author);
                self.report.pulled.push(PulledEntry { name, author, reason });
            }
            Applied::InInbox => {
                self.state.in_inbox.insert(name.clone(), checksum);
            }
            Applied::No => {}
        }
        Ok(())
    }

    fn remove_one(
        &mut self,
        local: &LocalFiles,
        name: &EntryName,
        reason: RemoveReason,
    ) -> Result<(), SyncError> {
        let by = self.state.server.get(name).and_then(|entry| entry.author.clone());
        let author = by.map_or(ChangeAuthor::Sync, |by| ChangeAuthor::Teammate(by.to_string()));
        let origin = ChangeOrigin::new(author, "deleted for the team");
        let expected = expected(local, name);
        let outcome = self.store.change(&origin, |plan| plan.delete(name.file(), &expected));
        if let Applied::Done = self.accepted(name, outcome)? {
            self.state.agree(name);
            self.report.removed.push((name.clone(), reason));
        }
        Ok(())
    }

    /// What became of a change. A content that the store refuses is reported and tried again when it has changed; a file
    /// that the user has changed meanwhile is left to the next sync.
    fn accepted(
        &mut self,
        name: &EntryName,
        outcome: Result<ChangeOutcome, ChangeError>,
    ) -> Result<Applied, SyncError> {
        match outcome {
            Ok(ChangeOutcome::Written(_) | ChangeOutcome::Unchanged) => Ok(Applied::Done),
            Ok(ChangeOutcome::Ask(_)) => {
                self.report.hold_back(name.as_str(), "the write policy asks for a confirmation");
                Ok(Applied::No)
            }
            Ok(ChangeOutcome::InInbox(_)) => {
                self.report
                    .hold_back(name.as_str(), "it waits in the inbox; see `dormouse memory inbox`");
                Ok(Applied::InInbox)
            }
            Err(ChangeError::Stale { .. } | ChangeError::Missing(_)) => Ok(Applied::No),
            Err(error @ (ChangeError::Lock(_) | ChangeError::File(_))) => Err(error.into()),
            Err(error) => {
                self.report.hold_back(name.as_str(), error.to_string());
                Ok(Applied::No)
            }
        }
    }
}

enum Applied {
    Done,
    InInbox,
    No,
}

/// The content that a decision was made from.
fn expected(local: &LocalFiles, name: &EntryName) -> Expected {
    local.entries.get(name).map_or(Expected::Absent, |entry| Expected::Content(entry.hash.clone()))
}
