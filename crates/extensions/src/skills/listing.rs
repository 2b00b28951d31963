//! The list of skills for the model: names and descriptions, within bounds.

use dormouse_conversation::{Budget, PromptSize};

use super::frontmatter::on_one_line;
use super::session_skills::Skills;
use super::skill::Skill;

/// The longest list, in characters; also at most 1/25 of the window's tokens.
const MAX_CHARS: usize = 8_000;
/// The longest description in the list.
const MAX_DESCRIPTION: usize = 300;

const INTRO: &str = "Skills are instructions for certain tasks, each in a folder of its own. Where a task fits one of these descriptions, call the tool Skill with its name before you begin, and follow what it says. The user calls one with /name; its text is then in their message, and is not to be called again.";

/// The first lines that fit into a number of characters.
pub fn lines_within(lines: &[String], max_chars: usize) -> Vec<&str> {
    let mut used = 0;
    let fits = |line: &&str| {
        used += line.chars().count() + 1;
        used <= max_chars
    };
    lines.iter().map(String::as_str).take_while(fits).collect()
}

/// The list of skills; `None` if the model can call none.
pub fn skill_listing(skills: &Skills, budget: &Budget) -> Option<String> {
    let lines: Vec<String> =
        skills.callable_by_model().map(|skill| line(skill, budget.prompt.size)).collect();
    if lines.is_empty() {
        return None;
    }
    let window = usize::try_from(budget.window).unwrap_or(usize::MAX);
    let max_chars = MAX_CHARS.min(window / 25);
    let kept = lines_within(&lines, max_chars);
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
            format!("- {}: {}", skill.name, on_one_line(&skill.description, MAX_DESCRIPTION))
        }
        PromptSize::Short => skill.name.clone(),
    }
}
