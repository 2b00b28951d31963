//! The tools of MCP servers (L-16): which servers there are (`spec`, `read`), with variables filled in (`expand`).

mod expand;
mod read;
mod spec;

pub use expand::Variables;
pub use read::{ServerProblem, ServersRead, parse_servers, read_servers};
pub use spec::{ServerOrigin, ServerSpec, Transport};
