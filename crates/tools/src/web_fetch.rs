//! `WebFetch`: a web page as text.
//!
//! Invariants: only `http` and `https`, without user name or password in the address; only public addresses, checked after
//! the name is resolved and for every redirect, unless a rule of the user names the host; redirects to another host are
//! not followed, so that every host needs its own permission. At most ten megabytes and thirty seconds. No cookies, no
//! proxy.

mod client;
mod html;
mod page;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use dormouse_conversation::known_tools::WEB_FETCH;
use dormouse_permissions::{Access, normalize_host};
use futures_util::future::{BoxFuture, ready};
use reqwest::Url;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    CallContext, FileChangePreview, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec,
    parse_input,
};
use client::{FetchError, Fetched, fetch};
pub(crate) use client::{HttpExchange, exchange};

/// For all of it, redirects included.
const PATIENCE: Duration = Duration::from_secs(30);

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""url":{"type":"string","#,
    r#""description":"The whole address, with `https://`."}"#,
    r#"},"required":["url"],"additionalProperties":false}"#,
);

const SHORT: &str = "Fetches a web page and returns it as text.";

const FULL: &str = "\
Fetches an address with GET and returns its text: web pages as simple markdown, text and JSON as \
they are.

- Binary files are refused, and at most 10 MB are fetched. There are no cookies and no log-in.
- A redirect to another host is not followed: the new address is returned.
- Private networks are refused unless the user allows the host.
- Never put secrets or the user's data into an address.";

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(WEB_FETCH.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::Chars(50_000),
    traits: WEB_FETCH.traits,
};

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct WebFetch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    url: String,
    /// Models that know another tool of this name send what they want to know; the page is given whole.
    #[serde(rename = "prompt")]
    _prompt: Option<String>,
}

impl Tool for WebFetch {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn access(&self, input: &RawValue, _: &Path) -> Access {
        // What cannot be read is refused by the call; until then it is as good as any host.
        let host = parse_input::<Input>(input)
            .ok()
            .and_then(|input| Some(normalize_host(Url::parse(&input.url).ok()?.host_str()?)));
        Access::Fetches(host.unwrap_or_default())
    }

    fn change<'a>(
        &'a self,
        input: &'a RawValue,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<Option<FileChangePreview>, ToolError>> {
        let checked = parse_input(input).and_then(|Input { url, .. }| checked(&url));
        Box::pin(ready(checked.map(|_| None)))
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Input { url, .. } = parse_input(input)?;
            let url = checked(&url)?;
            tokio::select! {
                biased;
                () = context.cancel.cancelled() => Err(ToolError::interrupted()),
                () = tokio::time::sleep(PATIENCE) => Err(ToolError::Failed {
                    message: format!("{url} did not come within {} seconds", PATIENCE.as_secs()),
                }),
                fetched = fetch(url.clone(), &context.private_hosts) => answer(&url, fetched),
            }
        })
    }
}

/// An address that may be fetched as far as its text tells.
fn checked(text: &str) -> Result<Url, ToolError> {
    let invalid = |problem: String| ToolError::invalid(format!("`url`: {problem}"));
    let url = Url::parse(text).map_err(|error| {
        invalid(format!(
            "`{text}` is no whole address ({error}); one reads https://example.com/page"
        ))
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(format!("`{}` is not fetched, only http and https are", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("it holds a name or password, which is not sent".to_owned()));
    }
    Ok(url)
}

fn answer(url: &Url, fetched: Result<Fetched, FetchError>) -> Result<ToolOutput, ToolError> {
    match fetched {
        Ok(Fetched::Page { url, text }) => Ok(ToolOutput::text(format!("{url}\n\n{text}"))),
        Ok(Fetched::Elsewhere(target)) => Ok(ToolOutput::text(format!(
            "{url} redirects to another host:\n{target}\nIt was not followed; call WebFetch with that \
             address if it is what you want."
        ))),
        Err(error) => Err(ToolError::Failed { message: format!("cannot fetch {url}: {error}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_refused_by_their_text() {
        for (text, why) in [
            ("example.com", "no whole address"),
            ("ftp://example.com/x", "`ftp` is not fetched"),
            ("file:///etc/passwd", "`file` is not fetched"),
            ("https://user@example.com/", "a name or password"),
            ("https://user:word@example.com/", "a name or password"),
            ("http://", "no whole address"),
        ] {
            let error = checked(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(checked("https://example.com/a?b#c").is_ok());
    }
}
