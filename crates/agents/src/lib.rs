//! Agents below a conversation: what they are (`definition`), the tool that starts them (`agent_tool`), their
//! memory, and messages between them (`messages`).

#![forbid(unsafe_code)]

pub mod messages;
