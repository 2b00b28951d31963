//! What every part of a conversation needs from outside: time, ids, deadlines and the log of figures.

use std::sync::Arc;

use dormouse_base::{Clock, Deadlines, IdSource};
use dormouse_conversation::metrics::MetricsLog;

/// Time, ids, deadlines and the log of figures.
#[derive(Clone)]
pub struct Services {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// How long it waits for what it can do without.
    pub deadlines: Deadlines,
    /// The log that `dormouse stats` reads.
    pub figures: MetricsLog,
}
