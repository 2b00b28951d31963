//! Requests for tokens: in exchange for a code, for a refresh token, and their end (RFC 7009).

use dormouse_base::{Redactor, Secret};
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::addresses::{CheckedUrl, json};
use super::client_identity::ClientIdentity;
use super::error::OAuthError;

/// What an authorization server grants.
#[derive(Deserialize)]
pub(super) struct Granted {
    pub(super) access_token: String,
    token_type: String,
    pub(super) expires_in: Option<i64>,
    pub(super) refresh_token: Option<String>,
    pub(super) scope: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    error_description: String,
}

/// Fields that nobody else may see.
const SECRET_FIELDS: [&str; 4] = ["token", "refresh_token", "code", "code_verifier"];
const FORM: &str = "application/x-www-form-urlencoded";

/// Asks for tokens.
pub(super) async fn request_tokens(
    what: &'static str,
    endpoint: &CheckedUrl,
    identity: &ClientIdentity,
    fields: &[(&str, &str)],
) -> Result<Granted, OAuthError> {
    let (status, body) = post(what, endpoint, identity, fields).await?;
    if !status.is_success() {
        return Err(without_secrets(refusal(what, status, &body), fields));
    }
    let granted: Granted = json(&body, what)?;
    if !granted.token_type.eq_ignore_ascii_case("bearer") {
        let reason = "the token is of a kind that is not supported".to_owned();
        return Err(OAuthError::Request { what, reason });
    }
    Ok(granted)
}

/// Ends a token.
pub(super) async fn revoke(
    endpoint: &CheckedUrl,
    identity: &ClientIdentity,
    token: &str,
    kind: &str,
) -> Result<(), OAuthError> {
    let what = "the revocation of the token";
    let fields = [("token", token), ("token_type_hint", kind)];
    let (status, body) = post(what, endpoint, identity, &fields).await?;
    if status.is_success() {
        return Ok(());
    }
    Err(without_secrets(refusal(what, status, &body), &fields))
}

/// A refusal that does not repeat what was sent.
fn without_secrets(error: OAuthError, fields: &[(&str, &str)]) -> OAuthError {
    let sent = fields.iter().filter(|(name, _)| SECRET_FIELDS.contains(name));
    let redactor = Redactor::new(sent.map(|(_, value)| Secret::new(value)));
    match error {
        OAuthError::Refused { what, code, description } => OAuthError::Refused {
            what,
            code: redactor.redact(&code),
            description: redactor.redact(&description),
        },
        other => other,
    }
}

async fn post(
    what: &'static str,
    endpoint: &CheckedUrl,
    identity: &ClientIdentity,
    fields: &[(&str, &str)],
) -> Result<(StatusCode, Vec<u8>), OAuthError> {
    let ClientIdentity { client_id, client_secret, by_header } = identity;
    let mut fields = fields.to_vec();
    let in_header = client_secret.as_deref().filter(|_| *by_header);
    if in_header.is_none() {
        fields.push(("client_id", client_id));
        fields.extend(client_secret.as_deref().map(|secret| ("client_secret", secret)));
    }
    endpoint
        .post(what, FORM, form(&fields), |request| match in_header {
            Some(secret) => request.basic_auth(form_value(client_id), Some(form_value(secret))),
            None => request,
        })
        .await
}

/// Fields as a form.
pub(super) fn form(fields: &[(&str, &str)]) -> String {
    // Only its query is used.
    let url = Url::parse_with_params("http://localhost/", fields);
    url.ok().and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
}

/// One value as it stands in a form, as RFC 6749 wants it in the header.
fn form_value(value: &str) -> String {
    form(&[("", value)]).trim_start_matches('=').to_owned()
}

/// What an authorization server says when it refuses. Of other texts only the status is told: they may repeat what was sent.
pub(super) fn refusal(what: &'static str, status: StatusCode, body: &[u8]) -> OAuthError {
    let shown = |text: &str| {
        let plain = text.chars().filter(|c| !c.is_control());
        plain.take(200).collect::<String>()
    };
    match serde_json::from_slice::<Refusal>(body) {
        Ok(refused) => OAuthError::Refused {
            what,
            code: shown(&refused.error),
            description: shown(&refused.error_description),
        },
        Err(_) => OAuthError::status(what, status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded() {
        assert_eq!(
            form(&[("a", "b c&d"), ("e", "http://x/?y")]),
            "a=b+c%26d&e=http%3A%2F%2Fx%2F%3Fy"
        );
        assert_eq!(form_value("a:b c"), "a%3Ab+c");
    }
}
