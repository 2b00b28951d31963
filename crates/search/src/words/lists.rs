//! Reading all lists of words ahead of need.

use std::sync::{LazyLock, Once};
use std::thread;

use super::common::{COMMON, REQUEST};
use super::form::PRESENTATION_WORDS;
use super::related::RELATED;
use super::wording::MessageWording;
use super::work::WORK;

/// Starts reading the lists of words on a thread, once: the first query would wait for their stems otherwise, and before
/// it an index is read.
pub fn start_reading_lists() {
    static STARTED: Once = Once::new();
    let read = || {
        LazyLock::force(&REQUEST);
        LazyLock::force(&COMMON);
        LazyLock::force(&RELATED);
        LazyLock::force(&WORK);
        LazyLock::force(&PRESENTATION_WORDS);
        MessageWording::shipped();
        super::standing::start_reading();
    };
    // Without a thread the first query reads them.
    STARTED.call_once(|| drop(thread::Builder::new().spawn(read)));
}
