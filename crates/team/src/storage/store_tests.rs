//! The rules of the store, on every database.

use std::future::Future;

use jiff::Timestamp;

use super::change_key::ChangeKey;
use super::database::{Database, DatabaseAddress};
use super::error::StorageError;
use super::people::NewToken;
use super::schema::{MIGRATIONS, migrate, migrate_to};
use super::sql::{SqlAccess, values};
use super::sqlite::SqliteDatabase;
use super::store::TeamStore;
use super::writing::{EntryChange, WriteOutcome, WriteRequest};
use crate::api::{ReviewState, SettingsRequest, WriteResponse};
use crate::entry_name::EntryName;
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::token::TeamToken;
use crate::version::{EntityTag, RepoVersion};

pub(super) fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Runs a test on an empty database of each kind.
pub(super) fn on_each<F: Future<Output = ()>>(test: impl Fn(TeamStore) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let address = DatabaseAddress::File(folder.path().join("team.db"));
    wait(async { test(TeamStore::open(&address).await.unwrap()).await });
    if let Some(server) = postgres() {
        wait(async { test(TeamStore::open(&new_database(&server).await).await.unwrap()).await });
    }
}

/// The PostgreSQL that `scripts/with-postgres` started. Tests in CI do not pass without it.
#[expect(clippy::disallowed_methods, reason = "the test script says where the database is")]
pub(super) fn postgres() -> Option<String> {
    let server =
        std::env::var("DORMOUSE_TEST_POSTGRES").ok().filter(|_| cfg!(feature = "postgres"));
    let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(server.is_some() || !is_ci, "run the tests with scripts/test, which starts PostgreSQL");
    server
}

/// A database of its own for a test.
pub(super) async fn new_database(server: &str) -> DatabaseAddress {
    let (client, connection) =
        tokio_postgres::connect(server, tokio_postgres::NoTls).await.unwrap();
    let name = format!("test_{}", uuid::Uuid::new_v4().simple());
    let create = format!("CREATE DATABASE {name}");
    let create = client.batch_execute(&create);
    tokio::select! {
        created = create => created.unwrap(),
        ended = connection => panic!("{ended:?}"),
    }
    server.replace("/postgres?", &format!("/{name}?")).parse().unwrap()
}

pub(super) fn repo() -> RepositoryName {
    RepositoryName::new("host/owner/repo").unwrap()
}

pub(super) fn name(name: &str) -> EntryName {
    EntryName::new(name).unwrap()
}

fn person(name: &str) -> PersonName {
    PersonName::new(name).unwrap()
}

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(super) fn request(key: &str, who: &str, entries: &[(&str, &str)]) -> WriteRequest {
    let put = |(file, content): &(&str, &str)| EntryChange::Put {
        name: name(file),
        content: (*content).to_owned(),
    };
    WriteRequest {
        repo: repo(),
        person: person(who),
        as_proposals: false,
        if_match: None,
        key: Some(key.to_owned()),
        changes: entries.iter().map(put).collect(),
        now: at(0),
        most_entries: 10,
    }
}

async fn done(store: &TeamStore, request: WriteRequest) -> WriteResponse {
    match store.write(request).await.unwrap() {
        WriteOutcome::Done(response) => response,
        other => panic!("{other:?}"),
    }
}

async fn contents(store: &TeamStore) -> Vec<(String, Option<String>, String)> {
    let snapshot = store.snapshot(&repo(), None).await.unwrap();
    let line = |entry: crate::api::TeamEntry| {
        (entry.name.to_string(), entry.content, entry.author.to_string())
    };
    snapshot.entries.into_iter().map(line).collect()
}

