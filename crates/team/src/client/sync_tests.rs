//! Homes that sync with a real server.

use std::sync::Arc;

use dormouse_base::{Dir, SystemClock};
use dormouse_memory::{ChangeOrigin, Expected, MemoryFile, ScanCache, Scope, Store, StoreOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::http::TeamClient;
use super::membership::MembershipFile;
use super::report::SyncReport;
use super::server_url::{PlainHttp, ServerUrl};
use super::sync_run::TeamSync;
use crate::api::{SettingsRequest, UploadRequest, UploadedEntry};
use crate::entry_name::EntryName;
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::server::{ServerOptions, TeamServer};
use crate::storage::{DatabaseAddress, NewToken, TeamStore};
use crate::token::TeamToken;

/// A person's computer.
struct Home {
    folder: tempfile::TempDir,
    store: Store,
    client: TeamClient,
    token: TeamToken,
    membership: MembershipFile,
}

impl Home {
    async fn new(team: &TeamStore, url: &str, person: &str, role: TeamRole) -> Self {
        let token = TeamToken::generate().unwrap();
        let person = PersonName::new(person).unwrap();
        let new = NewToken { hash: token.hash(), person, role, repository: None };
        team.add_token(new, jiff::Timestamp::UNIX_EPOCH, None).await.unwrap();
        let url = ServerUrl::parse(url, PlainHttp::LocalOnly).unwrap();
        let repo = RepositoryName::new("host/owner/repo").unwrap();
        let client = TeamClient::new(url, token.clone(), repo).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions::new(
            Scope::Team,
            dormouse_secrets::scan,
            Arc::new(SystemClock::default()),
        );
        let store = Store::open(&folder.path().join("team"), &folder.path().join("state"), options)
            .unwrap();
        let membership =
            MembershipFile::new(Dir::create(folder.path().join("membership")).unwrap());
        Self { folder, store, client, token, membership }
    }

    async fn sync(&self) -> SyncReport {
        TeamSync::new(&self.store, &self.client, &self.membership).run().await.unwrap()
    }

    /// Syncs as if the program was killed after the files were written and before that was noted.
    async fn sync_and_crash(&self) {
        let state = self.folder.path().join("membership/sync.json");
        let before = std::fs::read(&state).unwrap();
        self.sync().await;
        std::fs::write(&state, before).unwrap();
    }

    /// Syncs through a proxy that lets somebody else finish their work before the first upload is passed on.
    async fn sync_overtaken_by(&self, work: impl Future<Output = ()>) -> SyncReport {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let url = ServerUrl::parse(&url, PlainHttp::LocalOnly).unwrap();
        let server = self.client.server().to_string().replace("http://", "");
        let client = TeamClient::new(url, self.token.clone(), self.client.repository().clone());
        let client = client.unwrap();
        let proxy = async {
            let (mut from, _) = listener.accept().await.unwrap();
            let mut to = TcpStream::connect(server).await.unwrap();
            let mut work = Some(work);
            let mut bytes = vec![0; 64 * 1024];
            let mut answer = vec![0; 64 * 1024];
            loop {
                tokio::select! {
                    count = from.read(&mut bytes) => {
                        let sent = &bytes[..count.unwrap()];
                        if sent.starts_with(b"POST") && let Some(work) = work.take() {
                            work.await;
                        }
                        to.write_all(sent).await.unwrap();
                    }
                    count = to.read(&mut answer) => {
                        from.write_all(&answer[..count.unwrap()]).await.unwrap();
                    }
                }
            }
        };
        tokio::select! {
            report = TeamSync::new(&self.store, &client, &self.membership).run() => report.unwrap(),
            () = proxy => unreachable!("it passes on until the sync has ended"),
        }
    }

    fn write(&self, name: &str, text: &str) {
        let file = MemoryFile::new(name).unwrap();
        let write = |plan: &mut dormouse_memory::ChangePlan<'_>| {
            plan.write(&file, text.as_bytes(), &Expected::Anything)
        };
        self.store.change(&ChangeOrigin::user("test"), write).unwrap();
    }

    /// An editor, which knows nothing of the store.
    fn edit(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join("team").join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("team").join(name)).ok()
    }

    /// Forgets everything but the files.
    fn lose_state(&self) {
        std::fs::remove_file(self.folder.path().join("membership/sync.json")).unwrap();
    }

    fn teammate(&self, name: &str) -> Option<String> {
        let scan = self.store.scan(&mut ScanCache::default()).unwrap();
        self.store.teammate(scan.find(name)?)
    }
}

fn names(report: &[EntryName]) -> Vec<&str> {
    report.iter().map(EntryName::as_str).collect()
}

fn pulled(report: &SyncReport) -> Vec<(&str, &str)> {
    report.pulled.iter().map(|entry| (entry.name.as_str(), entry.author.as_str())).collect()
}

