//! How a command changes memories: the interface that the caller implements.

use thiserror::Error;

use crate::store::{ChangeError, ChangePlan};

/// Makes the changes of the commands in the name of the model or of a client, with its sources and its way to ask for
/// confirmation.
pub trait CommandWriter {
    /// Makes a change. `new_text` is the text that it adds, for the provenance.
    fn change(
        &self,
        new_text: &str,
        reason: &str,
        build: PlanBuilder<'_>,
    ) -> Result<(), ChangeNotMade>;
}

/// Adds the parts of a change to its plan.
pub type PlanBuilder<'a> = &'a dyn Fn(&mut ChangePlan<'_>) -> Result<(), ChangeError>;

/// Why a change was not made. A proposal in the inbox counts as not made: the file does not have the new text.
#[derive(Debug, Error)]
pub enum ChangeNotMade {
    /// The store refused the change.
    #[error(transparent)]
    Refused(#[from] ChangeError),
    /// It waits for the user's decision, or the user rejected it.
    #[error("{0}")]
    Withheld(String),
}
