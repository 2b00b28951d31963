//! The API key: whether there is one, and its source. The key itself is never printed.

use dormouse_base::names;
use dormouse_model::{Credential, Provider, ProviderError, choose_provider};

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::message_catalog::msg;
use crate::wiring::connect::{key_from_command, provider_error};

const AREA: &str = "key";

/// A provider, and the source of its API key.
pub(super) struct ConfiguredProvider {
    pub(super) provider: Provider,
    pub(super) key_source: Option<String>,
}

pub(super) async fn check(
    context: &DoctorContext<'_>,
) -> (Vec<DoctorFinding>, Option<ConfiguredProvider>) {
    let environment = &context.world.environment;
    let key = match key_from_command(&context.settings, environment, &context.project.folder).await
    {
        Ok(key) => key,
        Err(failure) => {
            let fix = msg!("doctor-key-fix-command");
            return (vec![DoctorFinding::problem(AREA, failure.message(), fix)], None);
        }
    };
    let from_command = key.is_some();
    match choose_provider(&context.settings.provider, environment, key) {
        Err(error) => (vec![no_provider(&error)], None),
        Ok(provider) => {
            let source = source(context, &provider, from_command);
            let finding = key_finding(context, &provider, source.as_deref());
            (vec![finding], Some(ConfiguredProvider { provider, key_source: source }))
        }
    }
}

fn no_provider(error: &ProviderError) -> DoctorFinding {
    let fix = match error {
        ProviderError::NotConfigured => msg!("doctor-key-fix-none"),
        ProviderError::NoKey { variable, .. } | ProviderError::BadKey { variable } => {
            msg!("doctor-key-fix-invalid", variable = variable)
        }
        ProviderError::BadValue { .. } => msg!("doctor-fix-value"),
    };
    DoctorFinding::problem(AREA, provider_error(error), fix)
}

/// The source of the key; none if no key is sent.
fn source(context: &DoctorContext<'_>, provider: &Provider, from_command: bool) -> Option<String> {
    match &provider.endpoint.credential {
        Credential::None => None,
        _ if from_command => Some("provider.keyCommand".to_owned()),
        Credential::Bearer(_)
            if context.world.environment.get(&provider.key_variable).is_none() =>
        {
            Some(names::ANTHROPIC_AUTH_TOKEN.to_owned())
        }
        Credential::ApiKey(_) | Credential::Bearer(_) => Some(provider.key_variable.clone()),
    }
}

fn key_finding(
    context: &DoctorContext<'_>,
    provider: &Provider,
    source: Option<&str>,
) -> DoctorFinding {
    let server = provider.endpoint.shown_url();
    let Some(source) = source else {
        return DoctorFinding::ok(AREA, msg!("doctor-key-not-needed", server = server));
    };
    let keys = [names::ANTHROPIC_API_KEY, names::OPENAI_API_KEY];
    let unused = keys.iter().find(|name| {
        **name != provider.key_variable && context.world.environment.get(name).is_some()
    });
    DoctorFinding::ok(
        AREA,
        match unused {
            None => msg!("doctor-key-ok", source = source, server = server),
            Some(unused) => {
                msg!("doctor-key-ok-unused", source = source, server = server, unused = *unused)
            }
        },
    )
}
