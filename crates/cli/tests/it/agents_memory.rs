//! Memory of agents.
