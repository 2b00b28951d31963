//! Memory during the turns of a session: recall, and counting how the memories in the context helped.

use std::sync::Arc;

use dormouse_conversation::Message;
use dormouse_conversation::metrics::SessionMetrics;

use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::event_sink::EventSink;
use crate::memory_usage::TurnMemoryUsage;
use crate::recall::RecallState;

/// The state of recall and of the counts.
#[derive(Default)]
pub(crate) struct TurnMemory {
    pub(crate) recall: RecallState,
    /// What a turn shows about the memories in its context.
    pub(crate) usage: TurnMemoryUsage,
}

impl TurnMemory {
    /// Begins a turn: the memories in the context by now are from before.
    pub(crate) fn begin_turn(
        &mut self,
        config: &EngineConfig,
        conversation: &Conversation,
        figures: &SessionMetrics,
    ) {
        if let Some(memory) = &config.memory {
            self.usage.count_late_corrections(&memory.access, figures);
        }
        self.recall.catch_up(config, conversation);
        self.usage.begin_turn(self.recall.seen_files());
    }

    /// Observes a message, for the counts at the end of the turn.
    pub(crate) fn observe(&mut self, message: &Message, config: &EngineConfig) {
        if let Some(memory) = &config.memory {
            self.usage.see(message, &config.project.folder, &memory.access);
        }
    }

    /// Counts a turn that has ended.
    pub(crate) async fn count_turn(
        &mut self,
        config: &EngineConfig,
        conversation: &Conversation,
        figures: &SessionMetrics,
        sink: &mut EventSink<'_>,
    ) {
        let Some(memory) = &config.memory else { return };
        self.recall.catch_up(config, conversation);
        let seen = self.recall.seen_files();
        let patience = config.services.deadlines.usage_counts;
        self.usage.count_turn(Arc::clone(&memory.access), seen, figures, patience, sink).await;
    }

    /// Finishes all counts: the session ends.
    pub(crate) async fn end(
        &mut self,
        config: &EngineConfig,
        figures: &SessionMetrics,
        sink: &mut EventSink<'_>,
    ) {
        if let Some(memory) = &config.memory {
            self.usage.count_late_corrections(&memory.access, figures);
        }
        self.usage.finish(config.services.deadlines.last_usage_counts, sink).await;
    }
}
