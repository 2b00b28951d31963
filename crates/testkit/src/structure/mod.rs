//! The structure of the source tree, read from the code itself: modules and what they use, types and their size,
//! functions, files.
//!
//! Everything here reads files as `syn` parses them and leaves tests out. What a macro generates is not seen.

mod circles;
mod files;
mod parse;
mod public_api;
mod resolve;
mod survey;
mod types;

pub use circles::{Circle, circles};
pub(crate) use files::rust_files_below;
pub use parse::{CrateSource, ModulePath, SourceModule, read_crate, read_workspace};
pub use public_api::public_api;
pub use survey::{Survey, survey};
pub use types::{
    TypeSize, duplicate_type_names, long_functions, oversized_types, string_errors, type_sizes,
};
