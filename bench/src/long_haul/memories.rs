//! Memory in the long haul: what is remembered before the session, what its user says that is worth keeping, and what the
//! model does about it when it extracts, when it chooses for recall, and when it dreams.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::TestHome;
use serde_json::{Value, json};

/// What the session's prompts ask about now and then, one memory each.
const COMPONENTS: [&str; 40] = [
    "amber", "basalt", "birch", "bramble", "cedar", "clover", "cobalt", "copper", "coral",
    "cricket", "dahlia", "drift", "ember", "falcon", "fennel", "flint", "garnet", "glacier",
    "granite", "harbor", "hazel", "heron", "indigo", "ivory", "jasper", "juniper", "larch",
    "lichen", "maple", "marble", "nettle", "onyx", "otter", "pebble", "quartz", "raven", "saffron",
    "sparrow", "thistle", "walnut",
];
/// Every so many turns a component is asked about.
const ASKED_EVERY: usize = 8;
/// How the sentence begins that is worth keeping, and how the memory's file does.
const DECISION: &str = "From now on, as of turn ";
const RULE_FILE: &str = "rule-of-turn-";
/// So many memories become one in a dream, whose description ends like this.
const MERGED: usize = 5;
const MERGED_END: &str = " more turns";

/// Writes what is remembered before the session, by the user's own hand.
pub(super) fn plant(home: &TestHome) {
    for (number, name) in COMPONENTS.iter().enumerate() {
        let text = format!(
            "---\nname: {name} exporter\ndescription: how the {name} exporter writes its timestamps\ntype: project\n---\n\n\
             The {name} exporter writes its timestamps in UTC, with {} digits behind the second. The {name} readers reject \
             local time.\n",
            number % 6 + 1
        );
        home.write(home.dormouse_home().join("memory").join(format!("{name}-exporter.md")), text);
    }
}

/// What the user says on a turn about what is or should be remembered.
pub(super) fn remark(turn: usize) -> String {
    if turn % 10 == 3 {
        return format!("{} ", decision(turn));
    }
    match COMPONENTS.get(turn / ASKED_EVERY % COMPONENTS.len()) {
        Some(name) if turn % ASKED_EVERY == 1 => {
            format!("How does the {name} exporter write its timestamps? ")
        }
        _ => String::new(),
    }
}

fn decision(turn: usize) -> String {
    let number = turn / 10;
    let name = COMPONENTS.get(number % COMPONENTS.len()).copied().unwrap_or("other");
    let rule = match number % 7 {
        0 => format!("the {name} importer retries {} times before it gives up", number + 2),
        1 => format!("backups of {name} are kept for {} days", number + 2),
        2 => format!("the {name} service listens on port {}", 5_000 + turn),
        3 => format!("the nightly job of {name} starts at {}:15", number % 24),
        4 => format!("pull requests for {name} need {} reviewers", number + 2),
        5 => format!("uploads to {name} are limited to {} megabytes", number + 2),
        _ => format!("the {name} dashboard is refreshed every {} minutes", number + 2),
    };
    format!("{DECISION}{turn}, {rule}.")
}

/// The memories that extraction saves of a conversation, of turns after `saved_up_to`; none where nothing is worth it.
pub(super) fn extract(conversation: &str, saved_up_to: &mut Option<usize>) -> ScriptedTurn {
    let mut turns: Vec<usize> = conversation
        .split(DECISION)
        .skip(1)
        .filter_map(|rest| rest.split(',').next()?.parse().ok())
        .filter(|turn| saved_up_to.is_none_or(|saved| *turn > saved))
        .collect();
    turns.sort_unstable();
    turns.dedup();
    let Some(last) = turns.last() else {
        return ScriptedTurn::new().text("Nothing worth keeping.");
    };
    *saved_up_to = Some(*last);
    turns.iter().fold(ScriptedTurn::new(), |answer, turn| {
        let input = json!({
            "name": format!("rule of turn {turn}"),
            "description": format!("what was decided on turn {turn}"),
            "type": "project",
            "content": decision(*turn),
            "quotes": [decision(*turn)],
        });
        answer.call(format!("save_{turn}"), "MemorySave", input.to_string())
    })
}

