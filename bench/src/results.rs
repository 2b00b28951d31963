//! The section of a run, and the file that keeps it beside the sections of other runs.
//!
//! What stands behind [`DETAILS`] in a section goes to a second file, so that the first shows every benchmark's figures on a page.

use std::fs;
use std::path::{Path, PathBuf};

use crate::machine;
use crate::report::BenchSection;

/// In a section: tables that explain its figures follow.
pub(crate) const DETAILS: &str = "<!-- details -->\n";

fn marks(name: &str) -> (String, String) {
    (format!("<!-- begin {name} -->"), format!("<!-- end {name} -->"))
}

/// The whole section: when, how, on what, and the figures.
pub(crate) fn render(
    name: &str,
    date: &str,
    load_before: &str,
    sections: &[BenchSection],
) -> String {
    let mut text = format!("## {name}\n\n{date}\n\n```text\n{}\n```\n\n", command_line());
    for fact in machine::facts() {
        text.push_str(&format!("- {fact}\n"));
    }
    text.push_str(&format!(
        "- load average before the run: {load_before}; after it: {}\n",
        machine::load_average()
    ));
    if cfg!(debug_assertions) {
        text.push_str(
            "- **the benchmark itself is a debug build: times that it measures mean nothing**\n",
        );
    }
    for section in sections {
        text.push('\n');
        text.push_str(&section.render());
    }
    text
}

/// How this run was started. Of an absolute path only the name is kept: the rest is about the machine.
fn command_line() -> String {
    let shown = std::env::args().skip(1).map(|argument| {
        let path = Path::new(&argument);
        match path.file_name() {
            Some(name) if path.is_absolute() => format!("…/{}", name.to_string_lossy()),
            _ => argument,
        }
    });
    let arguments: Vec<String> = shown.collect();
    format!("cargo run --release -p dormouse-bench -- {}", arguments.join(" "))
}

/// Puts the section into the file, in the place of the one that stands there, and its details into the file of details.
pub(crate) fn write(path: &Path, name: &str, section: &str) {
    let Some((figures, details)) = section.split_once(DETAILS) else {
        put(path, name, section);
        return;
    };
    let of_details = file_of_details(path);
    let file_name = of_details.file_name().unwrap_or_default().to_string_lossy();
    put(path, name, &format!("{figures}\nMore: [{file_name}]({file_name}#{name}).\n"));
    put(&of_details, name, &format!("## {name}\n{details}"));
}

/// `RESULTS-details.md` for `RESULTS.md`.
fn file_of_details(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-details.md"))
}

fn put(path: &Path, name: &str, section: &str) {
    let before = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, replaced(&before, name, section)).expect("the results file can be written");
}

fn replaced(before: &str, name: &str, section: &str) -> String {
    let (begin, end) = marks(name);
    let marked = format!("{begin}\n{section}{end}");
    let around = before
        .split_once(&begin)
        .and_then(|(above, rest)| rest.split_once(&end).map(|(_, below)| (above, below)));
    match around {
        Some((above, below)) => format!("{above}{marked}{below}"),
        None if before.trim().is_empty() => format!("# Results\n\n{marked}\n"),
        None => format!("{}\n\n{marked}\n", before.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sections_stay() {
        let first = replaced("", "ground", "## ground\nold\n");
        assert_eq!(
            first,
            "# Results\n\n<!-- begin ground -->\n## ground\nold\n<!-- end ground -->\n"
        );
        let with_others = format!("{first}\n## other\nkept\n");
        let second = replaced(&with_others, "ground", "## ground\nnew\n");
        assert_eq!(second, with_others.replace("old", "new"));
        let appended = replaced("# Results\n\n## other\nkept\n", "ground", "## ground\nnew\n");
        assert!(appended.starts_with("# Results\n\n## other\nkept\n\n<!-- begin ground -->\n"));
    }

    #[test]
    fn details_are_in_a_file_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("RESULTS.md");
        write(&path, "store", "## store\nshort\n");
        for run in ["old", "new"] {
            write(&path, "recall", &format!("## recall\n{run}\n{DETAILS}\n{run} rows\n"));
        }
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "# Results\n\n<!-- begin store -->\n## store\nshort\n<!-- end store -->\n\n<!-- begin recall -->\n## recall\nnew\n\n\
             More: [RESULTS-details.md](RESULTS-details.md#recall).\n<!-- end recall -->\n"
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("RESULTS-details.md")).unwrap(),
            "# Results\n\n<!-- begin recall -->\n## recall\n\nnew rows\n<!-- end recall -->\n"
        );
    }
}