#[test]
fn versions_history_and_changes_since() {
    on_each(|store| async move {
        let empty = store.snapshot(&repo(), None).await.unwrap();
        assert!(empty.entries.is_empty() && empty.complete);
        let first = request("1", "ana", &[("a.md", "one"), ("b.md", "two")]);
        let first = WriteRequest { if_match: Some(empty.etag.clone()), ..first };
        let first = done(&store, first).await;
        assert_eq!((first.etag.version(), first.written.len()), (RepoVersion(1), 2));
        let second = WriteRequest { now: at(5), ..request("2", "ben", &[("a.md", "three")]) };
        let second = done(&store, second).await;
        assert_eq!(second.replaced[0].author, person("ana"), "the report names what was replaced");
        let known = |entry: &str, content: &str, who: &str| {
            (entry.into(), Some(content.into()), who.into())
        };
        assert_eq!(
            contents(&store).await,
            [known("a.md", "three", "ben"), known("b.md", "two", "ana")]
        );
        let since = store.snapshot(&repo(), Some(&first.etag)).await.unwrap();
        assert!(!since.complete);
        assert_eq!(
            since.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(),
            ["a.md"]
        );
        let history = store.history(&repo(), &name("a.md")).await.unwrap();
        let history: Vec<_> =
            history.iter().map(|v| (v.content.as_deref(), v.author.as_str(), v.time)).collect();
        assert_eq!(history, [(Some("three"), "ben", at(5)), (Some("one"), "ana", at(0))]);
        let foreign = EntityTag::new("other", RepoVersion(2));
        assert!(store.snapshot(&repo(), Some(&foreign)).await.unwrap().complete);
        let ahead = EntityTag::parse(&second.etag.to_string().replace("-2\"", "-9\"")).unwrap();
        assert!(store.snapshot(&repo(), Some(&ahead)).await.unwrap().complete);
        let delete = EntryChange::Delete { name: name("a.md") };
        done(&store, WriteRequest { changes: vec![delete], ..request("3", "ana", &[]) }).await;
        assert_eq!(contents(&store).await[0], ("a.md".to_owned(), None, "ana".to_owned()));
        let log = store.log(&repo(), 10).await.unwrap();
        let log: Vec<_> =
            log.iter().map(|v| (v.version.0, v.name.as_str(), v.author.as_str())).collect();
        assert_eq!(
            log,
            [(3, "a.md", "ana"), (2, "a.md", "ben"), (1, "a.md", "ana"), (1, "b.md", "ana")]
        );
        assert_eq!(
            store
                .version_of(&repo(), &name("a.md"), Some(RepoVersion(2)))
                .await
                .unwrap()
                .unwrap()
                .content
                .unwrap(),
            "three"
        );
        assert!(
            store.version_of(&repo(), &name("b.md"), Some(RepoVersion(2))).await.unwrap().is_none()
        );
    });
}

#[test]
fn another_version_is_refused_and_a_repeated_request_changes_nothing() {
    on_each(|store| async move {
        let first = done(&store, request("1", "ana", &[("a.md", "one")])).await;
        done(&store, request("2", "ben", &[("a.md", "two")])).await;
        let stale = WriteRequest {
            if_match: Some(first.etag.clone()),
            ..request("3", "ana", &[("a.md", "three")])
        };
        let WriteOutcome::OtherVersion(now) = store.write(stale).await.unwrap() else { panic!() };
        assert_eq!(now.version(), RepoVersion(2));
        // Another entry is nobody's conflict; a version of the future or of another history is.
        let other = WriteRequest {
            if_match: Some(first.etag.clone()),
            ..request("4", "ana", &[("b.md", "own")])
        };
        assert_eq!(done(&store, other).await.etag.version(), RepoVersion(3));
        for tag in [EntityTag::new("other", RepoVersion(1)), {
            let epoch = first.etag.to_string();
            EntityTag::parse(&epoch.replace("-1\"", "-9\"")).unwrap()
        }] {
            let strange = WriteRequest {
                if_match: Some(tag.clone()),
                ..request("6", "ana", &[("c.md", "x")])
            };
            let outcome = store.write(strange).await.unwrap();
            assert!(matches!(outcome, WriteOutcome::OtherVersion(_)), "{tag}: {outcome:?}");
        }
        // The answer was lost; meanwhile somebody else wrote.
        assert_eq!(done(&store, request("1", "ana", &[("a.md", "one")])).await, first);
        assert_eq!(contents(&store).await[0].1.as_deref(), Some("two"));
        let other = request("1", "ana", &[("a.md", "other")]);
        assert!(matches!(store.write(other).await, Err(StorageError::KeyReused)));
        // Another person's key is another key.
        assert_eq!(
            done(&store, request("1", "ben", &[("a.md", "four")])).await.etag.version(),
            RepoVersion(4)
        );
        let same = done(&store, request("5", "ana", &[("a.md", "four")])).await;
        assert_eq!(
            (same.etag.version(), same.written.len()),
            (RepoVersion(4), 0),
            "same content, no version"
        );
    });
}

