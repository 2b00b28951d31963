//! Remembers and recalls, with nothing but this crate: no agent, no server, no async.
//!
//!     cargo run -p dormouse-memory --example remember -- FOLDER "which database do the tests use?"

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Clock, SystemClock};
use dormouse_memory::recall::{MemoryQuery, MemorySearch};
use dormouse_memory::{ChangeAuthor, ChangeOrigin, NewMemory, Scope, Store, StoreOptions};

/// Opens the memories in a folder, saves what is missing, and answers with the memories that help, best first.
fn answer(folder: &Path, question: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let clock = Arc::new(SystemClock::default());
    // Texts with secrets are refused by the scan that is passed in; this one finds none.
    let options = StoreOptions::new(Scope::Project, |_| Vec::new(), clock.clone());
    let store = Store::open(&folder.join("memory"), &folder.join("state"), options)?;
    for (name, description, body) in [
        (
            "Test database",
            "how integration tests reach a database",
            "They use PostgreSQL on port 5433.",
        ),
        ("Deploys", "when and how we deploy", "From main, never on a Friday."),
    ] {
        let by = ChangeOrigin::new(ChangeAuthor::User, "the example");
        if !store
            .dir()
            .path()
            .join(format!("{}.md", name.to_lowercase().replace(' ', "-")))
            .exists()
        {
            store.change(&by, |plan| {
                plan.save(&NewMemory::new(name, description, body)).map(drop)
            })?;
        }
    }
    let search = MemorySearch::open(vec![Arc::new(store)], None);
    let found = search.search(&MemoryQuery::new(question, 3, clock.now()))?;
    let line = |hit: &dormouse_memory::recall::MemoryHit| {
        format!("{} ({:?}, {:.0} %)", hit.memory.file, hit.tier, hit.confidence * 100.0)
    };
    Ok(found.hits.iter().map(line).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(question)) = (arguments.next(), arguments.next()) else {
        return Err("usage: remember FOLDER QUESTION".into());
    };
    for line in answer(Path::new(&folder), &question)? {
        println!("{line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_helps_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let found = answer(folder.path(), "which database do the integration tests use?").unwrap();
        assert!(found.first().unwrap().starts_with("test-database.md"), "{found:?}");
        // A second run finds the memories of the first.
        assert_eq!(answer(folder.path(), "when do we deploy?").unwrap().len(), 1);
    }
}
