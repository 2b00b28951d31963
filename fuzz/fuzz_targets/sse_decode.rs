//! Any bytes, whole and one at a time: the same events, no panic.
#![no_main]

use dormouse_model::SseDecoder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = SseDecoder::new().push(bytes);
    let mut decoder = SseDecoder::new();
    let mut single = Ok(Vec::new());
    for byte in bytes {
        match (decoder.push(std::slice::from_ref(byte)), &mut single) {
            (Ok(events), Ok(all)) => all.extend(events),
            (Err(error), _) => {
                single = Err(error);
                break;
            }
            (Ok(_), Err(_)) => break,
        }
    }
    assert_eq!(whole, single);
});
