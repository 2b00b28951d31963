//! Hooks of the kind `http`: JSON is posted, and what comes back is read as a command's output would be.

use std::time::Duration;

use dormouse_base::{Environment, names};
use dormouse_tools::post_json;

use super::HookEvent;
use super::answer::{Answer, Ended, read};
use super::handler::Address;

/// Keys of the model's are no business of a hook, allowed or not.
const KEYS: [&str; 3] =
    [names::ANTHROPIC_API_KEY, names::ANTHROPIC_AUTH_TOKEN, names::OPENAI_API_KEY];

/// Posts, and reads the answer. No status blocks: only JSON decides.
pub(super) async fn post(
    event: HookEvent,
    name: &str,
    address: &Address,
    environment: &Environment,
    (input, timeout): (&[u8], Duration),
) -> Answer {
    let headers: Vec<(String, String)> = address
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), filled(value, &address.variables, environment)))
        .collect();
    let answer = match post_json(&address.url, &headers, input.to_vec(), timeout).await {
        Ok(answer) => answer,
        Err(problem) => return nothing(name, &problem),
    };
    let body = answer.body.trim();
    if !(200..300).contains(&answer.status) {
        return nothing(name, &format!("the server answered {}", answer.status));
    }
    if body.is_empty() {
        return Answer::default();
    }
    if !body.starts_with('{') {
        return nothing(name, "the server answered with something that is no JSON object");
    }
    let ended = Ended { code: Some(0), stdout: body.to_owned(), stderr: String::new() };
    read(event, name, &ended)
}

fn nothing(name: &str, problem: &str) -> Answer {
    Answer::told(format!("the hook `{name}` decides nothing: {problem}"))
}

/// `$NAME` and `${NAME}`, where the name is allowed; all others are empty.
fn filled(text: &str, allowed: &[String], environment: &Environment) -> String {
    let value = |name: &str| {
        let open = allowed.iter().any(|known| known == name) && !KEYS.contains(&name);
        if open { environment.get(name).unwrap_or_default() } else { "" }
    };
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if let Some((name, behind)) = braced.filter(|(name, _)| is_name(name)) {
            out.push_str(value(name));
            rest = behind;
            continue;
        }
        let end =
            after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        let (name, behind) = after.split_at(end);
        if is_name(name) {
            out.push_str(value(name));
        } else {
            out.push('$');
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_allowed_is_filled_in() {
        let environment = Environment::default().with(&[
            ("TOKEN", "t"),
            ("SECRET", "s"),
            (names::ANTHROPIC_API_KEY, "k"),
        ]);
        let allowed = ["TOKEN".to_owned(), names::ANTHROPIC_API_KEY.to_owned()];
        let check = |text: &str, expected: &str| {
            assert_eq!(filled(text, &allowed, &environment), expected, "{text}");
        };
        check("Bearer $TOKEN", "Bearer t");
        check("${TOKEN}x$TOKEN.", "txt.");
        check("$SECRET|${SECRET}|$NONE", "||");
        check("$ANTHROPIC_API_KEY", "");
        check("5 $ and ${ and $", "5 $ and ${ and $");
    }
}
