//! Named sessions (`--name`): a mailbox and socket for messages of other sessions and programs.

use std::sync::Arc;

use dormouse_agents::messages::{
    Address, AgentName, MailboxReader, Mailboxes, MessageRouter, SessionSocket, SocketFolder,
};
use dormouse_agents::{MessageRouting, SubagentRegistry, SubagentSpawner, new_spawner};
use dormouse_base::{Dir, SessionId};
use dormouse_engine::{IncomingMessageSource, OpenedSession, SessionFolder};

use crate::args::Arguments;
use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::world::World;

/// A session name with its mailbox and socket.
pub(crate) struct NamedSession {
    reader: Arc<MailboxReader>,
    socket: Option<SessionSocket>,
}

impl NamedSession {
    /// Opens the mailbox of `--name`, if given.
    pub(crate) fn from_arguments(
        arguments: &Arguments,
        world: &World,
        folder: &SessionFolder,
        opened: Option<&OpenedSession>,
    ) -> Result<Option<Self>, Failure> {
        let Some(name) = &arguments.name else { return Ok(None) };
        let delivered = opened.map(OpenedSession::delivered).unwrap_or_default();
        let named = Self::open(world, name, folder, delivered)?;
        if arguments.verbose {
            print::note(&named.describe());
        }
        Ok(Some(named))
    }

    /// Opens a mailbox. `delivered` are the ids of messages that a resumed session has already.
    fn open(
        world: &World,
        name: &AgentName,
        folder: &SessionFolder,
        delivered: &[String],
    ) -> Result<Self, Failure> {
        let mailboxes = mailboxes(world, folder.dir())?;
        let reader = mailboxes.read_as(name, delivered).map_err(Failure::failed)?;
        let socket = listen(world, &reader, &mailboxes)?;
        Ok(Self { reader: Arc::new(reader), socket })
    }

    /// The messages for this session.
    pub(crate) fn incoming(&self) -> Arc<dyn IncomingMessageSource> {
        Arc::clone(&self.reader) as Arc<dyn IncomingMessageSource>
    }

    /// The address for replies from outside the project.
    fn reply_to(&self) -> Option<Address> {
        self.socket.as_ref().map(|socket| Address::socket(socket.path()))
    }

    /// Makes this session the receiver of messages.
    pub(crate) fn hold(&self, session: SessionId) -> Result<(), Failure> {
        self.reader.hold(session).map_err(Failure::failed)
    }

    /// A description for `--verbose`.
    fn describe(&self) -> String {
        match &self.socket {
            Some(socket) => {
                format!("· `{}` listens at uds:{}", self.reader.name(), socket.path().display())
            }
            None => format!("· `{}` has a mailbox and no socket", self.reader.name()),
        }
    }
}

/// The name of the main conversation for its subagents, where it has no other.
const MAIN: &str = "main";

/// Message routing in a project.
pub(crate) fn routing(world: &World, folder: &SessionFolder) -> Result<MessageRouting, Failure> {
    let router = MessageRouter::new(Arc::clone(&world.clock), Arc::clone(&world.ids));
    Ok(MessageRouting { router, mailboxes: mailboxes(world, folder.dir())? })
}

/// The subagent spawner of the main conversation.
pub(crate) fn spawner(
    registry: &Arc<SubagentRegistry>,
    named: Option<&NamedSession>,
) -> Result<Arc<SubagentSpawner>, Failure> {
    let name = match named {
        Some(named) => named.reader.name().clone(),
        None => AgentName::new(MAIN).map_err(Failure::failed)?,
    };
    let reply_to = named.and_then(NamedSession::reply_to);
    new_spawner(Arc::clone(registry), &name, reply_to).map_err(Failure::failed)
}

pub(crate) fn mailboxes(world: &World, project: &Dir) -> Result<Mailboxes, Failure> {
    Ok(Mailboxes::open(project, Arc::clone(&world.clock), Arc::clone(&world.ids))?)
}

/// Opens a socket. Without one there is still the mailbox.
fn listen(
    world: &World,
    reader: &MailboxReader,
    mailboxes: &Mailboxes,
) -> Result<Option<SessionSocket>, Failure> {
    let folder = SocketFolder::open(&world.home()?, &world.environment);
    match folder.and_then(|folder| SessionSocket::listen(&folder, reader, mailboxes)) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) => {
            print::note(&format!(
                "warning: cannot open a socket for this session; only its mailbox is available: {error}"
            ));
            Ok(None)
        }
    }
}
