//! What a call would read, and whether that needs confirmation (L-37): reading outside the project asks once for each
//! folder, credentials ask each time.

mod credentials;
mod git_index;
mod reach;
mod scope;

pub use credentials::credential_places;
pub(crate) use reach::{Reach, reached};
pub use scope::ReadingScope;
pub(crate) use scope::{ReadingNeed, ReadingObjection};
