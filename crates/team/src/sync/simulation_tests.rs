//! Clients, a server and every order of events: nothing that was not pushed is lost, and all end with the same entries.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::decision::{PushReason, SyncAction, SyncStates, plan};
use crate::checksum::Checksum;
use crate::entry_name::EntryName;

type Entries = BTreeMap<EntryName, Checksum>;

const CLIENTS: usize = 3;
const NAMES: usize = 2;

fn name(index: usize) -> EntryName {
    EntryName::new(&format!("{index}.md")).unwrap()
}

#[derive(Default)]
struct Server {
    version: u64,
    entries: Entries,
    history: BTreeSet<Checksum>,
}

#[derive(Default)]
struct Client {
    local: Entries,
    base: Entries,
    /// The server as it was last fetched; lost in a crash.
    seen: Option<(u64, Entries)>,
}

impl Client {
    fn plan(&self, seen: &Entries) -> BTreeMap<EntryName, SyncAction> {
        let none = Entries::new();
        plan(SyncStates {
            local: &self.local,
            server: seen,
            base: &self.base,
            proposed: &none,
            undecided: &none,
        })
    }

    fn fetch(&mut self, server: &Server) {
        self.seen = Some((server.version, server.entries.clone()));
    }

    /// Pushes the first entry that needs it. A lost response leaves the client as it was.
    fn push(&mut self, server: &mut Server, response_lost: bool) {
        let Some((version, seen)) = self.seen.clone() else { return };
        let is_push = |action: &SyncAction| matches!(action, SyncAction::Push(_));
        let Some((name, _)) = self.plan(&seen).into_iter().find(|(_, action)| is_push(action))
        else {
            return;
        };
        if version != server.version {
            // 412: fetch again.
            self.fetch(server);
            return;
        }
        let content = self.local[&name].clone();
        server.version += 1;
        server.history.insert(content.clone());
        server.entries.insert(name.clone(), content.clone());
        if !response_lost {
            self.base.insert(name.clone(), content.clone());
            let mut seen = seen;
            seen.insert(name, content);
            self.seen = Some((server.version, seen));
        }
    }

    /// Applies what was fetched, entry by entry. What it replaces must be in the server's history.
    fn apply(&mut self, server: &Server) {
        let Some((_, seen)) = self.seen.clone() else { return };
        for (name, action) in self.plan(&seen) {
            match action {
                SyncAction::Push(_) => continue,
                SyncAction::AwaitReview => unreachable!("nothing was proposed"),
                SyncAction::Agree => {}
                SyncAction::Pull(_) | SyncAction::Remove(_) => {
                    let replaced = self.local.remove(&name);
                    assert!(replaced.is_none_or(|content| server.history.contains(&content)));
                    self.local
                        .extend(seen.get(&name).map(|content| (name.clone(), content.clone())));
                }
            }
            self.base.remove(&name);
            self.base.extend(seen.get(&name).map(|content| (name.clone(), content.clone())));
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Edit,
    Delete,
    Fetch,
    Push,
    PushUnanswered,
    Apply,
    DeleteForAll,
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<(Step, usize, usize)>> {
    use Step::{Apply, Crash, Delete, DeleteForAll, Edit, Fetch, Push, PushUnanswered};
    let step = prop::sample::select(vec![
        Edit,
        Edit,
        Delete,
        Fetch,
        Fetch,
        Push,
        Push,
        PushUnanswered,
        Apply,
        Apply,
        DeleteForAll,
        Crash,
    ]);
    prop::collection::vec((step, 0..CLIENTS, 0..NAMES), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn clients_converge_and_lose_nothing(steps in steps()) {
        let mut server = Server::default();
        let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::default()).collect();
        for (count, (step, client, entry)) in steps.into_iter().enumerate() {
            let client = &mut clients[client];
            match step {
                Step::Edit => {
                    let content = Checksum::of(count.to_string().as_bytes());
                    client.local.insert(name(entry), content);
                }
                Step::Delete => {
                    client.local.remove(&name(entry));
                }
                Step::Fetch => client.fetch(&server),
                Step::Push => client.push(&mut server, false),
                Step::PushUnanswered => client.push(&mut server, true),
                Step::Apply => client.apply(&server),
                Step::DeleteForAll => {
                    server.version += 1;
                    server.entries.remove(&name(entry));
                }
                Step::Crash => client.seen = None,
            }
        }
        // One client after the other, twice: the second round has nothing left to push.
        for round in 0..2 {
            for client in &mut clients {
                client.fetch(&server);
                let before = server.version;
                for _ in 0..NAMES {
                    client.push(&mut server, false);
                }
                prop_assert!(round == 0 || server.version == before);
                client.apply(&server);
                prop_assert_eq!(&client.local, &server.entries);
                prop_assert_eq!(&client.base, &server.entries);
                prop_assert!(client.plan(&server.entries).is_empty());
            }
        }
        for client in &clients {
            prop_assert_eq!(&client.local, &server.entries);
        }
    }
}

/// All states of one entry with three contents: what each decision is, in one place.
#[test]
fn every_state_of_an_entry_has_its_decision() {
    let contents = [None, Some("a"), Some("b"), Some("c")];
    let entries = |content: Option<&str>| -> Entries {
        content.map(|content| (name(0), Checksum::of(content.as_bytes()))).into_iter().collect()
    };
    for state in 0..64 {
        let [local, server, base] = [state / 16, state / 4 % 4, state % 4].map(|at| contents[at]);
        let client = Client { local: entries(local), base: entries(base), seen: None };
        let action = client.plan(&entries(server)).remove(&name(0));
        let changed_here = local.is_some() && local != base;
        let changed_there = server != base;
        match action {
            None => assert!(local == server && server == base),
            Some(SyncAction::Agree) => assert!(local == server && server != base),
            Some(SyncAction::Push(PushReason::Added)) => {
                assert!(base.is_none() && server.is_none());
            }
            Some(SyncAction::Push(PushReason::Changed)) => assert!(changed_here && !changed_there),
            Some(SyncAction::Push(PushReason::Conflict { .. })) => {
                assert!(changed_here && changed_there);
            }
            Some(SyncAction::Pull(_)) => assert!(!changed_here && server.is_some()),
            Some(SyncAction::Remove(_)) => assert!(!changed_here && server.is_none()),
            Some(SyncAction::AwaitReview) => unreachable!(),
        }
    }
}

#[test]
fn a_proposal_stays_until_it_is_decided() {
    let one = |content: &str| Entries::from([(name(0), Checksum::of(content.as_bytes()))]);
    let decide = |local: &Entries, server: &Entries, undecided: &Entries| {
        let (base, proposed) = (one("old"), one("mine"));
        let states = SyncStates { local, server, base: &base, proposed: &proposed, undecided };
        plan(states).remove(&name(0))
    };
    let none = Entries::new();
    let (mine, old, new) = (one("mine"), one("old"), one("new"));
    assert_eq!(decide(&mine, &old, &mine), Some(SyncAction::AwaitReview));
    assert_eq!(decide(&mine, &new, &mine), Some(SyncAction::AwaitReview), "no pull replaces it");
    assert_eq!(decide(&mine, &mine, &none), Some(SyncAction::Agree), "accepted");
    assert!(matches!(decide(&mine, &old, &none), Some(SyncAction::Pull(_))), "rejected");
    assert!(
        matches!(decide(&mine, &none, &none), Some(SyncAction::Remove(_))),
        "a new one, rejected"
    );
    let edited = one("edited again");
    assert!(matches!(decide(&edited, &old, &mine), Some(SyncAction::Push(_))));
}
