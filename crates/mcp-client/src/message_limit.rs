//! The limit of a server's messages: a line without an end would use up all memory.
//!
//! Invariant: a line longer than [`MAX_MESSAGE_BYTES`] ends the stream, and that is recorded.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The longest message that is taken from a server, in bytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Whether a message was too long.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageOverflow(Arc<AtomicBool>);

impl MessageOverflow {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn mark(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether one was, and resets it.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    /// The reason for ending the connection.
    pub(crate) fn reason() -> String {
        format!(
            "it sent a message of more than {} MiB, so the connection was ended",
            MAX_MESSAGE_BYTES >> 20
        )
    }
}

/// A stream of lines of bounded length.
pub(crate) struct BoundedLines<R> {
    inner: R,
    /// Bytes of the line so far.
    line: usize,
    most: usize,
    flooded: MessageOverflow,
}

impl<R> BoundedLines<R> {
    pub(crate) fn new(inner: R, flooded: MessageOverflow) -> Self {
        Self { inner, line: 0, most: MAX_MESSAGE_BYTES, flooded }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.flooded.is_set() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        let mut longest = 0;
        for (place, piece) in new.split(|byte| *byte == b'\n').enumerate() {
            self.line = if place == 0 { self.line + piece.len() } else { piece.len() };
            longest = longest.max(self.line);
        }
        if longest > self.most {
            self.flooded.mark();
            buffer.set_filled(before);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    async fn read(text: &str, most: usize) -> (String, bool) {
        let flooded = MessageOverflow::default();
        let mut lines =
            BoundedLines { most, ..BoundedLines::new(text.as_bytes(), flooded.clone()) };
        let mut all = String::new();
        lines.read_to_string(&mut all).await.unwrap();
        (all, flooded.is_set())
    }

    #[tokio::test]
    async fn a_long_line_ends_the_stream() {
        let short = "abc\n".repeat(5_000);
        assert_eq!(read(&short, 3).await, (short, false));
        let (seen, flooded) = read(&format!("ab\n{}", "x".repeat(100_000)), 50_000).await;
        assert!(flooded && seen.len() <= 50_003, "{}", seen.len());
    }
}
