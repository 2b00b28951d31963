//! Output styles: how the model answers. Built-in ones, and the user's own as markdown files in the folders `output-styles` of
//! the home and the project.

use std::path::{Path, PathBuf};

use crate::message_catalog::msg;
use crate::wiring::print;

const DEFAULT: &str = "default";

/// The built-in styles that say something.
const BUILT_IN: &[(&str, &str)] = &[
    (
        "concise",
        "Answer in as few words as the matter allows: no explanations unless they are asked for, no closing summary, a sentence rather than a list.",
    ),
    (
        "explanatory",
        "Explain while you work. Before and after a change say in two or three sentences why it is done this way in this code base: the choice, what speaks against it, the pattern it follows. Explanations go into the answer, not into the code.",
    ),
];

/// The longest style of a file: it is part of every request.
const MOST_BYTES: usize = 16 * 1024;

/// The folders that are searched for styles, in order.
fn folders(home: &Path, project: &Path) -> [PathBuf; 2] {
    let folder = "output-styles";
    [home.join(folder), project.join(".dormouse").join(folder)]
}

/// The text of the style of that name. The user's own come first, then the built-in ones, then the project's: a project
/// cannot replace what the user has chosen. An unknown name is reported.
pub(crate) fn output_style(name: &str, home: &Path, project: &Path) -> Option<String> {
    let [own, of_project] = folders(home, project);
    let built_in = || BUILT_IN.iter().find(|(known, _)| *known == name);
    let found = style_file(&own, name)
        .or_else(|| built_in().map(|(_, text)| (*text).to_owned()))
        .or_else(|| style_file(&of_project, name));
    if found.is_none() && name != DEFAULT {
        let known = known_styles(&[own, of_project]).join(", ");
        print::note(&msg!("output-style-unknown", name = name, known = known));
    }
    found
}

/// The text of a style's file, without its frontmatter.
fn style_file(folder: &Path, name: &str) -> Option<String> {
    // A name, not a path.
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return None;
    }
    let text = std::fs::read_to_string(folder.join(format!("{name}.md"))).ok()?;
    let body = dormouse_frontmatter::parse(&text).body.trim();
    let end = body.floor_char_boundary(MOST_BYTES);
    body.get(..end).filter(|body| !body.is_empty()).map(str::to_owned)
}

fn known_styles(folders: &[PathBuf]) -> Vec<String> {
    let built_in = [DEFAULT].into_iter().chain(BUILT_IN.iter().map(|(name, _)| *name));
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let files = files
        .flatten()
        .filter_map(|file| file.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
    let mut names: Vec<String> = built_in.map(str::to_owned).chain(files).collect();
    names.sort();
    names.dedup();
    names
}
