//! Hosts: patterns that rules name them by, and which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host in a rule: `example.com` itself, `*.example.com` every host below it, `*` any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern(String);

impl HostPattern {
    /// Reads one; `None` if it is no name of a host.
    pub fn new(text: &str) -> Option<Self> {
        let host = normal(text);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '*');
        let star_in_front = host.rfind('*').is_none_or(|at| at == 0);
        (!host.is_empty() && host.chars().all(plain) && star_in_front).then_some(Self(host))
    }

    /// Whether it covers a host.
    pub fn matches(&self, host: &str) -> bool {
        let host = normal(host);
        match self.0.strip_prefix('*') {
            Some("") => true,
            Some(end) => host.len() > end.len() && host.ends_with(end),
            None => self.0 == host,
        }
    }

    /// Whether it says which hosts it means: `*` does not.
    pub(crate) fn names(&self, host: &str) -> bool {
        self.0 != "*" && self.matches(host)
    }
}

/// A host as it is compared: small letters, no final dot, no brackets around a number.
pub(crate) fn normal(host: &str) -> String {
    host.trim().trim_end_matches('.').trim_matches(['[', ']']).to_lowercase()
}

/// Whether an address is one of the public internet; else it may be this machine, or one behind the same
/// wall.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match inner_v4(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        // Shared by providers, protocol assignments, benchmarks, several receivers, reserved.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (18..20).contains(&b))
        || a >= 224;
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is given out; of it, 2001:db8::/32 is for documents.
    first & 0xe000 == 0x2000 && (first, second) != (0x2001, 0x0db8)
}

/// The old address that a new one stands for: mapped, compatible, translated (NAT64) or tunnelled (6to4).
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(of(high, low))
        }
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_a_wall_is_not_public() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "0.1.2.3",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:7f00:1::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "fec0::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in
            ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn patterns() {
        let matches = |pattern: &str, host: &str| HostPattern::new(pattern).unwrap().matches(host);
        assert!(matches("Example.com", "example.com") && matches("example.com", "EXAMPLE.com."));
        assert!(
            !matches("example.com", "www.example.com") && !matches("example.com", "badexample.com")
        );
        assert!(
            matches("*.example.com", "a.b.example.com") && !matches("*.example.com", "example.com")
        );
        assert!(!matches("*.example.com", "badexample.com") && matches("*", "anything"));
        assert!(matches("[::1]", "::1"));
        assert!(!HostPattern::new("*").unwrap().names("localhost"));
        for wrong in ["", "https://example.com", "a/b", "exa*mple.com", "a b"] {
            assert_eq!(HostPattern::new(wrong), None, "{wrong}");
        }
    }
}