#[test]
fn too_many_entries_are_refused_as_a_whole() {
    on_each(|store| async move {
        let limited =
            |key, entries| WriteRequest { most_entries: 2, ..request(key, "ana", entries) };
        done(&store, limited("1", &[("a.md", "1"), ("b.md", "1")])).await;
        let more = limited("2", &[("a.md", "2"), ("c.md", "1")]);
        assert_eq!(store.write(more).await.unwrap(), WriteOutcome::TooManyEntries);
        assert_eq!(contents(&store).await[0].1.as_deref(), Some("1"), "nothing of it happened");
        done(&store, limited("3", &[("a.md", "3")])).await;
        let delete = EntryChange::Delete { name: name("b.md") };
        done(&store, WriteRequest { changes: vec![delete], ..limited("4", &[]) }).await;
        done(&store, limited("5", &[("c.md", "1")])).await;
    });
}

#[test]
fn tokens_are_found_by_hash_until_they_are_revoked() {
    on_each(|store| async move {
        let token = TeamToken::generate().unwrap();
        let new = NewToken {
            hash: token.hash(),
            person: person("ana"),
            role: TeamRole::Write,
            repository: Some(repo()),
        };
        store.add_token(new, at(1), None).await.unwrap();
        let access = store.access(&token.hash(), Some(&repo())).await.unwrap().unwrap();
        assert_eq!(
            (access.person.as_str(), access.role, access.only),
            ("ana", TeamRole::Write, Some(repo()))
        );
        assert_eq!(access.etag.version(), RepoVersion(0));
        let settings = SettingsRequest {
            review: Some(true),
            switched_off: Some(vec!["dream".into(), "recall".into()]),
        };
        store.set_repository(&repo(), &settings, None).await.unwrap();
        store.set_repository(&repo(), &SettingsRequest::default(), None).await.unwrap();
        let access = store.access(&token.hash(), Some(&repo())).await.unwrap().unwrap();
        assert!(access.review && access.switched_off == ["dream", "recall"]);
        let other = TeamToken::generate().unwrap();
        assert_eq!(store.access(&other.hash(), Some(&repo())).await.unwrap(), None);
        assert!(store.revoke_token(&token.hash().id(), at(2), None).await.unwrap());
        assert!(!store.revoke_token(&token.hash().id(), at(3), None).await.unwrap());
        assert_eq!(store.access(&token.hash(), Some(&repo())).await.unwrap(), None);
        let listed = store.tokens().await.unwrap();
        assert_eq!((listed.len(), listed[0].revoked), (1, Some(at(2))));
        assert!(!store.backup().await.unwrap().contains(token.expose()), "only its hash is kept");
    });
}

#[test]
fn a_proposal_is_nobody_elses_until_it_is_accepted() {
    on_each(|store| async move {
        let propose = |key, who, text| WriteRequest {
            as_proposals: true,
            ..request(key, who, &[("a.md", text)])
        };
        let sent = done(&store, propose("1", "ana", "draft")).await;
        assert_eq!((sent.proposed.len(), sent.etag.version()), (1, RepoVersion(0)));
        done(&store, propose("2", "ana", "better")).await;
        done(&store, propose("3", "ben", "other")).await;
        assert!(contents(&store).await.is_empty());
        let open = store.proposals(&repo()).await.unwrap();
        let open: Vec<_> =
            open.iter().map(|p| (p.id, p.content.as_deref().unwrap(), p.author.as_str())).collect();
        assert_eq!(open, [(2, "better", "ana"), (3, "other", "ben")], "a newer one replaces it");
        let admin = person("root");
        let repo = repo();
        let decide = |id, state| store.decide(&repo, id, state, &admin, (at(9), None));
        assert!(decide(1, ReviewState::Accepted).await.unwrap().is_none());
        let accepted = decide(2, ReviewState::Accepted).await.unwrap().unwrap();
        assert_eq!(accepted.decided_by, Some(person("root")));
        decide(3, ReviewState::Rejected).await.unwrap().unwrap();
        assert!(decide(2, ReviewState::Rejected).await.unwrap().is_none(), "decided once");
        assert_eq!(contents(&store).await, [("a.md".into(), Some("better".into()), "ana".into())]);
    });
}

