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
        let mut content = Vec::new();
        output.take(size).read_to_end(&mut content)?;
        output.take(1).read_to_end(&mut Vec::new())?;
        if content.len() as u64 == size {
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
    reason = "git reads its own objects; nothing here is waited for in a turn"
)]
fn git(checkout: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(checkout)
        .args(["-c", "core.fsmonitor=false"])
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
            let Some(size) = blob_size(&line) else { continue };
            if take(*object, size, &mut output).is_err() {
                break;
            }
        }
    });
    // Its pipes are closed: it has ended or does so now.
    let _ended = child.wait();
}

/// The size in a line `<hash> blob <size>`; other answers have no content behind them.
fn blob_size(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace().skip(1);
    let is_blob = words.next() == Some("blob");
    let size = words.next()?.parse().ok()?;
    (is_blob && size <= MAX_FILE).then_some(size)
}
