//! Requests that come at once: each gets what it would have got alone.

use futures_util::future::join_all;

use super::error::StorageError;
use super::store_tests::{at, name, on_each, repo, request};
use super::writing::{EntryChange, WriteOutcome, WriteRequest};
use crate::version::RepoVersion;

/// The outcomes of requests that are written together: on one thread, all are waiting before the first is written.
async fn together(
    store: &super::store::TeamStore,
    requests: Vec<WriteRequest>,
) -> Vec<Result<WriteOutcome, StorageError>> {
    join_all(requests.into_iter().map(|request| store.write(request))).await
}

fn version(outcome: &Result<WriteOutcome, StorageError>) -> Option<u64> {
    match outcome {
        Ok(WriteOutcome::Done(response)) => Some(response.etag.version().0),
        Ok(_) | Err(_) => None,
    }
}

#[test]
fn every_request_has_its_own_version_author_and_answer() {
    on_each(|store| async move {
        // More than fit into one transaction.
        let own = |number: usize| {
            let file = format!("{number}.md");
            let who = if number.is_multiple_of(2) { "ana" } else { "ben" };
            WriteRequest {
                most_entries: 1_000,
                ..request(&number.to_string(), who, &[(&file, "text")])
            }
        };
        let mut requests: Vec<WriteRequest> = (0..150).map(own).collect();
        // Sent again while the first is still waiting.
        requests.push(own(7));
        let outcomes = together(&store, requests).await;
        let versions: Vec<_> = outcomes.iter().map(version).collect();
        let (repeated, first) = versions.split_last().unwrap();
        assert_eq!(first, (1..=150).map(Some).collect::<Vec<_>>());
        assert_eq!(repeated, &Some(8));
        let log = store.log(&repo(), 1_000).await.unwrap();
        assert_eq!(log.len(), 150, "a request that is sent again changes nothing");
        assert!(
            log.iter().all(|entry| (entry.author.as_str() == "ana") == (entry.version.0 % 2 == 1))
        );
        assert_eq!(store.snapshot(&repo(), None).await.unwrap().entries.len(), 150);
    });
}

#[test]
fn a_refused_request_holds_up_no_other() {
    on_each(|store| async move {
        let WriteOutcome::Done(start) =
            store.write(request("0", "ana", &[("a.md", "zero")])).await.unwrap()
        else {
            panic!()
        };
        let known = |key, entries| WriteRequest {
            if_match: Some(start.etag.clone()),
            ..request(key, "ben", entries)
        };
        let outcomes = together(
            &store,
            vec![
                known("1", &[("a.md", "one")]),
                // Decided from a version that the one before has replaced, and only in its second entry.
                known("2", &[("x.md", "new"), ("a.md", "two")]),
                // The key of another request.
                known("1", &[("a.md", "other")]),
                WriteRequest { most_entries: 1, ..known("4", &[("b.md", "one more")]) },
                known("5", &[("c.md", "mine")]),
            ],
        )
        .await;
        assert_eq!(version(&outcomes[0]), Some(2));
        assert!(
            matches!(&outcomes[1], Ok(WriteOutcome::OtherVersion(now)) if now.version() == RepoVersion(2))
        );
        assert!(matches!(&outcomes[2], Err(StorageError::KeyReused)));
        assert!(matches!(&outcomes[3], Ok(WriteOutcome::TooManyEntries)));
        assert_eq!(version(&outcomes[4]), Some(3));
        let entries = store.snapshot(&repo(), None).await.unwrap().entries;
        let entries: Vec<_> =
            entries.iter().map(|entry| (entry.name.as_str(), entry.content.as_deref())).collect();
        assert_eq!(entries, [("a.md", Some("one")), ("c.md", Some("mine"))]);
    });
}

#[test]
fn a_request_that_the_database_refuses_takes_no_other_with_it() {
    on_each(|store| async move {
        let twice = WriteRequest {
            changes: ["one", "two"]
                .map(|content| EntryChange::Put { name: name("a.md"), content: content.to_owned() })
                .into(),
            now: at(1),
            ..request("1", "ana", &[])
        };
        let outcomes =
            together(&store, vec![twice, request("2", "ben", &[("b.md", "mine")])]).await;
        assert!(outcomes[0].is_err(), "{:?}", outcomes[0]);
        assert_eq!(version(&outcomes[1]), Some(1));
    });
}

#[test]
fn a_first_write_that_is_refused_leaves_no_repository() {
    on_each(|store| async move {
        let full = WriteRequest { most_entries: 0, ..request("1", "ana", &[("a.md", "x")]) };
        assert!(matches!(store.write(full).await.unwrap(), WriteOutcome::TooManyEntries));
        let empty = store.snapshot(&repo(), None).await.unwrap();
        let first =
            WriteRequest { if_match: Some(empty.etag), ..request("2", "ana", &[("a.md", "x")]) };
        assert_eq!(version(&store.write(first).await), Some(1));
    });
}