#[test]
fn changes_of_the_server_are_made_once_for_a_key() {
    on_each(|store| async move {
        let root = person("root");
        let key = |name: &str, asked: &str| {
            Some(ChangeKey::new(Some(&repo()), &root, name, asked, at(5)))
        };
        // Settings: a request that arrives again, late, does not undo a newer one.
        let review = |on| SettingsRequest { review: Some(on), switched_off: None };
        store.set_repository(&repo(), &review(true), key("s1", "on")).await.unwrap();
        store.set_repository(&repo(), &review(false), key("s2", "off")).await.unwrap();
        store.set_repository(&repo(), &review(true), key("s1", "on")).await.unwrap();
        // Tokens: the second answer is the only one that counts.
        let made = [TeamToken::generate().unwrap(), TeamToken::generate().unwrap()];
        let new = |token: &TeamToken| NewToken {
            hash: token.hash(),
            person: person("ana"),
            role: TeamRole::Read,
            repository: None,
        };
        for token in &made {
            store.add_token(new(token), at(1), key("t1", "ana")).await.unwrap();
        }
        assert_eq!(store.tokens().await.unwrap().len(), 1);
        assert!(store.access(&made[0].hash(), Some(&repo())).await.unwrap().is_none());
        let access = store.access(&made[1].hash(), Some(&repo())).await.unwrap().unwrap();
        assert!(!access.review);
        let other = store.add_token(new(&made[0]), at(1), key("t1", "ben")).await;
        assert!(matches!(other, Err(StorageError::KeyReused)));
        // Decisions, revoking and purging: the first answer again.
        let name = repo();
        let propose = WriteRequest { as_proposals: true, ..request("1", "ana", &[("a.md", "x")]) };
        done(&store, propose).await;
        let accept =
            || store.decide(&name, 1, ReviewState::Accepted, &root, (at(6), key("d1", "")));
        let first = accept().await.unwrap().unwrap();
        assert_eq!(accept().await.unwrap(), Some(first));
        assert_eq!(contents(&store).await.len(), 1);
        let id = made[1].hash().id();
        for _ in 0..2 {
            assert!(store.revoke_token(&id, at(7), key("r1", &id)).await.unwrap());
            let purged = store.purge(&person("ana"), true, at(8), key("p1", "")).await.unwrap();
            assert_eq!(purged.versions, 1);
        }
        let again = store.add_token(new(&made[0]), at(9), key("t1", "ana")).await;
        assert!(
            matches!(again, Err(StorageError::KeyReused)),
            "a revoked token does not come back"
        );
    });
}

#[test]
fn a_person_can_be_removed_with_what_they_wrote() {
    on_each(|store| async move {
        done(&store, request("1", "ana", &[("a.md", "private"), ("b.md", "private too")])).await;
        done(&store, request("2", "ben", &[("b.md", "ben's")])).await;
        let propose = WriteRequest {
            as_proposals: true,
            ..request("3", "ana", &[("c.md", "private as well")])
        };
        done(&store, propose).await;
        let key = ChangeKey::new(Some(&repo()), &person("root"), "decision", "reject 1", at(3));
        let decision = (at(3), Some(key));
        let root = person("root");
        store.decide(&repo(), 1, ReviewState::Rejected, &root, decision).await.unwrap().unwrap();
        let purged = store.purge(&person("ana"), true, at(3), None).await.unwrap();
        assert_eq!(purged.versions, 2);
        let now = contents(&store).await;
        assert_eq!((now[0].1.as_deref(), now[1].1.as_deref()), (None, Some("ben's")));
        assert!(!store.backup().await.unwrap().contains("private"));
        assert_eq!(store.history(&repo(), &name("b.md")).await.unwrap().len(), 2, "its line stays");
    });
}

#[test]
fn a_backup_restores_everything_as_another_history() {
    on_each(|store| async move {
        let written =
            done(&store, request("1", "ana", &[("a.md", "zeile \"1\"\n零"), ("b.md", "x")])).await;
        let propose = WriteRequest { as_proposals: true, ..request("2", "ben", &[("c.md", "p")]) };
        done(&store, propose).await;
        let backup = store.backup().await.unwrap();
        assert!(matches!(store.restore(backup.clone()).await, Err(StorageError::NotEmpty)));
        let folder = tempfile::tempdir().unwrap();
        let address = DatabaseAddress::File(folder.path().join("other.db"));
        let other = TeamStore::open(&address).await.unwrap();
        let cut = backup.trim_end().strip_suffix('}').unwrap().to_owned();
        assert!(matches!(other.restore(cut).await, Err(StorageError::Backup { .. })));
        other.restore(backup).await.unwrap();
        assert_eq!(contents(&other).await, contents(&store).await);
        assert_eq!(
            other.proposals(&repo()).await.unwrap(),
            store.proposals(&repo()).await.unwrap()
        );
        let restored = other.snapshot(&repo(), Some(&written.etag)).await.unwrap();
        assert!(restored.complete && restored.etag.version() == written.etag.version());
    });
}

