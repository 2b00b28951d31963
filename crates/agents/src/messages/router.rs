//! Messages within this process: a queue for each agent.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Clock, IdSource, MessageId};
use thiserror::Error;
use tokio::sync::Notify;

use super::{AgentName, OutgoingMessage, SentMessage};

/// The message queues of this process by agent name. Clones share the queues.
#[derive(Clone)]
pub struct MessageRouter {
    queues: Arc<Mutex<BTreeMap<AgentName, QueuedMessages>>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

#[derive(Default)]
struct QueuedMessages {
    messages: VecDeque<SentMessage>,
    /// The number of messages ever added.
    count: u64,
    notify: Arc<Notify>,
}

/// The name is used by another agent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the name `{0}` is already used in this process; choose another name")]
pub struct NameTakenError(pub AgentName);

impl MessageRouter {
    /// Creates a router without queues.
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        Self { queues: Arc::default(), clock, ids }
    }

    /// Opens a queue. It closes when dropped.
    pub fn open(&self, name: &AgentName) -> Result<AgentMessageQueue, NameTakenError> {
        let mut queues = self.queues();
        if queues.contains_key(name) {
            return Err(NameTakenError(name.clone()));
        }
        let queued = QueuedMessages::default();
        let notify = Arc::clone(&queued.notify);
        queues.insert(name.clone(), queued);
        Ok(AgentMessageQueue { router: self.clone(), name: name.clone(), notify })
    }

    /// Returns the names of all queues.
    pub fn names(&self) -> Vec<AgentName> {
        self.queues().keys().cloned().collect()
    }

    /// Adds a message to the queue of an agent. Returns `None` if there is no such agent.
    pub fn send(&self, to: &AgentName, draft: OutgoingMessage) -> Option<MessageId> {
        let mut queues = self.queues();
        let queued = queues.get_mut(to)?;
        Some(self.put(queued, draft))
    }

    /// Adds a message to all queues except the sender's. Returns their names.
    pub fn send_to_all(&self, draft: &OutgoingMessage) -> Vec<AgentName> {
        let mut queues = self.queues();
        let others = queues.iter_mut().filter(|(name, _)| **name != draft.from);
        others
            .map(|(name, queued)| {
                self.put(queued, draft.clone());
                name.clone()
            })
            .collect()
    }

    fn put(&self, queued: &mut QueuedMessages, draft: OutgoingMessage) -> MessageId {
        queued.count += 1;
        let id = MessageId::generate(&*self.ids);
        queued.messages.push_back(SentMessage {
            id,
            seq: queued.count,
            at: self.clock.now(),
            draft,
        });
        queued.notify.notify_one();
        id
    }

    fn queues(&self) -> MutexGuard<'_, BTreeMap<AgentName, QueuedMessages>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The message queue of an agent. Messages left when it is dropped are lost.
pub struct AgentMessageQueue {
    router: MessageRouter,
    name: AgentName,
    notify: Arc<Notify>,
}

impl AgentMessageQueue {
    /// The agent's name.
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// Takes all messages in order.
    pub fn take_messages(&self) -> Vec<SentMessage> {
        let mut queues = self.router.queues();
        queues
            .get_mut(&self.name)
            .map(|queued| queued.messages.drain(..).collect())
            .unwrap_or_default()
    }

    /// Waits until there is a message.
    pub async fn wait(&self) {
        while self.is_empty() {
            self.notify.notified().await;
        }
    }

    fn is_empty(&self) -> bool {
        self.router.queues().get(&self.name).is_none_or(|queued| queued.messages.is_empty())
    }
}

impl Drop for AgentMessageQueue {
    fn drop(&mut self) {
        self.router.queues().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use dormouse_base::{RandomIds, SystemClock};

    use super::super::{MessageContent, MessageSummary, MessageText, SenderReachability};
    use super::*;

    fn name(text: &str) -> AgentName {
        AgentName::new(text).unwrap()
    }

    fn draft(from: &str, text: &str) -> OutgoingMessage {
        let summary = MessageSummary::new("one two three four five").unwrap();
        let content = MessageContent::Text { summary, text: MessageText::new(text).unwrap() };
        OutgoingMessage {
            from: name(from),
            reply_to: None,
            reach: SenderReachability::Answerable,
            content,
        }
    }

    fn router() -> MessageRouter {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        MessageRouter::new(Arc::clone(&clock), Arc::new(RandomIds::new(clock)))
    }

    fn texts(queue: &AgentMessageQueue) -> Vec<String> {
        let text = |message: SentMessage| match message.draft.content {
            MessageContent::Text { text, .. } => text.to_string(),
            other => panic!("{other:?}"),
        };
        queue.take_messages().into_iter().map(text).collect()
    }

    #[test]
    fn messages_wait_in_order_and_are_taken_once() {
        let router = router();
        let (a, b) = (router.open(&name("a")).unwrap(), router.open(&name("b")).unwrap());
        assert_eq!(router.open(&name("A")).err(), Some(NameTakenError(name("a"))));
        assert!(router.send(&name("b"), draft("a", "1")).is_some());
        assert_eq!(router.send_to_all(&draft("a", "2")), [name("b")]);
        assert!(router.send(&name("b"), draft("b", "to myself")).is_some());
        assert_eq!(texts(&b), ["1", "2", "to myself"]);
        assert!(texts(&b).is_empty() && texts(&a).is_empty());
        assert!(router.send(&name("c"), draft("a", "x")).is_none());
        drop(b);
        assert!(router.send(&name("b"), draft("a", "x")).is_none());
        assert_eq!(router.names(), [name("a")]);
    }

    #[tokio::test]
    async fn wait_returns_on_a_message() {
        let router = router();
        let queue = router.open(&name("a")).unwrap();
        let send = async { router.send(&name("a"), draft("b", "1")) };
        tokio::join!(queue.wait(), send);
        assert_eq!(texts(&queue), ["1"]);
    }
}
