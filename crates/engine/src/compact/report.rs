//! A compaction, told to a person.

use std::fmt;

use dormouse_context::compact::Way;

use super::CompactReport;

impl fmt::Display for CompactReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.way {
            Way::Notes => "from the session's notes, without a request",
            Way::Model => "with a summary by the model",
            Way::Server => "with a summary by the server",
            Way::Fold => "without a model",
        };
        let (before, after) = (thousands(self.before), thousands(self.after));
        write!(f, "compacted {how}: {before} tokens before, {after} after")?;
        let percent = (self.fidelity.identifiers.clamp(0.0, 1.0) * 100.0).round();
        write!(f, "; {percent} % of the names are kept, all of it is in the transcript")?;
        if let Some(trouble) = &self.trouble {
            write!(f, " (the model gave no summary: {trouble})")?;
        }
        Ok(())
    }
}

/// 167000 as `167,000`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn numbers_are_read_in_threes() {
        let read: Vec<String> = [0, 999, 1_000, 167_000, 1_234_567].map(thousands).into();
        assert_eq!(read, ["0", "999", "1,000", "167,000", "1,234,567"]);
    }
}
