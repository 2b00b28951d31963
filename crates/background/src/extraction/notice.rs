//! The notice about a run (B-11).

use dormouse_engine::WrittenChange;
use dormouse_memory::{ChangeKind, Scope};

/// File names in a notice.
const NAMED: usize = 5;

/// For example "Saved 2 memories: a.md, b.md"; the team's are listed separately. None if nothing was saved.
pub(super) fn notice(written: &[WrittenChange]) -> Option<String> {
    let files = |team: bool, filter: fn(&ChangeKind) -> bool| -> Vec<String> {
        let mut names: Vec<String> = written
            .iter()
            .filter(|written| (written.scope == Scope::Team) == team)
            .flat_map(|written| &written.files)
            .filter(|(_, effect)| filter(effect))
            .map(|(file, _)| file.to_string())
            .collect();
        names.dedup();
        names
    };
    let is_saved = |effect: &ChangeKind| !matches!(effect, ChangeKind::Removed);
    let is_removed = |effect: &ChangeKind| matches!(effect, ChangeKind::Removed);
    let proposals = written.iter().filter(|written| written.proposal.is_some()).count();
    let parts = [
        part("Saved", "", &files(false, is_saved)),
        part("Saved", " for the team", &files(true, is_saved)),
        part("Removed", "", &files(false, is_removed)),
        part("Removed", " for the team", &files(true, is_removed)),
        (proposals > 0).then(|| {
            let what = if proposals == 1 { "1 change waits" } else { "{} changes wait" };
            what.replace("{}", &proposals.to_string()) + " in the inbox"
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn part(verb: &str, suffix: &str, files: &[String]) -> Option<String> {
    let count = files.len();
    let noun = if count == 1 { "memory" } else { "memories" };
    let named = files.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
    (count > 0).then(|| format!("{verb} {count} {noun}{suffix}: {named}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_memory::{MemoryFile, ProposalId};

    #[test]
    fn changes_are_summed_up_in_a_line() {
        let file = |name: &str| MemoryFile::new(name).unwrap();
        let written = |scope, file, effect| WrittenChange {
            scope,
            files: vec![(file, effect)],
            proposal: None,
        };
        let mut all = vec![
            written(Scope::User, file("tabs.md"), ChangeKind::Added),
            written(Scope::Project, file("db.md"), ChangeKind::Changed),
        ];
        assert_eq!(notice(&all).unwrap(), "Saved 2 memories: tabs.md, db.md");
        all.push(written(Scope::Team, file("ci.md"), ChangeKind::Added));
        all.push(written(Scope::User, file("old.md"), ChangeKind::Removed));
        all.push(WrittenChange {
            scope: Scope::User,
            files: Vec::new(),
            proposal: Some(ProposalId(3)),
        });
        assert_eq!(
            notice(&all).unwrap(),
            "Saved 2 memories: tabs.md, db.md; Saved 1 memory for the team: ci.md; \
             Removed 1 memory: old.md; 1 change waits in the inbox"
        );
        assert_eq!(notice(&[]), None);
    }
}
