//! Session notes as text (B-13 to B-16): the template, the prompt of the run that keeps them, and what is
//! checked, warned of and cut.
//!
//! A section is a line `# Heading` and under it a line in italics that says what belongs there; both stay
//! as they are for as long as the notes live.

use std::fmt;

use dormouse_conversation::{Budget, estimate_text};
use thiserror::Error;

use super::texts::{bytes_of, head_lines};

/// The notes of a session that has said nothing yet.
pub const TEMPLATE: &str = include_str!("notes_template.md");

/// What the notes run is asked; `{{notesPath}}` and `{{currentNotes}}` are filled in.
pub const PROMPT: &str = include_str!("notes_prompt.md");

/// Fills `{{name}}` places, in one pass: what is filled in stays as it is, whatever stands in it, and so
/// does a place that has no value.
pub fn fill(template: &str, variables: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, inside)) = rest.split_once("{{") {
        filled.push_str(before);
        let value = inside.split_once("}}").and_then(|(name, after)| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name.trim())?;
            Some((*value, after))
        });
        match value {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push_str("{{");
                rest = inside;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// A template, ours or the person's: the lines that have to stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    fixed: Vec<String>,
}

/// Notes that lost a line of their template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Damage {
    /// A heading or a line in italics is gone.
    #[error("the line `{0}` is missing from the notes")]
    Missing(String),
    /// It is there more than once.
    #[error("the line `{0}` stands in the notes more than once")]
    Repeated(String),
    /// It is not where the template has it.
    #[error("the line `{0}` is not in its place in the notes")]
    Moved(String),
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Self {
        let fixed = section_starts(text)
            .into_iter()
            .flat_map(|start| [Some(start.heading), start.about])
            .flatten()
            .map(str::to_owned)
            .collect();
        Self { text: text.to_owned(), fixed }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether all headings and lines in italics are there, in their order, each once.
    pub fn check(&self, notes: &str) -> Result<(), Damage> {
        let found: Vec<&str> = notes
            .lines()
            .map(str::trim_end)
            .filter(|line| self.fixed.iter().any(|fixed| fixed == line))
            .collect();
        for line in &self.fixed {
            match found.iter().filter(|found| *found == line).count() {
                0 => return Err(Damage::Missing(line.clone())),
                1 => {}
                _ => return Err(Damage::Repeated(line.clone())),
            }
        }
        match self.fixed.iter().zip(&found).find(|(fixed, found)| fixed != *found) {
            Some((fixed, _)) => Err(Damage::Moved(fixed.clone())),
            None => Ok(()),
        }
    }

    /// Whether nothing was written yet: the template, white space aside.
    pub fn says_nothing(&self, notes: &str) -> bool {
        notes.split_whitespace().eq(self.text.split_whitespace())
    }
}

/// A section of the notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading, without the mark.
    pub heading: String,
    /// What it takes, estimated.
    pub tokens: u64,
}

/// The sections of the notes, in order.
pub fn sections(notes: &str) -> Vec<Section> {
    pieces(notes)
        .into_iter()
        .filter(|piece| piece.text.starts_with("# "))
        .map(|piece| Section {
            heading: piece.heading().to_owned(),
            tokens: u64::from(estimate_text(piece.text)),
        })
        .collect()
}

/// What the next run is told about notes that are too long; none if they are not.
pub fn length_warning(notes: &str, budget: &Budget) -> Option<String> {
    let each = budget.notes_section_tokens;
    let all = budget.notes_tokens;
    let total = estimate_text(notes);
    let long: Vec<String> = sections(notes)
        .into_iter()
        .filter(|section| section.tokens > u64::from(each))
        .map(|section| format!("- \"{}\": about {} tokens", section.heading, section.tokens))
        .collect();
    if long.is_empty() && total <= all {
        return None;
    }
    let mut text = String::new();
    if total > all {
        text.push_str(&format!("IMPORTANT: the notes take about {total} tokens, and everything above {all} is cut off when they are needed. Shorten them in this run, below {all}: merge what repeats, drop what no longer matters, and keep Current State and Errors & Corrections exact.\n"));
    }
    if !long.is_empty() {
        text.push_str(&format!("These sections are longer than {each} tokens each; shorten them to what matters, without losing names, paths and numbers:\n{}\n", long.join("\n")));
    }
    Some(text)
}

/// The notes as they stand in a summary: each section and the whole cut to their bounds, at the end of a
/// line, with the place of the rest.
pub fn cut(notes: &str, budget: &Budget, path: &str) -> String {
    let pieces = pieces(notes);
    let sizes: Vec<usize> = pieces.iter().map(|piece| piece.text.len()).collect();
    let each = bytes_of(u64::from(budget.notes_section_tokens));
    let bound = each.min(fair_bound(&sizes, bytes_of(u64::from(budget.notes_tokens))));
    pieces.iter().map(|piece| piece.cut(bound, path)).collect()
}

/// The largest bound with which the sizes, each cut to it, fit into all.
fn fair_bound(sizes: &[usize], all: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = all;
    for (index, size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

/// The text of the title section; none while it is empty.
pub fn title(notes: &str) -> Option<String> {
    let pieces = pieces(notes);
    let first = pieces.iter().find(|piece| piece.text.starts_with("# "))?;
    first
        .text
        .lines()
        .skip(1)
        .map(str::trim)
        .find(|line| !line.is_empty() && !is_italic(line))
        .map(str::to_owned)
}

/// Why the notes do not become the summary this time (C-15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepAside {
    /// The settings say so.
    SwitchedOff,
    /// No notes were kept.
    NoNotes,
    /// Nothing was written into them yet.
    OnlyTemplate,
    /// The message that they reach to is no longer there.
    ReachGone,
    /// The conversation would still be above the threshold.
    StillTooLarge,
    /// Something went wrong.
    Failed(String),
}

impl fmt::Display for StepAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SwitchedOff => f.write_str("compaction from session notes is switched off"),
            Self::NoNotes => f.write_str("this session has no notes"),
            Self::OnlyTemplate => f.write_str("nothing was written into the session notes yet"),
            Self::ReachGone => {
                f.write_str("the message that the session notes reach to is no longer there")
            }
            Self::StillTooLarge => f.write_str(
                "with the session notes and the messages after them the window would still be too full",
            ),
            Self::Failed(why) => write!(f, "the session notes could not be used: {why}"),
        }
    }
}

