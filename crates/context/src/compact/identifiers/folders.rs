//! Paths folded at the folders they share, as a shell would write them: `src/{a.rs,b/{c.rs,d.rs}}`.

use std::collections::BTreeMap;

/// Paths, by their folders.
#[derive(Debug, Default)]
pub(super) struct Folders {
    children: BTreeMap<String, Folders>,
}

impl Folders {
    /// The characters that this path adds to the rest.
    pub(super) fn cost(&self, path: &str) -> usize {
        let mut node = self;
        let mut rest = path;
        loop {
            let (part, after) = split(rest);
            match (node.children.get(part), after) {
                (Some(child), Some(after)) => {
                    node = child;
                    rest = after;
                }
                (Some(_), None) => return 0,
                (None, _) => {
                    let braces = if node.children.len() == 1 { 2 } else { 0 };
                    return rest.chars().count() + 1 + braces;
                }
            }
        }
    }

    /// Adds a path.
    pub(super) fn add(&mut self, path: &str) {
        let mut node = self;
        let mut rest = Some(path);
        while let Some(path) = rest {
            let (part, after) = split(path);
            node = node.children.entry(part.to_owned()).or_default();
            rest = after;
        }
    }

    /// A line for each folder at the top; file names without a folder share the last.
    pub(super) fn render(&self) -> String {
        let (alone, roots): (Vec<_>, Vec<_>) =
            self.children.iter().partition(|(_, node)| node.children.is_empty());
        let mut lines: Vec<String> = roots.iter().map(|(part, node)| node.folded(part)).collect();
        if !alone.is_empty() {
            let names: Vec<&str> = alone.iter().map(|(part, _)| part.as_str()).collect();
            lines.push(names.join(" "));
        }
        lines.join("\n")
    }

    /// The part with what is below it. As deep as a path has parts, and a name has 200 bytes.
    fn folded(&self, part: &str) -> String {
        let below: Vec<String> =
            self.children.iter().map(|(part, node)| node.folded(part)).collect();
        match below.as_slice() {
            [] => part.to_owned(),
            [one] => format!("{part}/{one}"),
            many => format!("{part}/{{{}}}", many.join(",")),
        }
    }
}

fn split(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((part, after)) => (part, Some(after)),
        None => (path, None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::unfold::unfold;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn shared_folders_stand_once() {
        let mut folders = Folders::default();
        for path in ["/p/src/a.rs", "/p/src/b/c.rs", "/p/src/b/d.rs", "/p/x", "y.rs", "z.rs"] {
            folders.add(path);
        }
        assert_eq!(folders.render(), "/p/{src/{a.rs,b/{c.rs,d.rs}},x}\ny.rs z.rs");
    }

    proptest! {
        #[test]
        fn what_is_folded_can_be_unfolded(paths in prop::collection::btree_set("/?([a-c]{1,2}/){1,4}[x-z]{1,2}", 1..20)) {
            let mut folders = Folders::default();
            let mut cost = 0;
            for path in &paths {
                cost += folders.cost(path);
                folders.add(path);
            }
            let text = folders.render();
            prop_assert!(text.chars().count() <= cost, "{text}: {cost}");
            let mut found: BTreeSet<String> = text.lines().map(str::to_owned).collect();
            unfold(&text, &mut |path| found.extend([path.to_owned()]));
            prop_assert!(paths.is_subset(&found), "{text}: {paths:?} {found:?}");
        }
    }
}
