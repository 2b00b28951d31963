//! Contents that git has, read by git itself: `git cat-file` runs no hook and no filter.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::git_index::ObjectId;
use crate::state::MAX_FILE;

/// The contents of these objects, as far as git has them.
pub(crate) fn contents(checkout: &Path, objects: &[ObjectId]) -> HashMap<ObjectId, Vec<u8>> {
    let mut found = HashMap::new();
    ask(checkout, "--batch", objects, |object, size, output| {
        // The content has to be read to get to the next answer, also one that is too large to keep.
        let mut content = Vec::new();
        let kept = if size <= MAX_FILE { size } else { 0 };
        output.take(kept).read_to_end(&mut content)?;
        let line_end = 1;
        std::io::copy(&mut output.take(size - kept + line_end), &mut std::io::sink())?;
        if kept == size && content.len() as u64 == size {
            found.insert(object, content);
        }
        Ok(())
    });
    found
}

/// The sizes of these objects, as far as git has them.
pub(crate) fn sizes(checkout: &Path, objects: &[ObjectId]) -> HashMap<ObjectId, u64> {
    let mut found = HashMap::new();
    ask(checkout, "--batch-check", objects, |object, size, _| {
        found.insert(object, size);
        Ok(())
    });
    found
}

/// Whether git may write another content to the checkout than it has: line ends, filters.
pub(crate) fn converts_line_ends(checkout: &Path) -> bool {
    let output = git(checkout).args(["config", "--get", "core.autocrlf"]).output();
    output.is_ok_and(|output| output.stdout.starts_with(b"true"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "git reads its own objects, on a thread that may block; nothing that a repository names is run"
)]
fn git(checkout: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(checkout)
        .args(["-c", "core.fsmonitor=false"])
        // Started from a hook of git's, these would name another repository.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_OBJECT_DIRECTORY")
        // Objects that a partial clone lacks are not fetched.
        .envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0")])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Asks git about objects. What it does not answer is not found: the caller keeps no content then.
fn ask(
    checkout: &Path,
    mode: &str,
    objects: &[ObjectId],
    mut take: impl FnMut(ObjectId, u64, &mut dyn BufRead) -> std::io::Result<()>,
) {
    if objects.is_empty() {
        return;
    }
    let child =
        git(checkout).args(["cat-file", mode]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return };
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A git that ended early has nothing more to say.
            for object in objects {
                if writeln!(input, "{object}").is_err() {
                    return;
                }
            }
        });
        let mut output = BufReader::new(output);
        for object in objects {
            let mut line = String::new();
            let Ok(1..) = output.read_line(&mut line) else { break };
            // An object that git does not have has no content behind it.
            let Some(size) = blob_size(&line, *object) else { continue };
            if take(*object, size, &mut output).is_err() {
                break;
            }
        }
    });
    // Its pipes are closed: it has ended or does so now.
    let _ended = child.wait();
}

/// The size in a line `<hash> blob <size>`. The index names nothing but blobs.
fn blob_size(line: &str, object: ObjectId) -> Option<u64> {
    let rest = line.strip_prefix(&object.to_string())?.strip_prefix(" blob ")?;
    rest.trim_end().parse().ok()
}
