//! Any text as a rule: head, patterns and markdown are read, and nothing is added to the text.
#![no_main]

use dormouse_instructions::read_rule_for_fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (_, cleaned, mentions) = read_rule_for_fuzzing(text);
    assert!(cleaned.len() <= text.len());
    assert!(mentions.iter().all(|path| !path.is_empty()));
});
