//! The terminal interface.
//!
//! Finished content goes into the terminal's own scrollback and is never drawn again; below it live the row that is being
//! written, the composer and the status line, drawn by cell differences ([`inline`]). State and drawing are apart: keys change
//! a model that does no I/O ([`composer`], [`menu`], [`interface`]), and what is on the screen is a function of that model
//! ([`live`]). Nothing here knows the agent.

pub mod action;
pub mod composer;
pub mod highlight;
pub mod inline;
pub mod interface;
pub mod interface_texts;
pub mod keys;
pub mod live;
pub mod markdown;
pub mod menu;
pub mod picker;
pub mod sequence;
pub mod style;
pub mod suggestions;
mod unmarked_paste;
pub mod width;
