//! What the model is told of skills: their names and what each is for, within bounds.

use dormouse_conversation::{Budget, PromptSize};

use super::{Skill, Skills, head};

/// The list, in characters: at most this, or a twenty-fifth of the window's tokens.
const MOST_CHARS: usize = 8_000;
/// Of one description.
const ONE: usize = 300;

const INTRO: &str = "Skills are instructions for certain tasks, each in a folder of its own. Where a task fits one of these descriptions, call the tool Skill with its name before you begin, and follow what it says. The person calls one with /name; its text is then in their message, and is not to be called again.";

/// The first lines that fit into so many characters.
pub fn lines_within(lines: &[String], most_chars: usize) -> Vec<&str> {
    let mut used = 0;
    let fits = |line: &&str| {
        used += line.chars().count() + 1;
        used <= most_chars
    };
    lines.iter().map(String::as_str).take_while(fits).collect()
}

/// The list; nothing, if the model can call none.
pub(crate) fn listing(skills: &Skills, budget: &Budget) -> Option<String> {
    let lines: Vec<String> = skills
        .all()
        .filter(|skill| skill.callers.model())
        .map(|skill| line(skill, budget.prompt.size))
        .collect();
    if lines.is_empty() {
        return None;
    }
    let window = usize::try_from(budget.window).unwrap_or(usize::MAX);
    let room = MOST_CHARS.min(window / 25);
    let kept = lines_within(&lines, room);
    let left_out = lines.len() - kept.len();
    Some(match budget.prompt.size {
        PromptSize::Full => {
            let more = if left_out > 0 {
                format!(
                    "\n[{left_out} more are not listed here for want of room; Skill knows them by name]"
                )
            } else {
                String::new()
            };
            format!("{INTRO}\n\n{}{more}", kept.join("\n"))
        }
        PromptSize::Short => {
            let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
            format!("Instructions for certain tasks, called with Skill: {}{more}.", kept.join(", "))
        }
    })
}

fn line(skill: &Skill, size: PromptSize) -> String {
    match size {
        PromptSize::Full if skill.description.is_empty() => format!("- {}", skill.name),
        PromptSize::Full => {
            format!("- {}: {}", skill.name, head::on_one_line(&skill.description, ONE))
        }
        PromptSize::Short => skill.name.clone(),
    }
}
