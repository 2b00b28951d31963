//! `/rewind`: list the user's messages with what changed after each, and go back to before one of them.

use dormouse_checkpoint::{RewindPlan, RewindRequest, RewindScope};
use dormouse_engine::SessionRewind;
use dormouse_tui::picker::{Picker, PickerEntry};

use crate::commands::rewind::{differences, listing_cost, outcome_text, plan_text, point, rows};
use crate::interactive::pick::picker_texts;
use crate::interactive::session::InteractiveSession;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

/// The arguments of `/rewind`.
struct RewindWords {
    number: usize,
    scope: RewindScope,
    overwrite: bool,
}

impl InteractiveSession<'_> {
    /// Runs `/rewind [N [code|conversation] [overwrite]]`.
    pub(super) fn rewind(&mut self, rest: &str) {
        match self.go_back(rest) {
            Ok(text) => self.view.say(&text),
            Err(failure) => self.view.failure(&failure),
        }
    }

    /// Lets the user pick a message to go back to, and what to undo.
    pub(in crate::interactive) async fn pick_rewind(&mut self) {
        let points = match (SessionRewind { engine: &mut self.session.engine }).points() {
            Ok(points) => points,
            Err(error) => return self.view.failure(&error.into()),
        };
        if points.is_empty() {
            return self.view.say(&msg!("rewind-none"));
        }
        let rows = rows(&points, &self.session.project.folder);
        let entries = rows.into_iter().rev().map(|(number, text)| {
            let (title, changed) = text.split_once('\n').unwrap_or((&text, ""));
            PickerEntry {
                title: title.to_owned(),
                details: number,
                preview: vec![changed.to_owned()],
            }
        });
        let picker = Picker::new(picker_texts(msg!("picker-rewind")), entries.collect());
        let Some(at) = self.input.pick(&self.view, picker).await else { return };
        let number = points.len() - at;
        let scopes = [
            ("both", msg!("rewind-scope-both")),
            ("conversation", msg!("rewind-scope-conversation")),
            ("code", msg!("rewind-scope-code")),
        ];
        let entry = |title: &String| PickerEntry { title: title.clone(), ..PickerEntry::default() };
        let entries = scopes.iter().map(|(_, title)| entry(title)).collect();
        let heading = msg!("picker-rewind-scope", number = number);
        let picker = Picker::new(picker_texts(heading), entries);
        let picked = self.input.pick(&self.view, picker).await;
        if let Some((scope, _)) = picked.and_then(|at| scopes.get(at)) {
            self.rewind(&format!("{number} {scope}"));
        }
    }

    fn go_back(&mut self, rest: &str) -> Result<String, Failure> {
        let mut rewinding = SessionRewind { engine: &mut self.session.engine };
        let folder = &self.session.project.folder;
        let points = rewinding.points()?;
        if rest.is_empty() {
            self.view.list(&rows(&points, folder));
            let how = if points.is_empty() { msg!("rewind-none") } else { msg!("rewind-how-here") };
            let lines: Vec<String> = std::iter::once(how).chain(listing_cost(&points)).collect();
            return Ok(lines.join("\n"));
        }
        let Some(words) = parse(rest) else { return Ok(msg!("rewind-usage-here")) };
        let point = point(&points, words.number)?;
        let plan = match words.scope {
            RewindScope::Conversation => RewindPlan::default(),
            RewindScope::Code | RewindScope::Both => rewinding.plan(point.target)?,
        };
        let text = plan_text(&plan, folder, words.overwrite);
        let lost = differences(&plan, rewinding.contents().as_ref());
        let RewindWords { number, scope, overwrite } = words;
        let request = RewindRequest { target: point.target, scope, overwrite };
        let outcome = rewinding.go_back(request, &plan)?;
        // The message can be changed and sent again.
        let prompt = outcome.prompt.clone().unwrap_or_default();
        self.input.set_text(&self.view, &prompt);
        let done = outcome_text(&outcome, scope, number);
        let hint = if lost.is_empty() || overwrite {
            String::new()
        } else {
            format!("\n{}", msg!("rewind-overwrite-here", number = number))
        };
        Ok(format!("{text}{lost}{done}{hint}"))
    }
}

fn parse(rest: &str) -> Option<RewindWords> {
    let mut words = rest.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut parsed = RewindWords { number, scope: RewindScope::Both, overwrite: false };
    for word in words {
        match word {
            "code" => parsed.scope = RewindScope::Code,
            "conversation" => parsed.scope = RewindScope::Conversation,
            "both" => parsed.scope = RewindScope::Both,
            "overwrite" => parsed.overwrite = true,
            _ => return None,
        }
    }
    Some(parsed)
}
