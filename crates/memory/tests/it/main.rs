//! The memory crate from outside, on real folders.

mod instructions;
mod secrets;
