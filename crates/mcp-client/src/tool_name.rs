//! What a server's tool is called by the model and in rules: `mcp__server__tool`.
//!
//! Invariants: the name is one that every API takes ([`FITTING`], at most [`LONGEST`]); it depends on nothing but server
//! and tool; two tools have two names.

use dormouse_base::stable_hash;
use dormouse_permissions::MCP_TOOL_PREFIX;

/// The longest name that every API takes.
const LONGEST: usize = 64;
/// Digits of the hash that parts names which had to be made fit.
const HASH_DIGITS: usize = 8;

/// The name of a tool. One that does not fit is made to, and ends with a hash of what it was, so that it cannot
/// become the name of another.
pub(crate) fn tool_name(server: &str, tool: &str) -> String {
    let fit = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = format!("{MCP_TOOL_PREFIX}{server}__{tool}");
    if name.len() <= LONGEST && !tool.is_empty() && name.chars().all(fit) {
        return name;
    }
    let made_fit = name.chars().map(|c| if fit(c) { c } else { '_' });
    let kept: String = made_fit.take(LONGEST - HASH_DIGITS - 1).collect();
    let hash = stable_hash(tool.as_bytes()) & 0xffff_ffff;
    format!("{kept}_{hash:0HASH_DIGITS$x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_differ() {
        assert_eq!(tool_name("files", "read_file"), "mcp__files__read_file");
        let long = "a.very.long.name.".repeat(12);
        let odd = ["a.b", "a_b", "a b", "", "é", &long, &format!("{long}x")];
        let names: Vec<String> = odd.iter().map(|tool| tool_name("s", tool)).collect();
        for name in &names {
            assert!(name.len() <= 64, "{name}");
            assert!(
                name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'),
                "{name}"
            );
        }
        let unique: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), odd.len(), "{names:?}");
        assert!(names[0].starts_with("mcp__s__a_b_"), "{names:?}");
        assert_eq!(names[1], "mcp__s__a_b");
    }
}
