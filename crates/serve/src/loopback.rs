//! Whether a request to a port on loopback was meant for it. A web page can make its visitor's browser send requests to
//! such a port: the browser tells its origin, and after DNS rebinding the foreign name is in `Host`.
//!
//! Used by every HTTP server of the program that listens on loopback: the MCP server and the viewer.

/// The names of this machine that a browser may have used.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Checks `Host` and `Origin` of requests to a port on loopback. Only names of this machine pass.
#[derive(Debug, Clone, Copy)]
pub struct LoopbackGuard {
    /// The port that both must have; any if none.
    port: Option<u16>,
}

impl LoopbackGuard {
    /// Admits pages and names with any port, for servers that need a token that no page has.
    pub const fn any_port() -> Self {
        Self { port: None }
    }

    /// Admits only what names this port, for servers whose token is a cookie: cookies do not depend on the port.
    pub const fn own_port(port: u16) -> Self {
        Self { port: Some(port) }
    }

    /// Whether a `Host` header is of this machine. A request without one is refused.
    pub fn admits_host(self, host: Option<&[u8]>) -> bool {
        host.and_then(|host| std::str::from_utf8(host).ok()).is_some_and(|host| self.is_own(host))
    }

    /// Whether an `Origin` header is of a page from this machine. A request without one does not come from a page.
    pub fn admits_origin(self, origin: Option<&[u8]>) -> bool {
        let Some(origin) = origin else { return true };
        let origin = std::str::from_utf8(origin).ok();
        origin
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_some_and(|host| self.is_own(host))
    }

    /// Whether this is a name of this machine, with the right port.
    fn is_own(self, host: &str) -> bool {
        let mut rests = NAMES.iter().filter_map(|name| host.strip_prefix(name));
        rests.any(|rest| match (rest.strip_prefix(':'), self.port) {
            (Some(digits), Some(port)) => digits == port.to_string(),
            (Some(digits), None) => digits.parse::<u16>().is_ok(),
            (None, Some(_)) => false,
            (None, None) => rest.is_empty(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine() {
        let (any, own) = (LoopbackGuard::any_port(), LoopbackGuard::own_port(4711));
        for host in ["localhost:4711", "127.0.0.1:4711", "[::1]:4711"] {
            assert!(
                any.admits_host(Some(host.as_bytes())) && own.admits_host(Some(host.as_bytes()))
            );
        }
        assert!(any.admits_host(Some(b"localhost")) && !own.admits_host(Some(b"localhost")));
        assert!(!own.admits_host(Some(b"localhost:4712")));
        for host in [
            "evil.example",
            "localhost.evil.example:4711",
            "127.0.0.1.evil.example",
            "localhost:",
            "localhost:4711@evil.example",
            "127.0.0.1:4711.evil.example",
            "",
            "LOCALHOST:x",
            "10.0.0.1:4711",
        ] {
            assert!(!any.admits_host(Some(host.as_bytes())), "{host}");
            assert!(!own.admits_host(Some(host.as_bytes())), "{host}");
        }
        assert!(!any.admits_host(None) && !any.admits_host(Some(b"\xff")));
    }

    #[test]
    fn only_origins_of_this_machine() {
        let (any, own) = (LoopbackGuard::any_port(), LoopbackGuard::own_port(4711));
        assert!(any.admits_origin(None) && own.admits_origin(None));
        assert!(any.admits_origin(Some(b"http://localhost:6274")));
        assert!(!own.admits_origin(Some(b"http://localhost:6274")));
        assert!(own.admits_origin(Some(b"http://127.0.0.1:4711")));
        for origin in [
            "null",
            "https://evil.example",
            "https://127.0.0.1:4711",
            "http://127.0.0.1:4711.evil.example",
            "",
        ] {
            assert!(!any.admits_origin(Some(origin.as_bytes())), "{origin}");
        }
    }
}
