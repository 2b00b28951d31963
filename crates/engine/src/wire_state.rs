//! The bytes of a conversation as its server has seen them, and the next request made of them.
//!
//! Invariant: bytes that were sent are never rewritten, except by [`WireState::rebuild`], which announces it. The main
//! conversation and every fork send through this type, so a fork shares its parent's bytes.

use std::sync::Arc;
use std::time::Duration;

use dormouse_context::{TurnShape, plan_breakpoints};
use dormouse_conversation::{Block, Message, Prefix, RequestOptions};
use dormouse_model::{BreakDetector, Dialect, RebuildReason, SentRequest, WireBody};

/// The bytes of a conversation, and where its cache breakpoints are.
#[derive(Clone)]
pub(crate) struct WireState {
    body: WireBody,
    prefix: Arc<Prefix>,
    dialect: Dialect,
    options: RequestOptions,
    /// The newest cache breakpoint of the last request that was answered.
    last_breakpoint: Option<usize>,
}

/// A request, ready to be sent.
pub(crate) struct OutgoingRequest {
    pub(crate) bytes: Vec<u8>,
    /// What the detector of cache breaks compares the usage with.
    pub(crate) sent: SentRequest,
    /// Its newest cache breakpoint, in the server's cache once the server has answered.
    pub(crate) breakpoint: Option<usize>,
    pub(crate) messages: usize,
}

impl WireState {
    pub(crate) fn new(prefix: Arc<Prefix>, dialect: Dialect, options: RequestOptions) -> Self {
        let body = WireBody::new(dialect.clone(), &prefix, &options);
        Self { body, prefix, dialect, options, last_breakpoint: None }
    }

    pub(crate) fn with_messages<'a>(
        mut self,
        messages: impl IntoIterator<Item = &'a Message>,
    ) -> Self {
        messages.into_iter().for_each(|message| self.body.append(message));
        self
    }

    /// The same prefix without messages.
    pub(crate) fn without_messages(&self) -> Self {
        Self::new(Arc::clone(&self.prefix), self.dialect.clone(), self.options.clone())
    }

    /// The same prefix for another model, without messages.
    pub(crate) fn for_model(&self, options: RequestOptions) -> Self {
        Self::new(Arc::clone(&self.prefix), self.dialect.clone(), options)
    }

    pub(crate) fn prefix(&self) -> &Arc<Prefix> {
        &self.prefix
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(crate) fn options(&self) -> &RequestOptions {
        &self.options
    }

    pub(crate) fn reserve(&mut self, messages: &[Arc<Message>]) {
        self.body.reserve(messages);
    }

    pub(crate) fn append(&mut self, message: &Message) {
        self.body.append(message);
    }

    /// Puts the cache breakpoint of the newest turn in front of its last block: what precedes it is shared with other
    /// forks.
    pub(crate) fn share_before(&mut self, last: &Block) {
        self.body.share_before(last);
    }

    /// Everything so far as one request, with its cache breakpoints. From here on these bytes only grow.
    pub(crate) fn next_request(&mut self, now: Duration) -> OutgoingRequest {
        let shapes: Vec<TurnShape> = self
            .body
            .turns()
            .iter()
            .map(|turn| TurnShape { role: turn.role, can_be_marked: turn.can_be_marked() })
            .collect();
        let breakpoints = plan_breakpoints(&shapes, self.last_breakpoint);
        OutgoingRequest {
            bytes: self.body.render(&breakpoints),
            sent: self.body.mark_sent(now),
            breakpoint: breakpoints.last().copied(),
            messages: shapes.len(),
        }
    }

    /// Everything so far as one request for a summary by the server.
    pub(crate) fn summary_request(&mut self, now: Duration, instructions: &str) -> OutgoingRequest {
        let request = self.next_request(now);
        let marked: Vec<usize> = request.breakpoint.into_iter().collect();
        OutgoingRequest { bytes: self.body.render_for_summary(&marked, instructions), ..request }
    }

    /// The server has answered a request: its breakpoint is in the cache now.
    pub(crate) fn confirm(&mut self, breakpoint: Option<usize>) {
        self.last_breakpoint = breakpoint.or(self.last_breakpoint);
    }

    /// Continues what an earlier process sent, up to the last response. None where nothing was answered yet.
    pub(crate) fn mark_answered_as_sent(&mut self, at: Duration) -> Option<SentRequest> {
        let (sent, breakpoint) = self.body.mark_answered_as_sent(at)?;
        self.last_breakpoint = Some(breakpoint);
        Some(sent)
    }

    /// Writes all bytes again: the announced way to change what was sent.
    pub(crate) fn rebuild<'a>(
        &mut self,
        reason: &str,
        detector: &mut BreakDetector,
        messages: impl IntoIterator<Item = &'a Message>,
    ) {
        self.body.rebuild(
            RebuildReason::new(reason),
            detector,
            self.dialect.clone(),
            &self.prefix,
            &self.options,
            messages,
        );
        self.last_breakpoint = None;
    }

    /// Takes another prefix, which counts with the next rebuild.
    pub(crate) fn set_prefix(&mut self, prefix: Arc<Prefix>) {
        self.prefix = prefix;
    }

    /// Takes another server and model, which count with the next rebuild.
    pub(crate) fn set_server(&mut self, dialect: Dialect, options: RequestOptions) {
        self.dialect = dialect;
        self.options = options;
    }
}
