//! Braces opened again: `src/{a.rs,b.rs}` is `src/a.rs` and `src/b.rs`, `read{File,Line}` is `readFile` and
//! `readLine`.

/// A longer name is not unfolded.
const LONGEST: usize = 400;
/// A shorter beginning of a name is no shared one.
const SHORTEST: usize = 3;

/// Gives what a text holds folded. What only looks like it gives little, and nothing that does not exist.
pub(super) fn unfold(text: &str, take: &mut impl FnMut(&str)) {
    for line in text.lines().filter(|line| line.contains('{')) {
        Unfolding::default().line(line, take);
    }
}

/// A name so far, and how much of it stands in front of each open brace.
#[derive(Default)]
struct Unfolding {
    name: String,
    open: Vec<usize>,
}

impl Unfolding {
    fn line(&mut self, line: &str, take: &mut impl FnMut(&str)) {
        for c in line.chars() {
            match c {
                '{' if self.can_open() => self.open.push(self.name.len()),
                ',' if !self.open.is_empty() => self.end_one(take),
                '}' if !self.open.is_empty() => {
                    self.end_one(take);
                    self.open.pop();
                    // What stands in front of the brace is no name by itself.
                    self.name.truncate(self.base());
                }
                ' ' if self.open.last() == Some(&self.name.len()) => {}
                c if in_name(c) && self.name.len() < LONGEST => self.name.push(c),
                _ => {
                    self.name.clear();
                    self.open.clear();
                }
            }
        }
    }

    fn can_open(&self) -> bool {
        self.name.ends_with('/') || self.name.len() >= SHORTEST
    }

    fn base(&self) -> usize {
        self.open.last().copied().unwrap_or_default()
    }

    /// A member ends here; a folder without a name behind it is none.
    fn end_one(&mut self, take: &mut impl FnMut(&str)) {
        if !self.name.ends_with('/') {
            take(&self.name);
        }
        self.name.truncate(self.base());
    }
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '~' | '@' | '+' | '#' | '%' | ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        unfold(text, &mut |name| found.push(name.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn braces() {
        check(
            "in /p/{src/{a.rs,b/{c.rs,d.rs}},x}",
            &["/p/src/a.rs", "/p/src/b/c.rs", "/p/src/b/d.rs", "/p/x"],
        );
        check("read{File,Line,}", &["readFile", "readLine", "read"]);
        check("see src/{a, b} and x/{y", &["src/a", "src/b"]);
        check("{a,b} a{b,c} fn x() {}", &[]);
        check(&"a/{".repeat(100_000), &[]);
    }
}
