//! Any file loads, and what it holds can be made a valid history.
#![no_main]

use dormouse_conversation::transcript::load;
use dormouse_conversation::{Flags, Message, repair, violations};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let loaded = load(bytes);
    let id = "0193b0a4-0000-7000-8000-000000000000".parse().expect("an id");
    let now = "2026-11-15T08:00:00Z".parse().expect("a time");
    let (messages, _) = repair(loaded.messages, |blocks| Message::user(id, now, blocks, Flags::default()));
    assert_eq!(violations(&messages), Vec::<String>::new());
});
