//! The same policy as a profile of macOS's Seatbelt, for `sandbox-exec -p`.

use std::fmt::Write;
use std::path::Path;

use crate::policy::{NetworkAccess, SandboxPolicy};

/// The words in front of a command that restrict it, where the system does that by a program: macOS. Elsewhere, a process
/// [`enter`](crate::enter)s.
pub fn command_prefix(policy: &SandboxPolicy) -> Option<[String; 3]> {
    cfg!(target_os = "macos")
        .then(|| ["sandbox-exec".to_owned(), "-p".to_owned(), seatbelt_profile(policy)])
}

/// The profile of a policy. Later lines take precedence.
pub fn seatbelt_profile(policy: &SandboxPolicy) -> String {
    let mut profile = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    let mut rule = |action: &str, path: &Path| {
        // Writing to a string does not fail.
        let _written = writeln!(profile, "({action} (subpath \"{}\"))", quoted(path));
    };
    for path in policy.writable.iter().map(AsRef::as_ref).chain([Path::new("/dev")]) {
        rule("allow file-write*", path);
    }
    for path in &policy.protected {
        rule("deny file-write*", path);
    }
    for path in policy.hidden.iter().chain(&policy.sockets) {
        rule("deny file-read-data file-write* network-outbound", path);
    }
    if policy.network == NetworkAccess::None {
        profile.push_str("(deny network*)\n");
    }
    profile
}

fn quoted(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_denies_after_it_allows() {
        let policy = SandboxPolicy {
            writable: vec!["/p".into()],
            hidden: vec!["/h/.ssh".into()],
            protected: vec!["/p/.git/config".into()],
            sockets: Vec::new(),
            network: NetworkAccess::None,
        };
        let expected = "(version 1)\n(allow default)\n(deny file-write*)\n\
            (allow file-write* (subpath \"/p\"))\n(allow file-write* (subpath \"/dev\"))\n\
            (deny file-write* (subpath \"/p/.git/config\"))\n\
            (deny file-read-data file-write* network-outbound (subpath \"/h/.ssh\"))\n(deny network*)\n";
        assert_eq!(seatbelt_profile(&policy), expected);
        assert_eq!(quoted(Path::new("/a\"b\\c")), "/a\\\"b\\\\c");
    }
}
