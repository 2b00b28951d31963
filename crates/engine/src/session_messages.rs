//! The seam for what comes to a conversation from outside while it goes on: results of agents, messages. It is told
//! with the next tool round, in front of the next prompt, or when the model would stop.
//!
//! Invariant: what tells it and its id are one line of the transcript. So whoever sent it sees there whether it has
//! arrived, and a crash neither loses it nor brings it twice.

use dormouse_conversation::transcript::MessageHeader;
use dormouse_conversation::{Block, Message, MessageFlags};
use futures_util::future::{BoxFuture, join_all, ready};
use tokio_util::sync::CancellationToken;

use crate::{Engine, EngineError, EngineEvent};

/// Brings something to a conversation.
pub trait MessageSource: Send + Sync {
    /// What has come since this was last asked, in order.
    fn take(&self) -> Vec<IncomingMessage>;

    /// Waits until something has come, as long as something is under way; at once where nothing is.
    fn under_way(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}

/// Something that has come.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingMessage {
    /// What it is known by to whoever sent it.
    pub id: String,
    /// What the model reads.
    pub block: Block,
    /// What the person sees, in a line.
    pub shown: String,
}

impl Engine {
    /// What has come and was not told yet; gives what is new to the person.
    pub fn receive(&mut self) -> Vec<String> {
        let new: Vec<IncomingMessage> = self.all_incoming().flat_map(MessageSource::take).collect();
        let shown = new.iter().map(|arrival| arrival.shown.clone());
        let notices = self.hooks.iter().flat_map(|hooks| hooks.take_notices());
        let shown = shown.chain(notices).collect();
        self.arrivals.extend(new);
        shown
    }

    /// Whatever brings something: what the set-up has, and hooks that run beside.
    fn all_incoming(&self) -> impl Iterator<Item = &dyn MessageSource> {
        let hooks = self.hooks.iter().map(|hooks| &**hooks as &dyn MessageSource);
        self.config.message_sources.iter().map(|incoming| &**incoming).chain(hooks)
    }

    fn receive_and_show(&mut self, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        self.receive().into_iter().for_each(|said| sink(EngineEvent::Notice(said)));
    }

    /// Tells it in a message of its own; whether there was anything.
    pub(crate) fn tell_arrivals(
        &mut self,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<bool, EngineError> {
        self.receive_and_show(sink);
        if self.arrivals.is_empty() {
            return Ok(false);
        }
        let blocks = self.arrivals.iter().map(|arrival| arrival.block.clone()).collect();
        let flags = MessageFlags { meta: true, ..MessageFlags::default() };
        let message = Message::user(self.new_id(), self.config.clock.now(), blocks, flags);
        let ids: Vec<String> = self.arrivals.iter().map(|arrival| arrival.id.clone()).collect();
        self.transcript.record_incoming(MessageHeader::of(&message), &message.blocks, &ids)?;
        self.arrivals.clear();
        self.commit(message)?;
        Ok(true)
    }

    /// Tells it behind the results of a tool round.
    pub(crate) fn add_arrivals(
        &mut self,
        author: MessageHeader<'_>,
        blocks: &mut Vec<Block>,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<(), EngineError> {
        self.receive_and_show(sink);
        while let Some(arrival) = self.arrivals.first() {
            let ids = [arrival.id.clone()];
            let block = std::slice::from_ref(&arrival.block);
            self.transcript.record_incoming(author, block, &ids)?;
            let told = self.arrivals.remove(0);
            blocks.push(told.block.clone());
            self.telling.push(told);
        }
        Ok(())
    }

    /// What was told behind results that are withdrawn was not told.
    pub(crate) fn tell_again(&mut self) {
        let again = std::mem::take(&mut self.telling);
        self.arrivals.splice(..0, again);
    }

    /// Waits for what is under way, where nobody else would: a headless run ends with its answer, and an agent too.
    pub(crate) async fn await_incoming(&self, interrupt: &CancellationToken) {
        if self.config.confirmer.is_some() && self.config.subagent.is_none() {
            return;
        }
        let all = self.all_incoming().map(MessageSource::under_way);
        tokio::select! {
            biased;
            () = interrupt.cancelled() => {}
            _ = join_all(all) => {}
        }
    }
}
