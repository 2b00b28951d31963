//! One line per memory, for choosing among them (M-10).

use jiff::Timestamp;

use crate::age::Age;
use crate::entry::one_line;
use crate::kind::Scope;
use crate::scan::Scanned;

/// `- [type/scope] file.md (3 days ago): description`.
///
/// `changed` is the time of the last change of the content; the history may know it better than the file.
pub fn manifest_line(memory: &Scanned, scope: Scope, changed: Timestamp, now: Timestamp) -> String {
    let kind = match memory.header.kind {
        Some(kind) => format!("{kind}/{scope}"),
        None => scope.to_string(),
    };
    let age = Age::between(changed, now);
    let description = match &memory.header.description {
        Some(description) => format!(": {}", one_line(description)),
        None => String::new(),
    };
    format!("- [{kind}] {} ({age}){description}", memory.file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Header;
    use crate::kind::MemoryType;
    use crate::names::MemoryFile;

    #[test]
    fn lines() {
        let now: Timestamp = "2026-11-15T08:00:00Z".parse().unwrap();
        let then: Timestamp = "2026-11-12T08:00:00Z".parse().unwrap();
        let header = Header {
            kind: Some(MemoryType::Project),
            description: Some("where it\nruns".into()),
            ..Header::default()
        };
        let file = MemoryFile::new("a.md").unwrap();
        let mut memory = Scanned { file, modified: then, size: 1, header };
        assert_eq!(
            manifest_line(&memory, Scope::User, then, now),
            "- [project/user] a.md (3 days ago): where it runs"
        );
        memory.header = Header::default();
        assert_eq!(manifest_line(&memory, Scope::Team, now, now), "- [team] a.md (today)");
    }
}