/// A heading, and the line in italics under it.
struct Start<'a> {
    at: usize,
    heading: &'a str,
    about: Option<&'a str>,
}

/// Where sections start. A heading has its line in italics, so that a comment of a script in the notes is
/// none; in a template without any italics every heading counts.
fn section_starts(text: &str) -> Vec<Start<'_>> {
    let starts = headings(text);
    if starts.iter().all(|start| start.about.is_none()) {
        return starts;
    }
    starts.into_iter().filter(|start| start.about.is_some()).collect()
}

fn headings(text: &str) -> Vec<Start<'_>> {
    let mut starts: Vec<Start<'_>> = Vec::new();
    let mut waiting = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let shown = line.trim_end();
        if shown.starts_with("# ") {
            starts.push(Start { at, heading: shown, about: None });
            waiting = true;
        } else if waiting && !shown.is_empty() {
            waiting = false;
            if let Some(start) = starts.last_mut().filter(|_| is_italic(shown)) {
                start.about = Some(shown);
            }
        }
        at += line.len();
    }
    starts
}

fn is_italic(line: &str) -> bool {
    line.len() > 2 && line.starts_with('_') && line.ends_with('_')
}

/// A section with its text, or what stands before the first.
struct Piece<'a> {
    text: &'a str,
}

impl Piece<'_> {
    fn heading(&self) -> &str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }

    fn cut(&self, bytes: usize, path: &str) -> String {
        if self.text.len() <= bytes {
            return self.text.to_owned();
        }
        let said = |lines: usize| {
            format!("\n[cut here: {lines} more lines of this section are in {path}]\n\n")
        };
        let kept = head_lines(self.text, bytes.saturating_sub(said(usize::MAX).len()));
        let left_out = self.text.get(kept.len()..).unwrap_or_default();
        format!("{kept}{}", said(left_out.trim().lines().count()))
    }
}

fn pieces(notes: &str) -> Vec<Piece<'_>> {
    let mut ends: Vec<usize> = section_starts(notes).iter().map(|start| start.at).collect();
    ends.push(notes.len());
    let mut begin = 0;
    let mut pieces = Vec::new();
    for end in ends {
        if let Some(text) = notes.get(begin..end).filter(|text| !text.is_empty()) {
            pieces.push(Piece { text });
        }
        begin = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_conversation::Window;
    use proptest::prelude::*;

    fn budget(window: u32) -> Budget {
        Budget::for_window(Window::new(window).unwrap(), 64_000)
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
        assert_eq!(
            template().check(&TEMPLATE.replace(about, "")),
            Err(Damage::Missing(about.into()))
        );
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
        assert_eq!(title(TEMPLATE), None);
        assert_eq!(
            title(&with("Session Title", "Mending the parser")).unwrap(),
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
        assert_eq!(cut(&short, &budget, "/s/n.md"), short);
        let notes = with("Workflow", &"a step\n".repeat(2_000));
        let shown = cut(&notes, &budget, "/s/n.md");
        assert_eq!(template().check(&shown), Ok(()), "{shown}");
        assert!(
            shown.contains("a step\n[cut here: 882 more lines of this section are in /s/n.md]\n"),
            "{shown}"
        );
        let whole = with("Key Results", &"睡".repeat(300_000));
        assert!(estimate_text(&cut(&whole, &budget, "/s/n.md")) <= 12_000);
    }

    #[test]
    fn a_template_of_the_person() {
        let own = Template::parse("# Goal\n\n# Next\n");
        assert_eq!(own.check("# Goal\nx\n# Next\ny\n"), Ok(()));
        assert_eq!(own.check("# Goal\n"), Err(Damage::Missing("# Next".into())));
        assert_eq!(Template::parse("no headings").check("anything"), Ok(()));
    }

    proptest! {
        #[test]
        fn what_is_cut_fits(lengths in prop::collection::vec(0_usize..3_000, 10), window in 8_000_u32..400_000) {
            let budget = budget(window);
            let headings: Vec<String> = sections(TEMPLATE).into_iter().map(|section| section.heading).collect();
            let section = |(heading, length): (&String, &usize)| {
                format!("# {heading}\n_about_\n{}\n", "a line\n".repeat(*length))
            };
            let notes: Vec<String> = headings.iter().zip(&lengths).map(section).collect();
            let shown = cut(&notes.concat(), &budget, "/s/notes.md");
            prop_assert!(estimate_text(&shown) <= budget.notes_tokens, "{} of {}", estimate_text(&shown), budget.notes_tokens);
            prop_assert_eq!(sections(&shown).len(), 10);
        }

        #[test]
        fn any_text_is_taken(notes in "[#_ a\n{}$]{0,200}") {
            let budget = budget(32_000);
            prop_assert_eq!(&cut(&notes, &budget, "p"), &notes);
            prop_assert_eq!(&fill(&notes, &[]), &notes);
            prop_assert!(template().check(&notes).is_err());
            prop_assert!(title(&notes).is_none_or(|title| notes.contains(&title)));
            prop_assert_eq!(length_warning(&notes, &budget), None);
        }
    }
}
