//! A summary that the server writes (C-28): one request, the conversation as it is and a field behind it.

use std::sync::Arc;

use dormouse_conversation::Block;
use dormouse_model::is_server_summary;

use super::accounting::SentFork;
use super::source::ForkSource;

impl ForkSource {
    /// Whether the server writes summaries.
    pub(crate) fn has_server_summaries(&self) -> bool {
        self.wire.dialect().server_summaries
    }

    /// The server's summary of these messages: a block that stands in their place. None where it fails: then another way is taken.
    pub(crate) async fn server_summary(
        mut self,
        purpose: &'static str,
        instructions: &str,
    ) -> Option<Block> {
        let clock = Arc::clone(&self.services.clock);
        let since = clock.elapsed();
        let request = self.wire.summary_request(since, instructions);
        let answer = self.model.ask(request.bytes).await;
        let took = clock.elapsed().saturating_sub(since);
        let sent = SentFork { purpose, messages: request.messages, took, is_task: false };
        self.count(&sent, answer.as_ref());
        answer.ok()?.blocks.into_iter().find(is_server_summary)
    }
}
