//! Messages inside this process: a room for each agent, where they wait in order until it takes them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Clock, IdSource, MessageId};
use thiserror::Error;
use tokio::sync::Notify;

use super::{AgentName, Draft, Message};

/// The agents of this process, by name. Clones are the same office.
#[derive(Clone)]
pub struct PostOffice {
    rooms: Arc<Mutex<BTreeMap<AgentName, Waiting>>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Message>,
    /// How many ever came.
    count: u64,
    bell: Arc<Notify>,
}

/// Another agent has the name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("an agent of this process is called `{0}` already; choose another name")]
pub struct NameTaken(pub AgentName);

impl PostOffice {
    /// One without rooms.
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        Self { rooms: Arc::default(), clock, ids }
    }

    /// Opens a room under a name, for as long as it is kept.
    pub fn open(&self, name: &AgentName) -> Result<Room, NameTaken> {
        let mut rooms = self.rooms();
        if rooms.contains_key(name) {
            return Err(NameTaken(name.clone()));
        }
        let waiting = Waiting::default();
        let bell = Arc::clone(&waiting.bell);
        rooms.insert(name.clone(), waiting);
        Ok(Room { office: self.clone(), name: name.clone(), bell })
    }

    /// Who is here.
    pub fn names(&self) -> Vec<AgentName> {
        self.rooms().keys().cloned().collect()
    }

    /// Puts a message into the room of an agent; nothing if there is none of that name.
    pub fn send(&self, to: &AgentName, draft: Draft) -> Option<MessageId> {
        let mut rooms = self.rooms();
        let waiting = rooms.get_mut(to)?;
        Some(self.put(waiting, draft))
    }

    /// The same for all rooms but the sender's; whose they are.
    pub fn send_to_all(&self, draft: &Draft) -> Vec<AgentName> {
        let mut rooms = self.rooms();
        let others = rooms.iter_mut().filter(|(name, _)| **name != draft.from);
        others
            .map(|(name, waiting)| {
                self.put(waiting, draft.clone());
                name.clone()
            })
            .collect()
    }

    fn put(&self, waiting: &mut Waiting, draft: Draft) -> MessageId {
        waiting.count += 1;
        let id = MessageId::generate(&*self.ids);
        waiting.messages.push_back(Message { id, seq: waiting.count, at: self.clock.now(), draft });
        waiting.bell.notify_one();
        id
    }

    fn rooms(&self) -> MutexGuard<'_, BTreeMap<AgentName, Waiting>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an agent's messages wait. Closed when it is dropped; what waits then is lost with the agent.
pub struct Room {
    office: PostOffice,
    name: AgentName,
    bell: Arc<Notify>,
}

impl Room {
    /// Whose it is.
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// Takes what has come, in order.
    pub fn take_messages(&self) -> Vec<Message> {
        let mut rooms = self.office.rooms();
        rooms
            .get_mut(&self.name)
            .map(|waiting| waiting.messages.drain(..).collect())
            .unwrap_or_default()
    }

    /// Comes back when something has come since it was last taken: for an agent that has nothing else to do.
    pub async fn wait(&self) {
        while self.is_empty() {
            self.bell.notified().await;
        }
    }

    fn is_empty(&self) -> bool {
        self.office.rooms().get(&self.name).is_none_or(|waiting| waiting.messages.is_empty())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.office.rooms().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use dormouse_base::{RandomIds, SystemClock};

    use super::super::{Content, Reach, Summary, Words};
    use super::*;

    fn name(text: &str) -> AgentName {
        AgentName::new(text).unwrap()
    }

    fn draft(from: &str, text: &str) -> Draft {
        let summary = Summary::new("one two three four five").unwrap();
        let content = Content::Text { summary, text: Words::new(text).unwrap() };
        Draft { from: name(from), reply_to: None, reach: Reach::Answerable, content }
    }

    fn office() -> PostOffice {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        PostOffice::new(Arc::clone(&clock), Arc::new(RandomIds::new(clock)))
    }

    fn texts(room: &Room) -> Vec<String> {
        let text = |message: Message| match message.draft.content {
            Content::Text { text, .. } => text.to_string(),
            other => panic!("{other:?}"),
        };
        room.take_messages().into_iter().map(text).collect()
    }

    #[test]
    fn messages_wait_in_order_and_are_taken_once() {
        let office = office();
        let (a, b) = (office.open(&name("a")).unwrap(), office.open(&name("b")).unwrap());
        assert_eq!(office.open(&name("A")).err(), Some(NameTaken(name("a"))));
        assert!(office.send(&name("b"), draft("a", "1")).is_some());
        assert_eq!(office.send_to_all(&draft("a", "2")), [name("b")]);
        assert!(office.send(&name("b"), draft("b", "to myself")).is_some());
        assert_eq!(texts(&b), ["1", "2", "to myself"]);
        assert!(texts(&b).is_empty() && texts(&a).is_empty());
        assert!(office.send(&name("c"), draft("a", "x")).is_none());
        drop(b);
        assert!(office.send(&name("b"), draft("a", "x")).is_none());
        assert_eq!(office.names(), [name("a")]);
    }

    #[tokio::test]
    async fn who_waits_is_woken() {
        let office = office();
        let room = office.open(&name("a")).unwrap();
        let send = async { office.send(&name("a"), draft("b", "1")) };
        tokio::join!(room.wait(), send);
        assert_eq!(texts(&room), ["1"]);
    }
}
