//! The key: whether there is one, and from where. The key itself is never shown.

use dormouse_base::names;
use dormouse_model::{Credential, Provider, ProviderError, choose_provider};

use super::finding::Finding;
use super::scene::Scene;
use crate::wiring::connect::key_from_command;

const AREA: &str = "key";

/// A provider, and what its key came from.
pub(super) struct Known {
    pub(super) provider: Provider,
    pub(super) key_source: Option<String>,
}

pub(super) async fn check(scene: &Scene<'_>) -> (Vec<Finding>, Option<Known>) {
    let environment = &scene.world.environment;
    let key = match key_from_command(&scene.settings, environment, &scene.project.folder).await {
        Ok(key) => key,
        Err(failure) => {
            let mend = "run the command by hand: it has to print the key and nothing else";
            return (vec![Finding::problem(AREA, failure.message(), mend)], None);
        }
    };
    let from_command = key.is_some();
    match choose_provider(&scene.settings.provider, environment, key) {
        Err(error) => (vec![no_provider(&error)], None),
        Ok(provider) => {
            let source = source(scene, &provider, from_command);
            let finding = found(scene, &provider, source.as_deref());
            (vec![finding], Some(Known { provider, key_source: source }))
        }
    }
}

fn no_provider(error: &ProviderError) -> Finding {
    let mend = match error {
        ProviderError::NotConfigured => {
            "export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…, or OPENAI_BASE_URL=http://host:port/v1 for a server of your own; `dormouse demo` works without".to_owned()
        }
        ProviderError::NoKey { variable, .. } | ProviderError::BadKey { variable } => {
            format!("export {variable}=… with a valid key")
        }
        ProviderError::BadValue { .. } => "correct it, or take it out".to_owned(),
    };
    Finding::problem(AREA, error.to_string(), mend)
}

/// Where the key comes from; none where none is sent.
fn source(scene: &Scene<'_>, provider: &Provider, from_command: bool) -> Option<String> {
    match &provider.endpoint.credential {
        Credential::None => None,
        _ if from_command => Some("the command of provider.keyCommand".to_owned()),
        Credential::Bearer(_) if scene.world.environment.get(&provider.key_variable).is_none() => {
            Some(names::ANTHROPIC_AUTH_TOKEN.to_owned())
        }
        Credential::ApiKey(_) | Credential::Bearer(_) => Some(provider.key_variable.clone()),
    }
}

fn found(scene: &Scene<'_>, provider: &Provider, source: Option<&str>) -> Finding {
    let server = provider.endpoint.shown_url();
    let Some(source) = source else {
        return Finding::well(AREA, format!("none; none is sent to {server}"));
    };
    let keys = [names::ANTHROPIC_API_KEY, names::OPENAI_API_KEY];
    let unused = keys.iter().find(|name| {
        **name != provider.key_variable && scene.world.environment.get(name).is_some()
    });
    let also = unused.map_or(String::new(), |name| format!("; {name} is set too and not used"));
    Finding::well(AREA, format!("from {source}, for {server}{also}"))
}
