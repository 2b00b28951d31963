//! Records the figures of requests and calls (L-31): one for each request that went out, whatever its outcome, and one
//! for each call that ended or was denied. It observes and decides nothing.

use std::sync::Arc;
use std::time::Duration;

use dormouse_base::Clock;
use dormouse_conversation::Usage;
use dormouse_conversation::metrics::{
    CacheBreakMetric, ConversationKind, Metric, RequestMetric, RequestOutcome, SessionMetrics,
    ToolMetric,
};
use dormouse_model::{CacheBreak, StreamEvent};
use dormouse_permissions::PermissionVerdict;

use crate::engine::Engine;
use crate::turn_state::TurnEvent;

/// Records the figures of requests.
pub(crate) struct RequestMeter {
    figures: SessionMetrics,
    clock: Arc<dyn Clock>,
    /// The request that waits for its response.
    in_flight: Option<InFlight>,
    /// One that ended; a cache break is found a little later.
    done: Option<RequestMetric>,
}

struct InFlight {
    since: Duration,
    messages: usize,
    usage: Usage,
}

impl RequestMeter {
    pub(crate) fn new(engine: &Engine) -> Self {
        let clock = Arc::clone(&engine.config.services.clock);
        Self { figures: engine.figures.clone(), clock, in_flight: None, done: None }
    }

    /// A request went out.
    pub(crate) fn sent(&mut self, messages: usize) {
        self.in_flight =
            Some(InFlight { since: self.clock.elapsed(), messages, usage: Usage::default() });
    }

    /// Something happened.
    pub(crate) fn event(&mut self, event: &TurnEvent, engine: &Engine) {
        self.flush();
        match event {
            TurnEvent::Stream(StreamEvent::Started { usage, .. }, _) => {
                if let Some(out) = &mut self.in_flight {
                    out.usage = *usage;
                }
            }
            TurnEvent::Stream(StreamEvent::Finished { usage, .. }, _) => {
                self.over(RequestOutcome::Answered, Some(*usage), engine);
            }
            TurnEvent::Failed(error, _) => {
                self.over(RequestOutcome::Failed(error.kind().to_owned()), None, engine);
            }
            TurnEvent::Interrupt => self.over(RequestOutcome::Interrupted, None, engine),
            TurnEvent::Begin
            | TurnEvent::Stream(..)
            | TurnEvent::Retry
            | TurnEvent::WindowFull(_)
            | TurnEvent::Recovered { .. }
            | TurnEvent::RoundCommitted { .. }
            | TurnEvent::ToolDone { .. } => {}
        }
    }

    fn over(&mut self, outcome: RequestOutcome, counted: Option<Usage>, engine: &Engine) {
        let Some(out) = self.in_flight.take() else { return };
        let usage = counted.unwrap_or(out.usage);
        let is_agents = engine.config.is_subagent();
        self.done = Some(RequestMetric {
            model: engine.config.model.name.clone(),
            lane: if is_agents { ConversationKind::Subagent } else { ConversationKind::Main },
            purpose: is_agents.then(|| "agent".to_owned()),
            outcome,
            usage,
            duration_ms: milliseconds(self.clock.elapsed().saturating_sub(out.since)),
            messages: u64::try_from(out.messages).unwrap_or(u64::MAX),
            cost_usd: engine.spending.cost_usd(&usage),
            cache_break: None,
        });
    }

    /// The server read less from its cache than it should have.
    pub(crate) fn broke(&mut self, found: &CacheBreak) {
        if let Some(done) = &mut self.done {
            done.cache_break = Some(CacheBreakMetric {
                cause: found.cause.kind().to_owned(),
                expected: found.expected,
                read: found.read,
            });
        }
    }

    /// Nothing more is to be known about what is over.
    pub(crate) fn flush(&mut self) {
        if let Some(done) = self.done.take() {
            self.figures.record(&Metric::Request(done));
        }
    }
}

/// Records the figure of one call.
pub(crate) struct CallMeter {
    figures: SessionMetrics,
    clock: Arc<dyn Clock>,
    name: String,
    since: Duration,
}

impl CallMeter {
    /// A call begins. A name that no tool has is the model's text, and no part of a figure.
    pub(crate) fn start(engine: &Engine, name: &str) -> Self {
        let known = engine.config.tools.set.get(name).is_some();
        let clock = Arc::clone(&engine.config.services.clock);
        Self {
            figures: engine.figures.clone(),
            name: if known { name } else { "(unknown)" }.to_owned(),
            since: clock.elapsed(),
            clock,
        }
    }

    /// It has its result.
    pub(crate) fn stop(
        self,
        verdict: Option<PermissionVerdict>,
        is_error: bool,
        stored_bytes: u64,
    ) {
        self.figures.record(&Metric::Tool(ToolMetric {
            name: self.name,
            verdict: verdict.map(|verdict| verdict.as_str().to_owned()),
            is_error,
            duration_ms: milliseconds(self.clock.elapsed().saturating_sub(self.since)),
            stored_bytes,
        }));
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
