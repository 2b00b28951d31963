//! Messages inside this process: a room for each agent, where they wait in order until it takes them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Clock, IdSource, MessageId};
use thiserror::Error;
use tokio::sync::Notify;

use super::{AgentName, OutgoingMessage, SentMessage};

/// The agents of this process, by name. Clones are the same router.
#[derive(Clone)]
pub struct MessageRouter {
    rooms: Arc<Mutex<BTreeMap<AgentName, QueuedMessages>>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

#[derive(Default)]
struct QueuedMessages {
    messages: VecDeque<SentMessage>,
    /// How many ever came.
    count: u64,
    notify: Arc<Notify>,
}

/// Another agent has the name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("an agent of this process is called `{0}` already; choose another name")]
pub struct NameTakenError(pub AgentName);

impl MessageRouter {
    /// One without rooms.
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        Self { rooms: Arc::default(), clock, ids }
    }

    /// Opens a room under a name, for as long as it is kept.
    pub fn open(&self, name: &AgentName) -> Result<AgentMessageQueue, NameTakenError> {
        let mut rooms = self.rooms();
        if rooms.contains_key(name) {
            return Err(NameTakenError(name.clone()));
        }
        let waiting = QueuedMessages::default();
        let notify = Arc::clone(&waiting.notify);
        rooms.insert(name.clone(), waiting);
        Ok(AgentMessageQueue { router: self.clone(), name: name.clone(), notify })
    }

    /// Who is here.
    pub fn names(&self) -> Vec<AgentName> {
        self.rooms().keys().cloned().collect()
    }

    /// Puts a message into the room of an agent; nothing if there is none of that name.
    pub fn send(&self, to: &AgentName, draft: OutgoingMessage) -> Option<MessageId> {
        let mut rooms = self.rooms();
        let waiting = rooms.get_mut(to)?;
        Some(self.put(waiting, draft))
    }

    /// The same for all rooms but the sender's; whose they are.
    pub fn send_to_all(&self, draft: &OutgoingMessage) -> Vec<AgentName> {
        let mut rooms = self.rooms();
        let others = rooms.iter_mut().filter(|(name, _)| **name != draft.from);
        others
            .map(|(name, waiting)| {
                self.put(waiting, draft.clone());
                name.clone()
            })
            .collect()
    }

    fn put(&self, waiting: &mut QueuedMessages, draft: OutgoingMessage) -> MessageId {
        waiting.count += 1;
        let id = MessageId::generate(&*self.ids);
        waiting.messages.push_back(SentMessage {
            id,
            seq: waiting.count,
            at: self.clock.now(),
            draft,
        });
        waiting.notify.notify_one();
        id
    }

    fn rooms(&self) -> MutexGuard<'_, BTreeMap<AgentName, QueuedMessages>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an agent's messages wait. Closed when it is dropped; what waits then is lost with the agent.
pub struct AgentMessageQueue {
    router: MessageRouter,
    name: AgentName,
    notify: Arc<Notify>,
}

impl AgentMessageQueue {
    /// Whose it is.
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// Takes what has come, in order.
    pub fn take_messages(&self) -> Vec<SentMessage> {
        let mut rooms = self.router.rooms();
        rooms
            .get_mut(&self.name)
            .map(|waiting| waiting.messages.drain(..).collect())
            .unwrap_or_default()
    }

    /// Comes back when something has come since it was last taken: for an agent that has nothing else to do.
    pub async fn wait(&self) {
        while self.is_empty() {
            self.notify.notified().await;
        }
    }

    fn is_empty(&self) -> bool {
        self.router.rooms().get(&self.name).is_none_or(|waiting| waiting.messages.is_empty())
    }
}

impl Drop for AgentMessageQueue {
    fn drop(&mut self) {
        self.router.rooms().remove(&self.name);
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

    fn texts(room: &AgentMessageQueue) -> Vec<String> {
        let text = |message: SentMessage| match message.draft.content {
            MessageContent::Text { text, .. } => text.to_string(),
            other => panic!("{other:?}"),
        };
        room.take_messages().into_iter().map(text).collect()
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
    async fn who_waits_is_woken() {
        let router = router();
        let room = router.open(&name("a")).unwrap();
        let send = async { router.send(&name("a"), draft("b", "1")) };
        tokio::join!(room.wait(), send);
        assert_eq!(texts(&room), ["1"]);
    }
}
