//! The notes' promises.

use super::*;
use dormouse_conversation::{Budget, ContextWindow, estimate_text};
use proptest::prelude::*;

fn budget(window: u32) -> Budget {
    Budget::for_window(ContextWindow::new(window).unwrap(), 64_000)
}

fn template() -> Template {
    Template::parse(TEMPLATE)
}

/// The template with a text in a section.
fn with(heading: &str, text: &str) -> String {
    let (before, after) = TEMPLATE.split_once(&format!("# {heading}\n")).unwrap();
    let (about, after) = after.split_once('\n').unwrap();
    format!("{before}# {heading}\n{about}\n{text}\n{after}")
}

#[test]
fn ten_sections_each_with_its_line() {
    assert_eq!(sections(TEMPLATE).len(), 10);
    assert_eq!(template().fixed.len(), 20);
    assert_eq!(template().check(TEMPLATE), Ok(()));
}

#[test]
fn filled_once() {
    let filled = fill("a {{x}} {{ y }} {{z}} {{", &[("x", "$1 {{y}} \\"), ("y", "Y")]);
    assert_eq!(filled, "a $1 {{y}} \\ Y {{z}} {{");
    let prompt = fill(PROMPT, &[("notesPath", "/s/n.md"), ("currentNotes", TEMPLATE)]);
    assert!(
        prompt.contains("file /s/n.md.") && prompt.contains(TEMPLATE) && !prompt.contains("{{")
    );
}

#[test]
fn damage_is_seen() {
    let good = with("Workflow", "# a comment of a script\n_not_ this\nmake");
    assert_eq!(template().check(&good), Ok(()));
    let line = "# Learnings";
    assert_eq!(
        template().check(&TEMPLATE.replace(line, "# Lessons")),
        Err(Damage::Missing(line.into()))
    );
    assert_eq!(
        template().check(&format!("{TEMPLATE}{line}\n")),
        Err(Damage::Repeated(line.into()))
    );
    let about = "_What was tried and done, step by step, a very short line each_";
    assert_eq!(template().check(&TEMPLATE.replace(about, "")), Err(Damage::Missing(about.into())));
    let swapped = TEMPLATE
        .replace("# Workflow", "#")
        .replace("# Worklog", "# Workflow")
        .replace("#\n", "# Worklog\n");
    assert_eq!(template().check(&swapped), Err(Damage::Moved("# Workflow".into())));
}

#[test]
fn nothing_said_yet() {
    assert!(template().says_nothing(&TEMPLATE.replace('\n', "\r\n\n")));
    assert!(!template().says_nothing(&with("Worklog", "x")));
    assert_eq!(notes_title(TEMPLATE), None);
    assert_eq!(
        notes_title(&with("Session Title", "Mending the parser")).unwrap(),
        "Mending the parser"
    );
}

#[test]
fn warnings() {
    let budget = budget(200_000);
    assert_eq!(length_warning(&with("Worklog", "x"), &budget), None);
    let long = length_warning(&with("Worklog", &"a step\n".repeat(2_000)), &budget).unwrap();
    assert!(long.contains("- \"Worklog\": about 35") && !long.contains("IMPORTANT"), "{long}");
    let all = length_warning(&with("Worklog", &"a step\n".repeat(8_000)), &budget).unwrap();
    assert!(all.starts_with("IMPORTANT: ") && all.contains("above 12000"), "{all}");
}

#[test]
fn cut_at_lines_with_the_place_of_the_rest() {
    let budget = budget(200_000);
    let short = with("Worklog", "x");
    assert_eq!(truncate_notes(&short, &budget, "/s/n.md"), short);
    let notes = with("Workflow", &"a step\n".repeat(2_000));
    let shown = truncate_notes(&notes, &budget, "/s/n.md");
    assert_eq!(template().check(&shown), Ok(()), "{shown}");
    assert!(
        shown.contains("a step\n[cut here: 882 more lines of this section are in /s/n.md]\n"),
        "{shown}"
    );
    let whole = with("Key Results", &"睡".repeat(300_000));
    assert!(estimate_text(&truncate_notes(&whole, &budget, "/s/n.md")) <= 12_000);
}

#[test]
fn a_template_of_the_person() {
    let own = Template::parse("# Goal\n\n# Next\n");
    assert_eq!(own.check("# Goal\nx\n# Next\ny\n"), Ok(()));
    assert_eq!(own.check("# Goal\n"), Err(Damage::Missing("# Next".into())));
    assert_eq!(Template::parse("no headings").check("anything"), Ok(()));
}

proptest! {
#![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_cut_fits(lengths in prop::collection::vec(0_usize..3_000, 10), window in 8_000_u32..400_000) {
        let budget = budget(window);
        let headings: Vec<String> = sections(TEMPLATE).into_iter().map(|section| section.heading).collect();
        let section = |(heading, length): (&String, &usize)| {
            format!("# {heading}\n_about_\n{}\n", "a line\n".repeat(*length))
        };
        let notes: Vec<String> = headings.iter().zip(&lengths).map(section).collect();
        let shown = truncate_notes(&notes.concat(), &budget, "/s/notes.md");
        prop_assert!(estimate_text(&shown) <= budget.notes.tokens, "{} of {}", estimate_text(&shown), budget.notes.tokens);
        prop_assert_eq!(sections(&shown).len(), 10);
    }

    #[test]
    fn any_text_is_taken(notes in "[#_ a\n{}$]{0,200}") {
        let budget = budget(32_000);
        prop_assert_eq!(&truncate_notes(&notes, &budget, "p"), &notes);
        prop_assert_eq!(&fill(&notes, &[]), &notes);
        prop_assert!(template().check(&notes).is_err());
        prop_assert!(notes_title(&notes).is_none_or(|title| notes.contains(&title)));
        prop_assert_eq!(length_warning(&notes, &budget), None);
    }
}
