//! What a repository's own files say, read without starting git: the commit that is checked out, and whether its configuration
//! is so plain that git starts no other program for it.
//!
//! Invariant: in doubt the answer is "only git can tell".

use std::path::{Path, PathBuf};

use crate::home::git_folder;

/// The files of a repository.
#[derive(Debug, Clone)]
pub struct GitFiles {
    /// The folder of this checkout: `.git`, or what that file names.
    own: PathBuf,
    /// The folder that all worktrees share.
    common: PathBuf,
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitHead {
    /// This commit.
    Commit(String),
    /// A branch without commits.
    Unborn,
}

/// Sections in which every key is harmless to a command that only reads.
const PLAIN_SECTIONS: &[&str] = &["branch", "user", "pull", "push", "advice", "gui"];
/// Keys of `core` that name no program and no other file.
const PLAIN_CORE: &[&str] = &[
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
    "autocrlf",
    "eol",
    "safecrlf",
];
/// Keys of a remote that name no program.
const PLAIN_REMOTE: &[&str] = &["url", "pushurl", "fetch", "push", "tagopt", "prune"];

impl GitFiles {
    /// The files of the repository that is checked out here; none where there is none.
    pub fn of(checkout: &Path) -> Option<Self> {
        let own = git_folder(checkout)?;
        // A worktree says where the rest is.
        let common = std::fs::read_to_string(own.join("commondir"));
        let common = common.map_or_else(|_| own.clone(), |path| own.join(path.trim()));
        Some(Self { own, common })
    }

    /// What is checked out; none where only git can tell.
    pub fn head(&self) -> Option<GitHead> {
        let head = std::fs::read_to_string(self.own.join("HEAD")).ok()?;
        let Some(name) = head.strip_prefix("ref: ").map(str::trim) else {
            return commit(&head);
        };
        let is_usual = name.starts_with("refs/") && !name.contains("..");
        if !is_usual || self.common.join("reftable").exists() {
            return None;
        }
        if let Ok(text) = std::fs::read_to_string(self.common.join(name)) {
            return commit(&text);
        }
        let Ok(packed) = std::fs::read_to_string(self.common.join("packed-refs")) else {
            return Some(GitHead::Unborn);
        };
        let lines = packed.lines().filter_map(|line| line.split_once(' '));
        let found = lines.into_iter().find(|(_, packed_name)| *packed_name == name);
        found.map_or(Some(GitHead::Unborn), |(id, _)| commit(id))
    }

    /// Whether the repository's configuration names nothing that git could start: no filter, driver, pager, monitor, hook path,
    /// include, extension or submodule.
    pub fn has_plain_config(&self) -> bool {
        std::fs::read_to_string(self.common.join("config")).is_ok_and(|text| is_plain(&text))
    }
}

fn commit(text: &str) -> Option<GitHead> {
    let id = text.trim();
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| GitHead::Commit(id.to_owned()))
}

fn is_plain(config: &str) -> bool {
    let mut section = String::new();
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(name) = header.strip_suffix(']') else { return false };
            let name = name.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            return section == "core" || section == "remote" || is_in(PLAIN_SECTIONS, &section);
        }
        // A value may go on behind a backslash: nobody writes these so.
        if line.ends_with('\\') {
            return false;
        }
        let key = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        match section.as_str() {
            "core" => is_in(PLAIN_CORE, &key),
            "remote" => is_in(PLAIN_REMOTE, &key),
            section => is_in(PLAIN_SECTIONS, section),
        }
    })
}

fn is_in(list: &[&str], name: &str) -> bool {
    list.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
        [remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
        [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A\n";

    #[test]
    fn what_git_clone_writes_is_plain() {
        assert!(is_plain(USUAL));
        assert!(is_plain("# nothing\n"));
    }

    #[test]
    fn whatever_may_start_a_program_is_not() {
        for more in [
            "[filter \"x\"]\n\tclean = evil\n",
            "[FILTER \"x\"] \n clean = evil\n",
            "[core]\n\tfsmonitor = evil\n",
            "[core] fsmonitor = evil\n",
            "[core]\n\tFsMonitor = evil\n",
            "[core]\n\thooksPath = there\n",
            "[core]\n\tworktree = /\n",
            "[include]\n\tpath = other\n",
            "[includeIf \"gitdir:/\"]\n\tpath = other\n",
            "[diff \"x\"]\n\ttextconv = evil\n",
            "[diff.x]\n\ttextconv = evil\n",
            "[extensions]\n\tworktreeConfig = true\n",
            "[submodule \"x\"]\n\turl = y\n",
            "[remote \"o\"]\n\tpromisor = true\n",
            "[user]\n\tname = a \\\n[filter \"x\"]\n",
            "[core][filter \"x\"]\nclean = evil\n",
        ] {
            assert!(!is_plain(&format!("{USUAL}{more}")), "{more}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out a repository by hand")]
    fn the_commit_that_is_checked_out() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("refs/heads")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(git.join(name), text).unwrap();
        let head = || GitFiles::of(folder.path()).unwrap().head();
        let (one, other) = ("1".repeat(40), "2".repeat(40));
        let commit = |id: &str| Some(GitHead::Commit(id.to_owned()));
        write("HEAD", "ref: refs/heads/main\n");
        assert_eq!(head(), Some(GitHead::Unborn));
        write(
            "packed-refs",
            &format!("# pack-refs with: peeled\n{one} refs/heads/main\n^{other}\n"),
        );
        assert_eq!(head(), commit(&one));
        write("refs/heads/main", &format!("{other}\n"));
        assert_eq!(head(), commit(&other));
        write("HEAD", &one);
        assert_eq!(head(), commit(&one));
        for odd in ["ref: ../../secret\n", "ref: refs/../../x\n", "nonsense\n"] {
            write("HEAD", odd);
            assert_eq!(head(), None, "{odd}");
        }
        write("HEAD", "ref: refs/heads/.invalid\n");
        std::fs::create_dir(git.join("reftable")).unwrap();
        assert_eq!(head(), None);
    }
}
