//! Any stream through both decoders: every block that comes out is whole JSON that reads back the same.
#![no_main]

use dormouse_conversation::Block;
use dormouse_model::{StreamEvent, Wire, decode_recorded};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        for step in decode_recorded(wire, bytes).0 {
            if let StreamEvent::Block(block) = step {
                assert_eq!(Block::from_json(block.raw()).expect("a block is a block"), block);
                // Half a surrogate pair would make every later request invalid; depth and large numbers
                // are no fault of the text.
                if let Err(error) = serde_json::from_str::<serde_json::Value>(block.raw()) {
                    let said = error.to_string();
                    assert!(said.contains("recursion") || said.contains("range"), "{said}: {}", block.raw());
                }
            }
        }
    }
});
