//! Lines of standard input from another program, read on a thread of their own.

use std::io::BufRead;

use thiserror::Error;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// More than any context window holds.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// A line that is skipped.
#[derive(Debug, Error)]
#[error("the line is longer than {LONGEST_LINE} bytes and was skipped; send less at once")]
pub(crate) struct LineTooLong;

/// What `parse` makes of the lines that are not blank, as they arrive; it gets each with its number, counted from 1. The channel
/// closes at the end of standard input.
pub(crate) fn stdin_lines<T: Send + 'static>(
    parse: impl Fn(usize, Result<Vec<u8>, LineTooLong>) -> Option<T> + Send + 'static,
) -> UnboundedReceiver<T> {
    let (sender, receiver) = unbounded_channel();
    // It may block in a read until the program ends.
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut number = 0;
        while let Some(line) = next_line(&mut input) {
            number += 1;
            if line.as_ref().is_ok_and(|line| line.iter().all(u8::is_ascii_whitespace)) {
                continue;
            }
            if let Some(parsed) = parse(number, line)
                && sender.send(parsed).is_err()
            {
                return;
            }
        }
    });
    receiver
}

/// The next line; none at the end. A line that is too long is skipped.
fn next_line(input: &mut impl BufRead) -> Option<Result<Vec<u8>, LineTooLong>> {
    let mut line = Vec::new();
    match std::io::Read::take(&mut *input, LONGEST_LINE).read_until(b'\n', &mut line) {
        // Standard input that can no longer be read has ended.
        Ok(0) | Err(_) => None,
        Ok(length) if length as u64 == LONGEST_LINE && line.last() != Some(&b'\n') => {
            input.skip_until(b'\n').ok()?;
            Some(Err(LineTooLong))
        }
        Ok(_) => Some(Ok(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let mut text = vec![b'x'; usize::try_from(LONGEST_LINE).unwrap() + 10];
        text.extend_from_slice(b"\nnext\n");
        let mut input = std::io::BufReader::new(text.as_slice());
        assert!(next_line(&mut input).unwrap().is_err());
        assert_eq!(next_line(&mut input).unwrap().unwrap(), b"next\n");
        assert!(next_line(&mut input).is_none());
    }
}
