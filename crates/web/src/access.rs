//! Who may ask: a one-time code is exchanged for a cookie, and every request is checked against it, the host, the origin and,
//! where it changes something, a token of the page.
//!
//! The command line of a browser is visible to other users of the machine, so the code in the URL works once. The cookie is
//! named after the port: browsers share cookies between ports, and two viewers must not log each other out.

use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use dormouse_base::IdSource;
use dormouse_serve::LoopbackGuard;

/// Each id has 74 random bits.
const IDS: usize = 3;
/// What the browser says about who made the request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A random text that is compared in constant time. It does not print.
struct RandomToken(String);

impl RandomToken {
    fn new(ids: &dyn IdSource) -> Self {
        Self((0..IDS).map(|_| ids.next().simple().to_string()).collect())
    }

    fn is(&self, given: &str) -> bool {
        blake3::hash(self.0.as_bytes()) == blake3::hash(given.as_bytes())
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessRefusal {
    /// A host name or a page that is not this machine's.
    Foreign,
    /// No cookie, or not this viewer's.
    NoCookie,
    /// A change without the page's token.
    NoToken,
}

/// The secrets of one viewer: a code for one use, the cookie it is exchanged for, and the token of its forms.
pub struct ViewerAccess {
    port: u16,
    guard: LoopbackGuard,
    code: Mutex<Option<RandomToken>>,
    cookie: RandomToken,
    form_token: RandomToken,
}

impl fmt::Debug for ViewerAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewerAccess").field("port", &self.port).finish_non_exhaustive()
    }
}

impl ViewerAccess {
    /// New secrets for a viewer on this port.
    pub fn new(port: u16, ids: &dyn IdSource) -> Self {
        Self {
            port,
            guard: LoopbackGuard::own_port(port),
            code: Mutex::new(Some(RandomToken::new(ids))),
            cookie: RandomToken::new(ids),
            form_token: RandomToken::new(ids),
        }
    }

    /// The address to open, with the code; without one after it was used.
    pub fn entry_url(&self) -> String {
        let code = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        match &*code {
            Some(code) => format!("http://127.0.0.1:{}/enter?code={}", self.port, code.0),
            None => format!("http://127.0.0.1:{}/", self.port),
        }
    }

    /// The cookie for this code, as a header; none if the code is wrong or was used.
    pub(crate) fn exchange(&self, given: &str) -> Option<HeaderValue> {
        let mut code = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        code.take_if(|code| code.is(given))?;
        let (name, value) = (self.cookie_name(), &self.cookie.0);
        let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict");
        HeaderValue::from_str(&cookie).ok()
    }

    /// The token that forms carry.
    pub(crate) fn form_token(&self) -> &str {
        &self.form_token.0
    }

    /// Whether a form carries the token.
    pub(crate) fn check_form(&self, given: &str) -> Result<(), AccessRefusal> {
        if self.form_token.is(given) { Ok(()) } else { Err(AccessRefusal::NoToken) }
    }

    /// Checks host, origin and, except for the exchange of the code, the cookie.
    pub(crate) fn check(
        &self,
        method: &Method,
        headers: &HeaderMap,
        needs_cookie: bool,
    ) -> Result<(), AccessRefusal> {
        let bytes = |name: HeaderName| headers.get(name).map(HeaderValue::as_bytes);
        let origin = bytes(ORIGIN);
        let is_reading = matches!(*method, Method::GET | Method::HEAD);
        let from_page = is_reading || origin.is_some();
        if !self.guard.admits_host(bytes(HOST)) || !self.guard.admits_origin(origin) || !from_page {
            return Err(AccessRefusal::Foreign);
        }
        // Browsers that send it cannot be made to lie about it. `none` is the user's own doing: an address typed or opened.
        let site = bytes(FETCH_SITE);
        let is_own =
            site.is_none_or(|site| site == b"same-origin" || (is_reading && site == b"none"));
        if needs_cookie && !is_own {
            return Err(AccessRefusal::Foreign);
        }
        if needs_cookie && !self.has_cookie(headers) {
            return Err(AccessRefusal::NoCookie);
        }
        Ok(())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs =
            all.flat_map(|value| value.split(';')).filter_map(|one| one.trim().split_once('='));
        pairs.into_iter().any(|(key, value)| key == name && self.cookie.is(value))
    }

    fn cookie_name(&self) -> String {
        format!("dormouse-viewer-{}", self.port)
    }
}
