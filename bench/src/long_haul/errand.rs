//! What the user asks for on a turn, and what the model does about it. Both follow from the turn's number
//! alone, so that every row of the table is about the same work.

use serde_json::json;

use super::memories::remark;
use super::project::{LARGE, LOGS, MODULES, PICTURES, large, log, module, picture};
use crate::generate::Dice;

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) tool: &'static str,
    pub(super) input: String,
}

pub(super) fn deed(tool: &'static str, input: &serde_json::Value) -> Deed {
    Deed { tool, input: input.to_string() }
}

fn dice(turn: usize, of: u64) -> Dice {
    let mut dice = Dice(u64::try_from(turn).unwrap_or(0).wrapping_mul(0x2545_f491_4f6c_dd1d) ^ of);
    dice.next();
    dice
}

/// What the user says. It begins with the turn's number, so that it is found again.
pub(super) fn prompt(turn: usize) -> String {
    let mut dice = dice(turn, 1);
    let bytes = match dice.between((0, 99)) {
        0..=2 => dice.between((2_000, 3_500)),
        3..=20 => dice.between((400, 1_000)),
        _ => dice.between((40, 260)),
    };
    let words = dice.prose(bytes).replace('\n', " ");
    let word = dice.next();
    let remark = remark(turn);
    format!(
        "#{turn} Please look after {words}{remark}(the code word of turn {turn} is {word:016x})"
    )
}

/// The turn that a prompt belongs to.
pub(super) fn turn_of(text: &str) -> Option<usize> {
    text.strip_prefix('#')?.split_once(' ')?.0.parse().ok()
}

/// How the model's last word on a turn ends.
pub(super) fn last_word(turn: usize) -> String {
    format!("(end of {turn})")
}

/// What the model says at the end.
pub(super) fn answer(turn: usize) -> String {
    let mut dice = dice(turn, 2);
    let bytes = dice.between((120, 1_400));
    format!("{}\n\n{}", dice.prose(bytes).trim(), last_word(turn))
}

/// A thought before a round of calls, if it has one.
pub(super) fn thought(turn: usize, round: usize) -> Option<String> {
    let mut dice = dice(turn, 100 + u64::try_from(round).unwrap_or(0));
    let bytes = dice.between((100, 900));
    dice.happens(30).then(|| dice.prose(bytes))
}

/// The rounds of calls, one after the other. An edit follows the reading of its file.
pub(super) fn rounds(turn: usize) -> Vec<Vec<Deed>> {
    let mut dice = dice(turn, 3);
    if dice.happens(15) {
        return Vec::new();
    }
    if dice.happens(12) {
        let file = module(dice.between((0, MODULES - 1)));
        return vec![vec![read(&file, None)], vec![Deed { tool: "Edit", input: file }]];
    }
    let many = dice.between((1, 3));
    (0..many)
        .map(|_| {
            let calls = if dice.happens(25) { 2 } else { 1 };
            (0..calls).map(|_| call(&mut dice, turn)).collect()
        })
        .collect()
}

fn read(file: &str, part: Option<(usize, usize)>) -> Deed {
    match part {
        None => deed("Read", &json!({"file_path": file})),
        Some((offset, limit)) => {
            deed("Read", &json!({"file_path": file, "offset": offset, "limit": limit}))
        }
    }
}

fn bash(command: &str) -> Deed {
    deed("Bash", &json!({"command": command}))
}

fn call(dice: &mut Dice, turn: usize) -> Deed {
    let file = module(dice.between((0, MODULES - 1)));
    match dice.between((0, 99)) {
        0..=27 => read(&file, None),
        28..=44 => {
            let part = (dice.between((1, 1_500)), dice.between((20, 120)));
            read(&large(dice.between((0, LARGE - 1))), Some(part))
        }
        45..=59 => {
            let pattern = format!("{}\\.{}", dice.word(), dice.word());
            let most = dice.between((10, 60));
            let input = json!({"pattern": pattern, "output_mode": "content", "head_limit": most});
            deed("Grep", &input)
        }
        60..=64 => deed("Glob", &json!({"pattern": format!("src/**/*_{}*.rs", turn % 10)})),
        65..=72 => bash(&format!("wc -l {file} && head -c {} {file}", dice.between((200, 3_000)))),
        73..=78 => bash("git log --oneline | head -5 && git status --short | head -20"),
        79..=84 => bash(&format!("ls -la src | head -{}", dice.between((10, 80)))),
        85..=89 => {
            let (from, log) = (dice.between((1, 400)), log(dice.between((0, LOGS - 1))));
            bash(&format!("sed -n '{from},{}p' {log}", from + dice.between((20, 150))))
        }
        // Longer than a result may be: it goes to a file.
        90..=93 => bash(&format!("cat {}", log(dice.between((0, LOGS - 1))))),
        94..=96 => read(&picture(dice.between((0, PICTURES - 1))), None),
        _ => {
            let bytes = dice.between((300, 2_500));
            let content = dice.listing(bytes);
            deed("Write", &json!({"file_path": format!("notes/{turn}.md"), "content": content}))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_the_same_in_every_run_and_unlike_the_others() {
        assert_eq!((prompt(417), rounds(417)), (prompt(417), rounds(417)));
        assert_ne!(prompt(417), prompt(418));
        assert_eq!(turn_of(&prompt(417)), Some(417));
        assert_eq!(turn_of("The window was full"), None);
    }

    #[test]
    fn every_kind_of_call_is_made() {
        let deeds: Vec<Deed> = (0..300).flat_map(rounds).flatten().collect();
        for tool in ["Read", "Grep", "Glob", "Bash", "Edit", "Write"] {
            assert!(deeds.iter().any(|deed| deed.tool == tool), "{tool}");
        }
        assert!(deeds.iter().any(|deed| deed.input.contains(".png")));
    }
}
