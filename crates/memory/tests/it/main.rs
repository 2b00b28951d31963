//! The memory crate from outside, on real folders.

mod instructions;
