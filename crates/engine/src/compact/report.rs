//! A compaction, told to a person.

use std::fmt;

use dormouse_base::group_digits;
use dormouse_context::compact::CompactionMethod;

use super::CompactionReport;

impl fmt::Display for CompactionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.way {
            CompactionMethod::Notes => "from the session's notes, without a request",
            CompactionMethod::Model => "with a summary by the model",
            CompactionMethod::Server => "with a summary by the server",
            CompactionMethod::Fold => "without a model",
        };
        let (before, after) = (group_digits(self.before), group_digits(self.after));
        write!(f, "compacted {how}: {before} tokens before, {after} after")?;
        let percent = (self.fidelity.identifiers.clamp(0.0, 1.0) * 100.0).round();
        write!(f, "; {percent} % of the names are kept, all of it is in the transcript")?;
        if let Some(trouble) = &self.trouble {
            write!(f, " (the model gave no summary: {trouble})")?;
        }
        Ok(())
    }
}
