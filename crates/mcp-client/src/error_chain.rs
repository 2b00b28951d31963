//! The useful part of a chain of errors.

/// The error at the end of the chain: it says what happened, while those above it name types and addresses.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
