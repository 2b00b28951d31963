//! What goes over the socket between the program and a reaper: the command's files one way, how it fares
//! the other. A message is a letter and a number, five bytes.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use crate::platform::{RECEIVE_FILES, close_on_exec};

/// What a reaper is given in the place of a policy.
pub(super) const NO_SANDBOX: &str = "-";

/// A letter and a number.
const LENGTH: usize = 5;

/// What a reaper tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaperMessage {
    /// The command runs, and leads the process group of this number.
    Started(i32),
    /// It could not be started: the system's number of the error.
    Failed(i32),
    /// It ended. What it started may still run.
    Ended(ExitStatus),
}

impl ReaperMessage {
    /// As it is sent.
    pub(super) fn to_bytes(self) -> [u8; LENGTH] {
        let (letter, number) = match self {
            Self::Started(group) => (b'S', group),
            Self::Failed(number) => (b'F', number),
            Self::Ended(status) => (b'E', status.into_raw()),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [letter, a, b, c, d]
    }

    /// Takes the first message out of what was received, once it is whole.
    pub(super) fn take(received: &mut Vec<u8>) -> Option<Self> {
        let [letter, a, b, c, d] = *received.first_chunk::<LENGTH>()?;
        received.drain(..LENGTH);
        let number = i32::from_le_bytes([a, b, c, d]);
        Some(match letter {
            b'S' => Self::Started(number),
            b'E' => Self::Ended(ExitStatus::from_raw(number)),
            _ => Self::Failed(number),
        })
    }
}

/// Hands three files on.
pub(super) fn send_files(socket: impl AsFd, files: &[BorrowedFd<'_>; 3]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    attached.push(SendAncillaryMessage::ScmRights(files));
    rustix::net::sendmsg(socket, &[IoSlice::new(b"f")], &mut attached, SendFlags::empty())?;
    Ok(())
}

/// Takes them.
pub(super) fn receive_files(socket: impl AsFd) -> io::Result<[OwnedFd; 3]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut attached, RECEIVE_FILES)?;
    let files: Vec<OwnedFd> = attached
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        })
        .flatten()
        .map(close_on_exec)
        .collect::<io::Result<_>>()?;
    files.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in_at_any_cut() {
        let all = [
            ReaperMessage::Started(4_242),
            ReaperMessage::Failed(2),
            ReaperMessage::Ended(ExitStatus::from_raw(0x0300)),
            ReaperMessage::Ended(ExitStatus::from_raw(9)),
        ];
        let bytes = all.map(ReaperMessage::to_bytes).concat();
        let (mut received, mut seen) = (Vec::new(), Vec::new());
        for byte in bytes {
            received.push(byte);
            seen.extend(ReaperMessage::take(&mut received));
        }
        assert_eq!(seen, all);
        assert!(received.is_empty());
    }

    #[test]
    fn files_are_handed_on() {
        use std::io::{Read, Write};
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        send_files(&ours, &[writer.as_fd(), writer.as_fd(), writer.as_fd()]).unwrap();
        drop(writer);
        let [first, ..] = receive_files(&theirs).unwrap();
        std::fs::File::from(first).write_all(b"here").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "here");
    }
}