/// What the small model chooses for recall: the note of the component that the message is about.
pub(super) fn choose(question: &str) -> ScriptedTurn {
    let (message, notes) = question.split_once("# Notes").unwrap_or((question, ""));
    let asked = COMPONENTS.iter().filter(|name| message.contains(&format!("the {name} exporter")));
    let files: Vec<String> = asked
        .map(|name| format!("{name}-exporter.md"))
        .filter(|file| notes.contains(file.as_str()))
        .collect();
    ScriptedTurn::new().text(json!({ "files": files }).to_string())
}

/// What a dream does: it looks at the list of memories, and merges what was decided, a few rules at a time.
pub(super) fn dream(told: &str, last: &Value) -> ScriptedTurn {
    let results = last.get("content").and_then(Value::as_array).map_or(0, |blocks| {
        blocks
            .iter()
            .filter(|block| block.get("type").is_some_and(|kind| kind == "tool_result"))
            .count()
    });
    if results > 1 {
        return ScriptedTurn::new().text("What was decided is merged.");
    }
    let rules: Vec<usize> = told
        .lines()
        .filter(|line| !line.ends_with(MERGED_END))
        .filter_map(|line| line.split_once(&format!("] {RULE_FILE}")))
        .filter_map(|(_, rest)| rest.split('.').next()?.parse().ok())
        .collect();
    if results == 0 {
        return ScriptedTurn::new().call("dream_list", "MemoryList", "{}");
    }
    let groups: Vec<&[usize]> = rules.chunks(MERGED).filter(|group| group.len() > 1).collect();
    if groups.is_empty() {
        return ScriptedTurn::new().text("Nothing needs to be done.");
    }
    let answer = groups.iter().fold(ScriptedTurn::new(), |answer, group| merge(answer, group));
    // A second call, so that its results are told from those of the list.
    answer.call("dream_look", "MemoryList", "{}")
}

fn merge(answer: ScriptedTurn, group: &[usize]) -> ScriptedTurn {
    let Some((first, others)) = group.split_first() else { return answer };
    let file = |turn: &usize| format!("{RULE_FILE}{turn}.md");
    let content: Vec<String> = group.iter().map(|turn| decision(*turn)).collect();
    let input = json!({
        "file": file(first),
        "name": format!("rule of turn {first}"),
        "description": format!("what was decided on turn {first} and {}{MERGED_END}", others.len()),
        "type": "project",
        "content": content.join("\n"),
        "supersedes": others.iter().map(file).collect::<Vec<String>>(),
    });
    answer.call(format!("merge_{first}"), "MemorySave", input.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(turn: &ScriptedTurn) -> String {
        format!("{turn:?}")
    }

    #[test]
    fn what_was_decided_is_saved_once() {
        let conversation = format!("[user] #3 {}\n\n[user] #13 {}", remark(3), remark(13));
        let mut saved = None;
        let first = calls(&extract(&conversation, &mut saved));
        assert!(first.contains("rule of turn 3") && first.contains("rule of turn 13"), "{first}");
        assert_eq!(saved, Some(13));
        assert!(calls(&extract(&conversation, &mut saved)).contains("Nothing worth keeping"));
    }

    #[test]
    fn the_note_that_is_asked_about_is_chosen_where_it_is_offered() {
        let question = |notes: &str| format!("# Message\n#9 {}\n\n# Notes\n{notes}", remark(9));
        let chosen = calls(&choose(&question("- basalt-exporter.md: how")));
        assert!(chosen.contains("basalt-exporter.md"), "{chosen}");
        assert!(!calls(&choose(&question("- birch-exporter.md: how"))).contains("exporter"));
    }

    #[test]
    fn a_dream_looks_merges_and_ends() {
        let told = "- [project/project] rule-of-turn-3.md (today): x\n- [project/project] rule-of-turn-13.md (today): y\n";
        let after = |results: usize| {
            let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "x"});
            json!({"role": "user", "content": vec![result; results]})
        };
        assert!(calls(&dream(told, &after(0))).contains("MemoryList"));
        let merging = calls(&dream(told, &after(1)));
        assert!(
            merging.contains("supersedes") && merging.contains("rule-of-turn-13.md"),
            "{merging}"
        );
        assert!(calls(&dream(told, &after(2))).contains("is merged"));
        assert!(calls(&dream("", &after(1))).contains("Nothing needs"));
    }
}
