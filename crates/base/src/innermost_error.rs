//! The useful part of a chain of errors.

use std::error::Error;

/// The error at the end of the chain: it says what happened, while those above it name types and addresses.
pub fn innermost_error<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner
}
