//! What is sent to the model, as plain functions: messages in, messages and a report out.
//!
//! Owns the fragments of text that the program itself puts into a conversation, and where cache
//! breakpoints go. The layers that keep the window small have their place here. Deliberately absent:
//! I/O, clock, environment, and maps whose order shows.

#![forbid(unsafe_code)]

mod breakpoints;
mod fragment;

pub use breakpoints::{TurnShape, plan_breakpoints};
pub use fragment::{Changes, FirstMessage, Fragment};