#[test]
fn writers_at_once_lose_nothing_and_news_arrives() {
    on_each(|store| async move {
        let mut news = store.changes();
        let write = |number: usize| {
            let text = number.to_string();
            let file = format!("{}.md", number % 3);
            let store = &store;
            async move { done(store, request(&text, "ana", &[(&file, &text)])).await }
        };
        futures_util::future::join_all((0..20).map(write)).await;
        let history: usize = {
            let mut all = 0;
            for file in ["0.md", "1.md", "2.md"] {
                all += store.history(&repo(), &name(file)).await.unwrap().len();
            }
            all
        };
        assert_eq!(history, 20);
        let mut last = RepoVersion(0);
        while last < RepoVersion(20) {
            last = news.recv().await.unwrap().version.max(last);
        }
    });
}

#[test]
fn every_earlier_schema_is_brought_up_to_date() {
    wait(async {
        for version in 0..=MIGRATIONS.len() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("team.db");
            let database = Database::Sqlite(SqliteDatabase::open(&path).unwrap());
            migrate_to(&database, version).await.unwrap();
            drop(database);
            let store = TeamStore::open(&DatabaseAddress::File(path.clone())).await.unwrap();
            done(&store, request("1", "ana", &[("a.md", "one")])).await;
            let sql = "UPDATE schema_version SET version = $1";
            let newer =
                store.database.run(SqlAccess::Write, |db| Box::pin(db.query(sql, values![99])));
            newer.await.unwrap();
            assert!(matches!(
                migrate(&store.database).await,
                Err(StorageError::Newer { found: 99, .. })
            ));
        }
    });
}

#[cfg(not(feature = "postgres"))]
#[test]
fn a_build_without_postgres_says_how_to_get_it() {
    let address: DatabaseAddress = "postgres://team@db.example/team".parse().unwrap();
    let Err(error) = wait(TeamStore::open(&address)) else { panic!("it was opened") };
    assert!(error.to_string().contains("--features postgres"), "{error}");
}

/// T-10, T-15: servers on one database start at once, see each other's changes and hear of them.
#[test]
fn servers_share_a_database() {
    let Some(server) = postgres() else { return };
    wait(async {
        let address = new_database(&server).await;
        let stores =
            futures_util::future::join_all((0..3).map(|_| TeamStore::open(&address))).await;
        let stores: Vec<TeamStore> = stores.into_iter().map(Result::unwrap).collect();
        let mut news: Vec<_> = stores.iter().map(TeamStore::changes).collect();
        // The listeners connect in the background: write until each has heard something.
        for (at, news) in news.iter_mut().enumerate() {
            let heard = async {
                let mut count = 0;
                loop {
                    count += 1;
                    let text = format!("{at} {count}");
                    done(&stores[(at + 1) % 3], request(&text, "ana", &[("a.md", &text)])).await;
                    let pause = tokio::time::sleep(std::time::Duration::from_millis(50));
                    tokio::select! {
                        change = news.recv() => break change.unwrap(),
                        () = pause => {}
                    }
                }
            };
            // For what never comes.
            let hangs = std::time::Duration::from_mins(5);
            let heard = tokio::time::timeout(hangs, heard).await.unwrap();
            assert_eq!(heard.repo, repo());
        }
        let tags = futures_util::future::join_all(
            stores.iter().map(|store| async { store.snapshot(&repo(), None).await.unwrap().etag }),
        );
        let tags = tags.await;
        assert!(tags.iter().all(|tag| *tag == tags[0]), "{tags:?}");
        let write = |number: usize| {
            let (store, text) = (&stores[number % 3], format!("at once {number}"));
            async move { done(store, request(&text, "ana", &[("b.md", &text)])).await }
        };
        futures_util::future::join_all((0..30).map(write)).await;
        assert_eq!(stores[0].history(&repo(), &name("b.md")).await.unwrap().len(), 30);
    });
}
