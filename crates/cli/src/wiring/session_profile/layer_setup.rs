//! Which context layers a profiled session can have had: by the switches in force, the model and its server.

use dormouse_base::{LayerSwitch, Switches};
use dormouse_context::profile::LayerAvailability;
use dormouse_conversation::transcript::{Replay, ReplayEvent};
use dormouse_model::{ANTHROPIC_URL, binds_thinking};

/// The models of servers that clear by themselves.
const CLEARING_MODELS: &str = "claude-";

/// Whether a layer that did not act in the session was on, off, or not to be had.
pub(crate) fn availability(
    layer: LayerSwitch,
    replay: &Replay,
    switches: &Switches,
) -> LayerAvailability {
    // Of another agent nobody knows what was on.
    let is_on = replay.origin.is_some() && is_on(layer, replay, switches);
    let is_offered = match layer {
        // No public server has it: only a setting can say that this one does.
        LayerSwitch::CacheEdits => is_on,
        LayerSwitch::ServerClearing => clears_itself(replay),
        _ => true,
    };
    if !is_offered {
        LayerAvailability::NotOffered
    } else if is_on {
        LayerAvailability::On
    } else {
        LayerAvailability::Off
    }
}

fn is_on(layer: LayerSwitch, replay: &Replay, switches: &Switches) -> bool {
    let is_default = switches.get(layer).is_some_and(|state| state.origin == "default");
    let binds = replay.origin.as_ref().is_some_and(|origin| binds_thinking(&origin.model));
    // Where thinking is bound to earlier messages, clearing is on only if the user says so.
    let is_left_out = layer == LayerSwitch::TimeClearing && is_default && binds;
    switches.is_on(layer) && !is_left_out
}

/// Whether the session's server clears old results by itself, as far as the transcript tells.
fn clears_itself(replay: &Replay) -> bool {
    if let Some(origin) = &replay.origin {
        return origin.server.trim_end_matches('/') == ANTHROPIC_URL;
    }
    let models = replay.events.iter().filter_map(|event| match event {
        ReplayEvent::Message(said) => Some(said.message.response.as_ref()?.model.as_str()),
        _ => None,
    });
    let mut models = models.filter(|model| !model.starts_with('<')).peekable();
    models.peek().is_some() && models.all(|model| model.starts_with(CLEARING_MODELS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_base::{Environment, SettingsStack};
    use dormouse_conversation::PrefixOrigin;

    fn of(server: &str, model: &str, variables: &[(&str, &str)]) -> Vec<LayerAvailability> {
        let environment = Environment::from_pairs(variables.iter().copied());
        let switches = Switches::resolve(&SettingsStack::default(), &environment).unwrap();
        let origin = PrefixOrigin { model: model.into(), server: server.into(), max_tokens: None };
        let replay = Replay { origin: Some(origin), ..Replay::default() };
        let layers = [
            LayerSwitch::TimeClearing,
            LayerSwitch::CacheEdits,
            LayerSwitch::ServerClearing,
            LayerSwitch::Snip,
        ];
        layers.map(|layer| availability(layer, &replay, &switches)).to_vec()
    }

    #[test]
    fn by_switch_model_and_server() {
        use LayerAvailability::{NotOffered, Off, On};
        assert_eq!(of(ANTHROPIC_URL, "claude-sonnet-4-5", &[]), [On, NotOffered, Off, Off]);
        assert_eq!(of("http://localhost:1", "qwen", &[]), [On, NotOffered, NotOffered, Off]);
        assert_eq!(of(ANTHROPIC_URL, "claude-opus-5-5", &[])[0], Off, "its thinking is bound");
        let said = [
            ("DORMOUSE_TIME_CLEARING", "1"),
            ("DORMOUSE_CACHE_EDITS", "1"),
            ("DORMOUSE_SERVER_CLEARING", "1"),
            ("DORMOUSE_SNIP", "1"),
        ];
        assert_eq!(of(ANTHROPIC_URL, "claude-opus-5-5", &said), [On; 4]);
    }

    #[test]
    fn every_switch_that_is_on_as_shipped_is_on_for_a_session_of_ours() {
        let switches = Switches::resolve(&SettingsStack::default(), &Environment::default());
        let switches = switches.unwrap();
        let origin = PrefixOrigin {
            model: "claude-sonnet-4-5".into(),
            server: ANTHROPIC_URL.into(),
            max_tokens: None,
        };
        let ours = Replay { origin: Some(origin), ..Replay::default() };
        for layer in LayerSwitch::ALL {
            let is_on = availability(layer, &ours, &switches) == LayerAvailability::On;
            assert_eq!(is_on, layer.default_on(), "{layer}");
            let theirs = availability(layer, &Replay::default(), &switches);
            assert_ne!(theirs, LayerAvailability::On, "{layer}");
        }
    }
}
