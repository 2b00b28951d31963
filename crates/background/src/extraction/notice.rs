//! What the person is told about a run (B-11): nothing, where nothing was saved.

use dormouse_engine::Written;
use dormouse_memory::{Effect, Scope};

/// So many names are said.
const NAMED: usize = 5;

/// "Saved 2 memories: a.md, b.md", the team's apart, the index not counted; none where there is nothing to say.
pub(super) fn notice(written: &[Written]) -> Option<String> {
    let files = |team: bool, wanted: fn(&Effect) -> bool| -> Vec<String> {
        let mut names: Vec<String> = written
            .iter()
            .filter(|written| (written.scope == Scope::Team) == team)
            .flat_map(|written| &written.files)
            .filter(|(_, effect)| wanted(effect))
            .map(|(file, _)| file.to_string())
            .collect();
        names.dedup();
        names
    };
    let saved = |effect: &Effect| !matches!(effect, Effect::Removed);
    let removed = |effect: &Effect| matches!(effect, Effect::Removed);
    let waiting = written.iter().filter(|written| written.waits.is_some()).count();
    let parts = [
        part("Saved", "", &files(false, saved)),
        part("Saved", " for the team", &files(true, saved)),
        part("Removed", "", &files(false, removed)),
        part("Removed", " for the team", &files(true, removed)),
        (waiting > 0).then(|| {
            let what = if waiting == 1 { "1 change waits" } else { "{} changes wait" };
            what.replace("{}", &waiting.to_string()) + " in the inbox"
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn part(done: &str, whom: &str, files: &[String]) -> Option<String> {
    let count = files.len();
    let what = if count == 1 { "memory" } else { "memories" };
    let named = files.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
    (count > 0).then(|| format!("{done} {count} {what}{whom}: {named}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_memory::{MemoryFile, ProposalId};

    #[test]
    fn what_was_saved_is_said_in_a_line() {
        let file = |name: &str| MemoryFile::new(name).unwrap();
        let written =
            |scope, file, effect| Written { scope, files: vec![(file, effect)], waits: None };
        let mut all = vec![
            written(Scope::User, file("tabs.md"), Effect::Added),
            written(Scope::Project, file("db.md"), Effect::Changed),
        ];
        assert_eq!(notice(&all).unwrap(), "Saved 2 memories: tabs.md, db.md");
        all.push(written(Scope::Team, file("ci.md"), Effect::Added));
        all.push(written(Scope::User, file("old.md"), Effect::Removed));
        all.push(Written { scope: Scope::User, files: Vec::new(), waits: Some(ProposalId(3)) });
        assert_eq!(
            notice(&all).unwrap(),
            "Saved 2 memories: tabs.md, db.md; Saved 1 memory for the team: ci.md; \
             Removed 1 memory: old.md; 1 change waits in the inbox"
        );
        assert_eq!(notice(&[]), None);
    }
}
