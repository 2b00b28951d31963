//! Messages between agents: in this process, by mailbox to another, by socket to another session.