/// Runs a test with two writers and an admin.
fn with_team<F: Future<Output = ()>>(test: impl FnOnce([Home; 3]) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let address = DatabaseAddress::File(folder.path().join("team.db"));
        let store = TeamStore::open(&address).await.unwrap();
        let server = TeamServer::bind("127.0.0.1:0".parse().unwrap(), None).unwrap();
        let url = server.url();
        let homes = [
            Home::new(&store, &url, "Ana", TeamRole::Write).await,
            Home::new(&store, &url, "Ben", TeamRole::Write).await,
            Home::new(&store, &url, "Ada", TeamRole::Admin).await,
        ];
        let stop = CancellationToken::new();
        let options = ServerOptions::new(Arc::new(SystemClock::default()), Arc::new(|_| {}));
        let serving = server.serve(store, options, stop.clone());
        let testing = async {
            test(homes).await;
            stop.cancel();
        };
        tokio::join!(serving, testing);
    });
}

const MEMORY: &str =
    "---\nname: CI\ndescription: how CI runs\ntype: project\n---\nCI needs Docker.\n";

#[test]
fn what_one_writes_the_other_gets_with_the_authors_name() {
    with_team(|[ana, ben, _]| async move {
        ana.write("ci.md", MEMORY);
        assert_eq!(names(&ana.sync().await.pushed), ["ci.md"]);
        assert_eq!(ana.sync().await, SyncReport::default(), "nothing is left to do");
        assert_eq!(pulled(&ben.sync().await), [("ci.md", "Ana")]);
        assert_eq!(
            (ben.read("ci.md").as_deref(), ben.teammate("ci.md").as_deref()),
            (Some(MEMORY), Some("Ana"))
        );
        assert!(ben.read("MEMORY.md").unwrap().contains("ci.md"), "the index is each one's own");
        ben.edit("ci.md", &MEMORY.replace("Docker", "Podman"));
        assert_eq!(ben.teammate("ci.md"), None, "it is Ben's text now");
        ben.sync().await;
        ana.sync().await;
        assert!(ana.read("ci.md").unwrap().contains("Podman"));
        assert_eq!(ana.teammate("ci.md").as_deref(), Some("Ben"));
    });
}

#[test]
fn a_conflict_keeps_both_and_names_the_other() {
    with_team(|[ana, ben, _]| async move {
        ana.write("a.md", "one\n");
        ana.sync().await;
        ben.sync().await;
        ana.write("a.md", "ana's\n");
        ana.sync().await;
        ben.edit("a.md", "ben's\n");
        let report = ben.sync().await;
        assert_eq!(report.replaced[0].author.as_ref().unwrap().as_str(), "Ana");
        ana.sync().await;
        assert_eq!(ana.read("a.md").as_deref(), Some("ben's\n"));
        let history = ana.client.history(&EntryName::new("a.md").unwrap()).await.unwrap().versions;
        let texts: Vec<_> =
            history.iter().map(|version| version.content.as_deref().unwrap()).collect();
        assert_eq!(texts, ["ben's\n", "ana's\n", "one\n"]);
    });
}

#[test]
fn a_deleted_file_comes_back_and_a_deletion_for_all_does_not() {
    with_team(|[ana, ben, _]| async move {
        ana.write("a.md", "one\n");
        ana.sync().await;
        ben.sync().await;
        std::fs::remove_file(ben.folder.path().join("team/a.md")).unwrap();
        assert_eq!(ben.sync().await.pulled[0].reason, crate::sync::PullReason::DeletedHere);
        assert!(ben.read("a.md").is_some());
        ana.client.delete(&EntryName::new("a.md").unwrap()).await.unwrap();
        assert_eq!(ben.sync().await.removed.len(), 1);
        assert_eq!(ben.read("a.md"), None);
        // The same text again is a new entry.
        ben.write("a.md", "one\n");
        assert_eq!(names(&ben.sync().await.pushed), ["a.md"]);
    });
}

/// A crash, or a full disk, after a pulled file was written and before that was noted: the file is not a change of the user's.
#[test]
fn what_was_pulled_before_a_crash_does_not_win_over_a_newer_version() {
    with_team(|[ana, ben, _]| async move {
        ana.write("other.md", "x");
        ana.sync().await;
        ben.sync().await;
        ana.write("a.md", "one");
        ana.sync().await;
        ben.sync_and_crash().await;
        ana.write("a.md", "two");
        ana.sync().await;
        let report = ben.sync().await;
        assert_eq!((names(&report.pushed), pulled(&report)), (vec![], vec![("a.md", "Ana")]));
        assert_eq!(ben.read("a.md").as_deref(), Some("two"));
    });
}

/// The same, where the newer version arrives between the fetch and the upload: a pulled file must not win after the refusal.
#[test]
fn what_was_pulled_before_a_crash_does_not_win_after_a_refused_upload() {
    with_team(|[ana, ben, _]| async move {
        ana.write("b.md", "x");
        ana.sync().await;
        ben.sync().await;
        ana.write("a.md", "one");
        ana.sync().await;
        ben.sync_and_crash().await;
        ben.edit("b.md", "ben's");
        ana.write("a.md", "two");
        ana.write("b.md", "ana's");
        let overtaken = async { drop(ana.sync().await) };
        let report = Box::pin(ben.sync_overtaken_by(overtaken)).await;
        assert_eq!((names(&report.pushed), pulled(&report)), (vec!["b.md"], vec![("a.md", "Ana")]));
        assert_eq!(ben.read("a.md").as_deref(), Some("two"));
        assert_eq!(report.replaced.len(), 1, "Ana's b.md is in the history and named");
    });
}

