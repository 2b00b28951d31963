//! Any text: findings are in order, apart, and on characters; redacting keeps everything else.
#![no_main]

use dormouse_secrets::{redact, scan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let findings = scan(text);
    let mut end = 0;
    let mut kept = 0;
    for finding in &findings {
        assert!(finding.span.start >= end && text.get(finding.span.clone()).is_some());
        kept += finding.span.start - end;
        end = finding.span.end;
    }
    let (clean, again) = redact(text);
    assert_eq!(findings, again);
    assert!(clean.len() >= kept + text.len() - end);
});
