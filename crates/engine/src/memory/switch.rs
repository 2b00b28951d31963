//! Memory on or off for a session: `/memory on` and `/memory off`.

use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_tools::ToolError;

/// For the model, when the user has turned memory off.
pub(super) const OFF: &str = "the user has turned memory off for this session; do not try again";

/// Whether a session reads and writes memory. It is on at first. What is in the context already stays there.
#[derive(Debug, Default)]
pub struct MemorySwitch {
    is_off: AtomicBool,
}

impl MemorySwitch {
    /// Turns memory on or off, from now on.
    pub fn set(&self, is_on: bool) {
        self.is_off.store(!is_on, Ordering::Relaxed);
    }

    /// Whether memory is read and written.
    pub fn is_on(&self) -> bool {
        !self.is_off.load(Ordering::Relaxed)
    }

    /// Refuses a call of a memory tool while memory is off.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.is_on() { Ok(()) } else { Err(ToolError::Failed { message: OFF.to_owned() }) }
    }
}
