//! What was in use before a compaction and is put back behind it (C-18).

use crate::fragment::Fragment;

/// Something that may be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredItem {
    /// Its name or path.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What it takes, estimated.
    pub tokens: u64,
}

/// Those that fit, in the order given (the newest first): one that is larger than `each` is left out, and
/// so is one that no longer fits into `all`; a later, smaller one may still.
pub fn fit_items(items: Vec<RestoredItem>, each: u64, all: u64) -> Vec<RestoredItem> {
    let mut left = all;
    items
        .into_iter()
        .filter(|item| {
            let fits = item.tokens <= each && item.tokens <= left;
            if fits {
                left -= item.tokens;
            }
            fits
        })
        .collect()
}

/// A file that was read before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// Its path.
    pub path: String,
    /// Its text now, bounded already.
    pub text: String,
    /// What was cut, in words.
    pub cut: Option<String>,
}

/// The files that were read last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFiles {
    /// The newest first.
    pub files: Vec<RestoredFile>,
    /// What they may take.
    pub max_tokens: u32,
}

impl Fragment for RestoredFiles {
    const KIND: &'static str = "restored-files";

    fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    fn render(&self, out: &mut String) {
        out.push_str("These files were read before the conversation was compacted. This is what stands in them now:\n");
        for file in &self.files {
            out.push_str(&format!("\n# {}\n{}\n", file.path, file.text.trim_end()));
            if let Some(cut) = &file.cut {
                out.push_str(&format!("[{cut}]\n"));
            }
        }
    }
}

/// Skills in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredSkills {
    /// Names and texts, the newest first.
    pub skills: Vec<(String, String)>,
    /// What they may take.
    pub max_tokens: u32,
}

impl Fragment for RestoredSkills {
    const KIND: &'static str = "restored-skills";

    fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    fn render(&self, out: &mut String) {
        out.push_str(
            "These skills were in use before the conversation was compacted, and still are:\n",
        );
        for (name, text) in &self.skills {
            out.push_str(&format!("\n# {name}\n{}\n", text.trim_end()));
        }
    }
}

/// The plan that is being followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredPlan {
    /// Its file.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What it may take.
    pub max_tokens: u32,
}

impl Fragment for RestoredPlan {
    const KIND: &'static str = "restored-plan";

    fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    fn render(&self, out: &mut String) {
        let Self { path, text, .. } = self;
        out.push_str(&format!("The plan that is being followed stands in {path}. Go on with it if it is not finished:\n\n{}\n", text.trim_end()));
    }
}

/// The list of tasks, as it was last written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTasks {
    /// A line each, with its state.
    pub tasks: Vec<String>,
    /// What they may take.
    pub max_tokens: u32,
}

impl Fragment for OpenTasks {
    const KIND: &'static str = "open-tasks";

    fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    fn render(&self, out: &mut String) {
        out.push_str("The list of tasks still holds:\n");
        for task in &self.tasks {
            out.push_str(&format!("- {task}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_fit() {
        let item =
            |name: &str, tokens| RestoredItem { name: name.into(), text: String::new(), tokens };
        let items = vec![item("a", 4), item("large", 6), item("b", 5), item("c", 2), item("d", 1)];
        let names: Vec<String> =
            fit_items(items, 5, 10).into_iter().map(|item| item.name).collect();
        assert_eq!(names, ["a", "b", "d"]);
    }

    #[test]
    fn the_fragments() {
        let file = |path: &str, cut| RestoredFile { path: path.into(), text: "text\n".into(), cut };
        let files =
            vec![file("/p/a.rs", None), file("/p/b.rs", Some("lines 1 to 5 of 90".to_owned()))];
        let text = RestoredFiles { files, max_tokens: 1_000 }.to_block().as_text().unwrap();
        assert!(
            text.contains("\n# /p/a.rs\ntext\n\n# /p/b.rs\ntext\n[lines 1 to 5 of 90]\n"),
            "{text}"
        );
        let tasks = OpenTasks { tasks: vec!["[ ] test".into()], max_tokens: 100 };
        assert!(tasks.to_block().as_text().unwrap().contains("- [ ] test"));
        let plan =
            RestoredPlan { path: "/p/plan.md".into(), text: "x".repeat(10_000), max_tokens: 100 };
        assert!(plan.to_block().as_text().unwrap().contains("left out here for want of room"));
        let skills =
            RestoredSkills { skills: vec![("deploy".into(), "Do it.".into())], max_tokens: 100 };
        assert!(skills.to_block().as_text().unwrap().contains("\n# deploy\nDo it.\n"));
    }
}
