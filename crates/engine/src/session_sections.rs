//! What the model is told about this session (L-39): how the user can be reached, its own name and window, the user's
//! language, the output style, the scratch folder.
//!
//! Each is a fact like those of announcers: it enters the prefix when that is built, and a change is told at the end of the
//! conversation. All of it is the same for every session of a project, so that servers keep it cached. Where the scratch
//! folder is concerns one machine, so it stands in the first message.

use dormouse_base::group_digits;
use dormouse_conversation::PromptSize;
use dormouse_model::knowledge_cutoff;

use crate::announcements::{AnnouncedFact, PromptPosition};
use crate::config::EngineConfig;

const INTERACTIVE: &str = "Where a command needs the user, as a log-in does, ask them to type `! command` at the prompt: you get its output.";

const HEADLESS: &str = "This run is not interactive: nobody answers questions. Where you would ask, choose, and say what you chose. Calls that need a confirmation are refused.";

/// The sections of this session; none for a subagent, which has instructions of its own. In a small window only what the
/// user has set.
pub(crate) fn session_sections(config: &EngineConfig) -> Vec<AnnouncedFact> {
    let Some(texts) = &config.overrides.session else { return Vec::new() };
    let system = PromptPosition::System;
    let chosen = [
        ("Language", texts.language.clone(), system),
        ("Output style", texts.output_style.clone(), system),
    ];
    let own = match config.model.budget.prompt.size {
        PromptSize::Short => Vec::new(),
        PromptSize::Full => {
            let guidance = if config.tools.confirmer.is_some() { INTERACTIVE } else { HEADLESS };
            vec![
                ("Session", Some(guidance.to_owned()), system),
                ("Model", Some(model(config)), system),
                ("Scratch folder", scratch(config), PromptPosition::First),
            ]
        }
    };
    let all = own.into_iter().chain(chosen);
    all.filter_map(|(fact, text, place)| {
        Some(AnnouncedFact { fact: fact.to_owned(), text: text?, place })
    })
    .collect()
}

/// Its name, the end of its knowledge where that is known, and its token budget.
fn model(config: &EngineConfig) -> String {
    let name = &config.model.name;
    let knowledge = knowledge_cutoff(name).map_or_else(String::new, |until| {
        format!(" Your knowledge ends in {until}: look up what may be newer.")
    });
    let window = group_digits(u64::from(config.model.budget.window));
    format!(
        "You run as {name}.{knowledge} Your context window has {window} tokens; the program keeps it from filling up."
    )
}

fn scratch(config: &EngineConfig) -> Option<String> {
    let folder = config.tools.scratch.as_ref()?.display();
    Some(format!(
        "Put temporary files into {folder}, not into the project: writing there needs no confirmation."
    ))
}
