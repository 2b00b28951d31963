//! Waits on loopback for the browser to come back from the authorization server.

use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::error::OAuthError;

/// How long the user may take.
const LOGIN_TIMEOUT: Duration = Duration::from_mins(5);
/// How long the browser may take to send a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest request.
const MAX_REQUEST: usize = 16 * 1024;
const PATH: &str = "/callback";

/// The door that the browser comes back through.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
}

/// What the browser brings.
pub(super) struct Returned {
    pub(super) code: String,
    /// The issuer, where the authorization server names itself.
    pub(super) issuer: Option<String>,
}

impl Callback {
    /// Opens a port of this machine; 0 for any.
    pub(super) async fn open(port: u16) -> Result<Self, OAuthError> {
        let fail = |source| OAuthError::Port { port, source };
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(fail)?;
        let port = listener.local_addr().map_err(fail)?.port();
        Ok(Self { listener, port })
    }

    /// The address that the browser is sent to.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the answer with this state; others get an error, and are not what is waited for. `page` is what the user sees.
    pub(super) async fn wait(&self, state: &str, page: &str) -> Result<Returned, OAuthError> {
        let answered = async {
            loop {
                // A connection that fails is one of those that are not waited for.
                let Ok((mut stream, _)) = self.listener.accept().await else { continue };
                let Some(query) = request(&mut stream).await else {
                    respond(&mut stream, "404 Not Found", "").await;
                    continue;
                };
                match answer(&query, state) {
                    Some(answer) => {
                        respond(&mut stream, "200 OK", page).await;
                        return answer;
                    }
                    None => respond(&mut stream, "400 Bad Request", "").await,
                }
            }
        };
        let timed_out = |_| OAuthError::TimedOut(LOGIN_TIMEOUT);
        tokio::time::timeout(LOGIN_TIMEOUT, answered).await.map_err(timed_out)?
    }
}

/// The answer in a query; none if it is not for this login.
fn answer(query: &Url, state: &str) -> Option<Result<Returned, OAuthError>> {
    let value = |name: &str| {
        let mut pairs = query.query_pairs();
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    if value("state").as_deref() != Some(state) {
        return None;
    }
    let shown = |text: String| text.chars().filter(|c| !c.is_control()).take(200).collect();
    if let Some(code) = value("error") {
        let description = value("error_description").map(shown).unwrap_or_default();
        return Some(Err(OAuthError::Denied { code: shown(code), description }));
    }
    Some(Ok(Returned { code: value("code")?, issuer: value("iss") }))
}

/// The address in a request for [`PATH`]; none for others.
async fn request(stream: &mut TcpStream) -> Option<Url> {
    let mut bytes = Vec::new();
    let head = async {
        let mut buffer = [0; 1024];
        while !bytes.windows(4).any(|end| end == b"\r\n\r\n") && bytes.len() < MAX_REQUEST {
            match stream.read(&mut buffer).await {
                Ok(count @ 1..) => bytes.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Ok(0) | Err(_) => break,
            }
        }
    };
    let _patience = tokio::time::timeout(REQUEST_TIMEOUT, head).await;
    let text = String::from_utf8_lossy(&bytes);
    let target = text.lines().next()?.strip_prefix("GET ")?.split(' ').next()?;
    let url = Url::parse("http://127.0.0.1").ok()?.join(target).ok()?;
    (url.path() == PATH).then_some(url)
}

async fn respond(stream: &mut TcpStream, status: &str, text: &str) {
    let body = format!("<!doctype html><meta charset=utf-8><title>Dormouse</title><p>{text}");
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // A browser that has gone away needs no answer.
    let _gone = stream.write_all(format!("{head}{body}").as_bytes()).await;
    let _gone = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str) -> Option<Result<String, String>> {
        let url = Url::parse(&format!("http://127.0.0.1/callback?{query}")).unwrap();
        let answered = answer(&url, "right")?;
        Some(answered.map(|back| back.code).map_err(|error| error.to_string()))
    }

    #[test]
    fn only_the_answer_with_the_right_state_counts() {
        assert_eq!(check("code=c&state=right"), Some(Ok("c".to_owned())));
        assert_eq!(check("code=c&state=wrong"), None);
        assert_eq!(check("code=c"), None);
        assert_eq!(check("error=access_denied&state=wrong"), None);
        let denied = check("error=access_denied&error_description=no%0Away&state=right");
        assert_eq!(denied, Some(Err("the login was refused: access_denied (noway)".to_owned())));
        assert_eq!(check("state=right"), None);
    }
}
