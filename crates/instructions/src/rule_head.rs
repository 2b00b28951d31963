//! Frontmatter of a rule, of which only `paths:` is used.
//!
//! Read line by line rather than as YAML, because users write `paths: **/*.rs` and `- *.md`, which YAML takes for
//! aliases and refuses. A list with dashes, a list in brackets, and one text with commas all work. Bytes and number of
//! patterns are bounded; any text gives a head, at worst an empty one.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A head without an end within this size is part of the body.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Further patterns are ignored, with a note.
const MAX_GLOBS: usize = 256;
const MAX_GLOB_BYTES: usize = 1024;

/// A rule split into patterns and body.
pub(crate) struct RuleHead<'a> {
    /// The patterns of `paths:`.
    pub paths: Vec<String>,
    /// Text after the head.
    pub body: &'a str,
}

/// Splits a rule; a text without a head is all body.
pub(crate) fn split(text: &str) -> RuleHead<'_> {
    match parts(text) {
        Some((head, body)) => RuleHead { paths: paths(head), body },
        None => RuleHead { paths: Vec::new(), body: text },
    }
}

fn parts(text: &str) -> Option<(&str, &str)> {
    let first = text.split_inclusive('\n').next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = first.len();
    for line in text.get(at..)?.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((text.get(first.len()..at)?, text.get(at + line.len()..)?));
        }
        at += line.len();
        if at > MAX_HEAD_BYTES {
            return None;
        }
    }
    None
}

/// The patterns that a head lists.
fn paths(head: &str) -> Vec<String> {
    let mut lines = head.lines();
    let Some(first) = lines.find_map(|line| line.strip_prefix("paths:")) else { return Vec::new() };
    let first = without_comment(first.trim());
    let listed: Vec<String> = if first.is_empty() {
        items(lines).collect()
    } else if first.starts_with('[') {
        let mut flow = first.to_owned();
        while !flow.ends_with(']') {
            let Some(line) = lines.next() else { break };
            flow.push_str(without_comment(line.trim()));
        }
        let inner = flow.trim_start_matches('[').trim_end_matches(']');
        split_at_commas(inner).into_iter().map(unquoted).collect()
    } else {
        split_at_commas(&unquoted(first)).into_iter().map(str::to_owned).collect()
    };
    listed.into_iter().filter(|glob| !glob.is_empty() && glob != "~" && glob != "null").collect()
}

/// Items of a list with dashes, up to the first other line.
fn items<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && *line != "-")
        .map_while(|line| line.strip_prefix("- "))
        .map(|item| unquoted(without_comment(item.trim())))
}

/// Removes a trailing comment, unless the value is quoted.
fn without_comment(value: &str) -> &str {
    match value.chars().next() {
        Some('"' | '\'') => value,
        Some('#') => "",
        _ => value.split_once(" #").map_or(value, |(before, _)| before).trim_end(),
    }
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.split(quote).next());
    if value.starts_with('"') && !value.contains("\\\"") {
        inner('"').unwrap_or(value).replace("\\\\", "\\")
    } else if value.starts_with('\'') {
        inner('\'').unwrap_or(value).to_owned()
    } else {
        value.to_owned()
    }
}

/// Splits a text at commas outside braces.
fn split_at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

/// Compiled patterns of a rule.
#[derive(Debug)]
pub(crate) struct PathMatcher {
    set: GlobSet,
    /// Messages about invalid patterns.
    pub problems: Vec<String>,
}

