//! Skills (L-32): instructions for certain tasks, `skills/<name>/SKILL.md`, of the user, the project or a plugin.
//!
//! `folders` finds them, `file` reads one, `frontmatter` parses its head, `arguments` inserts arguments, `listing` tells
//! the model about them, `session` runs the calls, by the model with the tool `Skill` and by the user with `/name`.
//!
//! Invariants: an invalid file is reported and the others load. Of two skills with one name the user's own is used. A
//! project's skill is used as it was when it was trusted, or not at all. The program runs no command in a skill's text.

mod arguments;
mod file;
mod folders;
mod frontmatter;
mod in_use;
mod listing;
mod session;
mod session_skills;
mod skill;

pub use file::{DefinitionError, read_definition};
pub use folders::SkillFolders;
pub use in_use::SkillsInUse;
pub use listing::{lines_within, skill_listing};
pub use session::{SkillCall, SkillSession, SkillSessionParts};
pub use session_skills::{SkillProblem, Skills};
pub use skill::{Skill, SkillCallers, SkillError, SkillOwner};
