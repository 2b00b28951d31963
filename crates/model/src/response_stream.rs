//! An answer that is coming in: bytes to events to steps, bounded in size and in silence.

use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use dormouse_base::Redactor;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use crate::anthropic::AnthropicDecoder;
use crate::error::ModelError;
use crate::event::StreamEvent;
use crate::openai::OpenAiDecoder;
use crate::sse::{SseDecoder, SseEvent};
use crate::wire_format::WireFormat;

pub(crate) enum Decoder {
    Anthropic(AnthropicDecoder),
    OpenAi(OpenAiDecoder),
}

impl Decoder {
    pub(crate) fn new(wire: WireFormat) -> Self {
        match wire {
            WireFormat::Anthropic => Self::Anthropic(AnthropicDecoder::default()),
            WireFormat::OpenAi => Self::OpenAi(OpenAiDecoder::default()),
        }
    }

    fn take(&mut self, event: &SseEvent) -> Result<Vec<StreamEvent>, ModelError> {
        match self {
            Self::Anthropic(decoder) => decoder.take(event),
            Self::OpenAi(decoder) => decoder.take(event),
        }
    }

    fn end(&mut self) -> Result<Vec<StreamEvent>, ModelError> {
        match self {
            Self::Anthropic(decoder) => decoder.end(),
            Self::OpenAi(decoder) => decoder.end(),
        }
    }
}

/// Decodes a whole stream that was recorded, up to its first error.
pub fn decode_recorded(wire: WireFormat, bytes: &[u8]) -> (Vec<StreamEvent>, Option<ModelError>) {
    let mut decoder = Decoder::new(wire);
    let mut steps = Vec::new();
    let events = match SseDecoder::new().push(bytes) {
        Ok(events) => events,
        Err(error) => return (steps, Some(ModelError::Malformed(error.to_string()))),
    };
    for event in events {
        match decoder.take(&event) {
            Ok(more) => steps.extend(more),
            Err(error) => return (steps, Some(error)),
        }
    }
    match decoder.end() {
        Ok(more) => {
            steps.extend(more);
            (steps, None)
        }
        Err(error) => (steps, Some(error)),
    }
}

/// More calls than this in one answer are no work but a fault.
const MOST_CALLS: usize = 1_000;
/// An answer larger than this is no answer: somebody is filling the memory.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// An answer that is coming in. Dropping it ends the request.
pub struct ResponseStream {
    received: usize,
    calls: usize,
    redactor: Redactor,
    bytes: BoxStream<'static, Result<Bytes, String>>,
    sse: SseDecoder,
    decoder: Decoder,
    ready: VecDeque<StreamEvent>,
    failed: Option<ModelError>,
    ended: bool,
    idle: Duration,
    /// When a part of the answer came last.
    progress: tokio::time::Instant,
    request_id: Option<String>,
}

/// In an event that only says that the server is there.
const PING: &str = "\"type\":\"ping\"";
/// How many times longer than silence a stream may go on with signs of life alone.
const LONGEST_WITHOUT_PROGRESS: u32 = 10;

impl ResponseStream {
    pub(crate) fn new(
        bytes: BoxStream<'static, Result<Bytes, String>>,
        decoder: Decoder,
        idle: Duration,
        request_id: Option<String>,
    ) -> Self {
        Self {
            received: 0,
            calls: 0,
            redactor: Redactor::default(),
            bytes,
            sse: SseDecoder::new(),
            decoder,
            ready: VecDeque::new(),
            failed: None,
            ended: false,
            idle,
            progress: tokio::time::Instant::now(),
            request_id,
        }
    }

    /// Takes these secrets out of every error.
    pub(crate) fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// The server's id of the request.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// The next step; none after the last. After an error nothing more comes.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            // What came whole before an error is handed out first.
            if let Some(event) = self.ready.pop_front() {
                if let Some(error) = self.too_many_calls(&event) {
                    return Some(Err(error));
                }
                self.ended |= matches!(event, StreamEvent::Finished { .. });
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                self.ended = true;
                return Some(Err(error.redacted(&self.redactor)));
            }
            if self.ended {
                return None;
            }
            self.read().await;
        }
    }

    fn too_many_calls(&mut self, event: &StreamEvent) -> Option<ModelError> {
        let StreamEvent::Block(block) = event else { return None };
        self.calls += usize::from(block.as_tool_use().is_some());
        if self.calls <= MOST_CALLS {
            return None;
        }
        self.ended = true;
        self.ready.clear();
        let message = format!("the answer calls more than {MOST_CALLS} tools at once");
        Some(ModelError::InvalidRequest { status: 200, message })
    }

    /// Reads the next bytes and decodes them.
    fn read(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let longest = self.idle.saturating_mul(LONGEST_WITHOUT_PROGRESS);
            let patience = longest.saturating_sub(self.progress.elapsed()).min(self.idle);
            match tokio::time::timeout(patience, self.bytes.next()).await {
                Err(_) if patience < self.idle => self.failed = Some(ModelError::Stalled(longest)),
                Err(_) => self.failed = Some(ModelError::Stalled(self.idle)),
                Ok(None) => self.decode_end(),
                Ok(Some(Err(problem))) => self.failed = Some(ModelError::BrokenStream(problem)),
                Ok(Some(Ok(bytes))) => self.decode(&bytes),
            }
        })
    }

    fn decode(&mut self, bytes: &[u8]) {
        self.received = self.received.saturating_add(bytes.len());
        if self.received > LARGEST_ANSWER {
            let message = format!("the answer does not end: more than {LARGEST_ANSWER} bytes came");
            self.failed = Some(ModelError::InvalidRequest { status: 200, message });
            return;
        }
        let events = match self.sse.push(bytes) {
            Ok(events) => events,
            Err(error) => {
                self.failed = Some(ModelError::Malformed(error.to_string()));
                return;
            }
        };
        for event in events {
            match self.decoder.take(&event) {
                Ok(steps) => {
                    // Parts of a tool's arguments are no steps yet, but progress.
                    if !event.data.contains(PING) {
                        self.progress = tokio::time::Instant::now();
                    }
                    self.ready.extend(steps);
                }
                Err(error) => {
                    self.failed = Some(error);
                    return;
                }
            }
        }
    }

    fn decode_end(&mut self) {
        match self.decoder.end() {
            Ok(steps) => {
                self.ready.extend(steps);
                self.ended = self.ready.is_empty();
            }
            Err(error) => self.failed = Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;
    use crate::wire_format::WireFormat;

    /// A server that says only that it is there does not keep a turn for ever. (On a slow machine it only ends later.)
    #[tokio::test]
    async fn pings_alone_end() {
        let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
        let bytes = futures_util::stream::unfold((), move |()| async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Some((Ok(Bytes::from_static(ping.as_bytes())), ()))
        });
        let decoder = Decoder::new(WireFormat::Anthropic);
        let mut stream =
            ResponseStream::new(bytes.boxed(), decoder, Duration::from_millis(50), None);
        assert!(matches!(stream.next().await, Some(Err(ModelError::Stalled(_)))));
        assert!(stream.next().await.is_none());
    }
}
