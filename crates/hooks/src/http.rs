//! Hooks of the kind `http`: posts JSON and parses the response like the output of a command.

use std::time::Duration;

use dormouse_base::{Environment, names};
use dormouse_tools::post_json;

use crate::event::HookEvent;
use crate::handler::HttpTarget;
use crate::response::{HookExit, HookResponse, parse_response};

/// Model API keys and the team's token are never sent, even if `allowedEnvVars` lists them.
const KEYS: [&str; 4] = [
    names::ANTHROPIC_API_KEY,
    names::ANTHROPIC_AUTH_TOKEN,
    names::OPENAI_API_KEY,
    names::TEAM_TOKEN,
];

/// Posts the event and parses the response. No HTTP status blocks; only JSON decides.
pub(crate) async fn post(
    event: HookEvent,
    name: &str,
    target: &HttpTarget,
    environment: &Environment,
    input: &[u8],
    timeout: Duration,
) -> HookResponse {
    let headers: Vec<(String, String)> = target
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), expand(value, &target.variables, environment)))
        .collect();
    let reply = match post_json(&target.url, &headers, input.to_vec(), timeout).await {
        Ok(reply) => reply,
        Err(error) => return ignored(name, &error.to_string()),
    };
    let body = reply.body.trim();
    if !(200..300).contains(&reply.status) {
        return ignored(name, &format!("the server returned {}", reply.status));
    }
    if body.is_empty() {
        return HookResponse::default();
    }
    if !body.starts_with('{') {
        return ignored(name, "the response of the server is not a JSON object");
    }
    let exit = HookExit { code: Some(0), stdout: body.to_owned(), stderr: String::new() };
    parse_response(event, name, &exit)
}

fn ignored(name: &str, problem: &str) -> HookResponse {
    HookResponse::ignored(format!("hook `{name}` ignored: {problem}"))
}

/// Expands `$NAME` and `${NAME}`. Variables that are not allowed are empty.
fn expand(text: &str, allowed: &[String], environment: &Environment) -> String {
    let value = |name: &str| {
        let is_allowed = allowed.iter().any(|known| known == name) && !KEYS.contains(&name);
        if is_allowed { environment.get(name).unwrap_or_default() } else { "" }
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if let Some((name, tail)) = braced.filter(|(name, _)| is_name(name)) {
            out.push_str(value(name));
            rest = tail;
            continue;
        }
        let end =
            after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        let (name, tail) = after.split_at(end);
        if is_name(name) {
            out.push_str(value(name));
        } else {
            out.push('$');
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_variables_are_expanded() {
        let environment = Environment::default().with(&[
            ("TOKEN", "t"),
            ("SECRET", "s"),
            (names::ANTHROPIC_API_KEY, "k"),
        ]);
        let allowed = ["TOKEN".to_owned(), names::ANTHROPIC_API_KEY.to_owned()];
        let check = |text: &str, expected: &str| {
            assert_eq!(expand(text, &allowed, &environment), expected, "{text}");
        };
        check("Bearer $TOKEN", "Bearer t");
        check("${TOKEN}x$TOKEN.", "txt.");
        check("$SECRET|${SECRET}|$NONE", "||");
        check("$ANTHROPIC_API_KEY", "");
        check("5 $ and ${ and $", "5 $ and ${ and $");
    }
}