/// A change of another entry meanwhile is no conflict, and is fetched by the next sync.
#[test]
fn changes_of_different_entries_do_not_hold_up_one_another() {
    with_team(|[ana, ben, _]| async move {
        ana.write("a.md", "one");
        ana.sync().await;
        ben.sync().await;
        let known = TeamSync::known_version(&ben.membership).unwrap();
        ana.write("a.md", "two");
        ana.sync().await;
        let entry = |name: &str, content: &str| UploadedEntry {
            name: EntryName::new(name).unwrap(),
            content: content.to_owned(),
        };
        let own = UploadRequest { entries: vec![entry("b.md", "ben's")] };
        assert_eq!(ben.client.upload(&known, &own).await.unwrap().written.len(), 1);
        let same = UploadRequest { entries: vec![entry("c.md", "x"), entry("a.md", "three")] };
        let refused = ben.client.upload(&known, &same).await.unwrap_err();
        assert_eq!(refused.code(), Some("version_changed"));
        let report = ben.sync().await;
        assert_eq!(pulled(&report), [("a.md", "Ana"), ("b.md", "Ben")], "nothing of the refused");
    });
}

#[test]
fn a_lost_state_makes_no_old_content_win() {
    with_team(|[ana, ben, _]| async move {
        ana.write("a.md", "old\n");
        ana.sync().await;
        ben.sync().await;
        ana.write("a.md", "new\n");
        ana.sync().await;
        ben.lose_state();
        ben.write("b.md", "never pushed\n");
        let report = ben.sync().await;
        assert_eq!(names(&report.pushed), ["b.md"]);
        assert_eq!(ben.read("a.md").as_deref(), Some("new\n"));
    });
}

#[test]
fn secrets_and_odd_files_stay_here() {
    with_team(|[ana, ben, _]| async move {
        let (key, rest) = ("AKIA", "Q3EGRZLPM5YTNW2B");
        ana.edit("key.md", &format!("aws_key = {key}{rest}\n"));
        ana.edit("binary.md", "a\0b");
        ana.edit("good.md", "good\n");
        std::fs::write(ana.folder.path().join("team/long.md"), "x".repeat(250_001)).unwrap();
        let report = ana.sync().await;
        assert_eq!(names(&report.pushed), ["good.md"]);
        let held = format!("{:?}", report.held_back);
        assert!(
            held.contains("key.md") && held.contains("line 1") && !held.contains(rest),
            "{held}"
        );
        assert!(held.contains("long.md"), "{held}");
        assert_eq!(pulled(&ben.sync().await), [("good.md", "Ana")]);
    });
}

#[test]
fn a_large_change_is_split_and_arrives_whole() {
    with_team(|[ana, ben, _]| async move {
        let text = |number: usize| format!("{number}\n{}", "line\n".repeat(15_000));
        for number in 0..9 {
            ana.write(&format!("{number}.md"), &text(number));
        }
        assert_eq!(ana.sync().await.pushed.len(), 9);
        let versions = ana.client.log(100).await.unwrap().versions;
        let uploads: std::collections::BTreeSet<_> =
            versions.iter().map(|version| version.version).collect();
        assert!(uploads.len() >= 4, "{uploads:?}");
        ben.sync().await;
        assert!((0..9).all(|number| ben.read(&format!("{number}.md")) == Some(text(number))));
    });
}

#[test]
fn a_proposal_stays_with_its_author_until_it_is_decided() {
    with_team(|[ana, ben, ada]| async move {
        ada.client.set(&SettingsRequest { review: Some(true), switched_off: None }).await.unwrap();
        ana.write("a.md", "proposed\n");
        ana.write("b.md", "rejected\n");
        assert_eq!(names(&ana.sync().await.proposed), ["a.md", "b.md"]);
        assert_eq!(ben.sync().await, SyncReport::default());
        assert_eq!(names(&ana.sync().await.waiting), ["a.md", "b.md"]);
        assert_eq!(ana.read("a.md").as_deref(), Some("proposed\n"));
        let open = ada.client.proposals().await.unwrap().proposals;
        for proposal in open {
            let decision = if proposal.name.as_str() == "a.md" { "accept" } else { "reject" };
            ada.client.decide(proposal.id, decision).await.unwrap();
        }
        assert_eq!(ana.sync().await.removed.len(), 1);
        assert_eq!((ana.read("a.md").is_some(), ana.read("b.md")), (true, None));
        assert_eq!(pulled(&ben.sync().await), [("a.md", "Ana")]);
    });
}

#[test]
fn news_comes_with_the_new_version() {
    with_team(|[ana, ben, _]| async move {
        let mut news =
            ben.client.news(TeamSync::known_version(&ben.membership).as_ref()).await.unwrap();
        let first = news.next().await.unwrap();
        ana.write("a.md", "one\n");
        ana.sync().await;
        let second = news.next().await.unwrap();
        assert!(second.version() > first.version());
    });
}
