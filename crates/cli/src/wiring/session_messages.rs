//! A session that others can write to (`--name`), and `dormouse send`, which writes to one.

use std::sync::Arc;

use dormouse_agents::messages::{
    Address, AgentName, MailboxReader, Mailboxes, PostOffice, SessionSocket, SocketFolder,
};
use dormouse_agents::{Agency, Desk, Post};
use dormouse_base::{Dir, SessionId};
use dormouse_engine::{MessageSource, OpenedSession, SessionFolder};

use crate::args::Arguments;
use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::world::World;

/// A name with its mailbox and its socket, for as long as the program runs.
pub(crate) struct NamedSession {
    reader: Arc<MailboxReader>,
    socket: Option<SessionSocket>,
}

impl NamedSession {
    /// Takes the name that `--name` says, if it does.
    pub(crate) fn asked_for(
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

    /// Takes a name. `delivered` is what a session that goes on was told already.
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

    /// What has come for it.
    pub(crate) fn incoming(&self) -> Arc<dyn MessageSource> {
        Arc::clone(&self.reader) as Arc<dyn MessageSource>
    }

    /// Where it is reached from outside the project.
    fn reply_to(&self) -> Option<Address> {
        self.socket.as_ref().map(|socket| Address::socket(socket.path()))
    }

    /// This session is the one that reads: from now on messages come to it.
    pub(crate) fn hold(&self, session: SessionId) -> Result<(), Failure> {
        self.reader.hold(session).map_err(Failure::failed)
    }

    /// For `--verbose`.
    fn describe(&self) -> String {
        match &self.socket {
            Some(socket) => {
                format!("· `{}` listens at uds:{}", self.reader.name(), socket.path().display())
            }
            None => format!("· `{}` has a mailbox and no socket", self.reader.name()),
        }
    }
}

/// What a conversation is called by its own agents where it has no other name.
const MAIN: &str = "main";

/// The ways of messages in a project.
pub(crate) fn post(world: &World, folder: &SessionFolder) -> Result<Post, Failure> {
    let office = PostOffice::new(Arc::clone(&world.clock), Arc::clone(&world.ids));
    Ok(Post { office, mailboxes: mailboxes(world, folder.dir())? })
}

/// Where the conversation itself starts agents, and where they write to.
pub(crate) fn desk(
    agency: &Arc<Agency>,
    named: Option<&NamedSession>,
) -> Result<Arc<Desk>, Failure> {
    let name = match named {
        Some(named) => named.reader.name().clone(),
        None => AgentName::new(MAIN).map_err(Failure::failed)?,
    };
    let reply_to = named.and_then(NamedSession::reply_to);
    Desk::new(Arc::clone(agency), &name, reply_to).map_err(Failure::failed)
}

pub(crate) fn mailboxes(world: &World, project: &Dir) -> Result<Mailboxes, Failure> {
    Ok(Mailboxes::open(project, Arc::clone(&world.clock), Arc::clone(&world.ids))?)
}

/// Without a socket there is still the mailbox.
fn listen(
    world: &World,
    reader: &MailboxReader,
    mailboxes: &Mailboxes,
) -> Result<Option<SessionSocket>, Failure> {
    let folder = SocketFolder::open(&world.home()?, &world.environment);
    match folder.and_then(|folder| SessionSocket::listen(&folder, reader, mailboxes)) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) => {
            print::note(&format!("warning: no socket for this session, only its mailbox: {error}"));
            Ok(None)
        }
    }
}
