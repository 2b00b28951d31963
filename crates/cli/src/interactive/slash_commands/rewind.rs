//! `/rewind`: list the user's messages with what changed after each, and go back to before one of them.

use dormouse_checkpoint::{RewindPlan, RewindRequest, RewindScope};
use dormouse_engine::SessionRewind;

use crate::commands::rewind::{differences, listing_cost, outcome_text, plan_text, point, rows};
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