impl PathMatcher {
    /// Compiles the valid patterns.
    pub(crate) fn new(globs: &[String]) -> Self {
        let mut problems = Vec::new();
        let mut builder = GlobSetBuilder::new();
        for glob in globs.iter().take(MAX_GLOBS) {
            match compile(glob) {
                Ok(glob) => {
                    builder.add(glob);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if globs.len() > MAX_GLOBS {
            problems.push(format!("{} patterns exceed the limit of {MAX_GLOBS}", globs.len()));
        }
        let set = builder.build().unwrap_or_else(|error| {
            problems.push(error.to_string());
            GlobSet::empty()
        });
        Self { set, problems }
    }

    /// Whether a path relative to the rule's folder matches.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.set.is_match(path)
    }
}

/// `*` and `?` do not match a slash; `src/` matches everything below it.
fn compile(glob: &str) -> Result<globset::Glob, String> {
    if glob.len() > MAX_GLOB_BYTES {
        return Err(format!(
            "a pattern of {} bytes exceeds the limit of {MAX_GLOB_BYTES}",
            glob.len()
        ));
    }
    let plain = glob.strip_prefix("./").or_else(|| glob.strip_prefix('/')).unwrap_or(glob);
    let whole = if plain.ends_with('/') { format!("{plain}**") } else { plain.to_owned() };
    GlobBuilder::new(&whole)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(head: &str) -> Vec<String> {
        split(&format!("---\n{head}\n---\nbody")).paths
    }

    #[test]
    fn the_ways_to_write_paths() {
        for head in [
            "paths: src/**/*.rs, *.{md,txt}",
            "paths: \"src/**/*.rs, *.{md,txt}\"",
            "title: x\npaths:\n  - src/**/*.rs\n\n  # why\n  - '*.{md,txt}' # both\nother: y",
            "paths:\n- \"src/**/*.rs\"\n- *.{md,txt}",
            "paths: [src/**/*.rs, \"*.{md,txt}\"] # two",
            "paths: [\n  src/**/*.rs,\n  \"*.{md,txt}\",\n]",
            "paths: src/**/*.rs, *.{md,txt} # two\r",
        ] {
            assert_eq!(globs(head), ["src/**/*.rs", "*.{md,txt}"], "{head}");
        }
        assert_eq!(globs("paths: **/*.ts"), ["**/*.ts"]);
        assert_eq!(globs(r#"paths: "app/\\[id\\].ts""#), [r"app/\[id\].ts"]);
    }

    #[test]
    fn no_paths() {
        for head in ["", "paths:", "paths: []", "paths: ~", "title: x", " paths: indented"] {
            assert_eq!(globs(head), Vec::<String>::new(), "{head}");
        }
    }

    #[test]
    fn a_head_needs_its_end() {
        assert_eq!(split("---\npaths: a\n---\nbody\n").body, "body\n");
        assert_eq!(split("---\r\npaths: a\r\n---\r\nbody").body, "body");
        for text in ["---\npaths: a\n", "text\n---\npaths: a\n---\n", "", "---"] {
            assert_eq!((split(text).body, split(text).paths.len()), (text, 0));
        }
        let endless = format!("---\npaths: a\n{}---\n", "x: y\n".repeat(10_000));
        assert_eq!(split(&endless).paths, Vec::<String>::new());
    }

    #[test]
    fn what_patterns_match() {
        let matches =
            |glob: &str, path: &str| PathMatcher::new(&[glob.to_owned()]).matches(Path::new(path));
        assert!(matches("*.md", "README.md"));
        assert!(!matches("*.md", "docs/README.md"), "only the top");
        assert!(matches("**/*.md", "docs/README.md") && matches("**/*.md", "README.md"));
        assert!(matches("src/", "src/a/b.rs") && matches("./src/**", "src/a.rs"));
        assert!(matches("src/**/*.{ts,tsx}", "src/a/b.tsx"));
        assert!(matches(r"app/\[id\].ts", "app/[id].ts"));
    }

    #[test]
    fn invalid_patterns_are_reported() {
        let globs = ["a{".to_owned(), "src/**".to_owned(), "x".repeat(2000)];
        let matcher = PathMatcher::new(&globs);
        assert_eq!(matcher.problems.len(), 2);
        assert!(matcher.matches(Path::new("src/a")));
        assert_eq!(PathMatcher::new(&vec!["a".to_owned(); 300]).problems.len(), 1);
    }
}
