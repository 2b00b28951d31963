//! Which processes are below another one, or in its session. Known on Linux, from `/proc`; elsewhere none are.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Pid;

/// All processes below this one, at this moment.
pub(crate) fn descendants(of: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (process, parent) in processes(PARENT) {
        children.entry(parent).or_default().push(process);
    }
    let mut found = children.remove(&of.as_raw_nonzero().get()).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.remove(process).unwrap_or_default());
        next += 1;
    }
    found.into_iter().filter_map(Pid::from_raw).collect()
}

/// All processes in the session that this one leads or led.
pub(crate) fn session_members(leader: Pid) -> Vec<Pid> {
    processes(SESSION)
        .filter(|(_, session)| *session == leader.as_raw_nonzero().get())
        .filter_map(|(process, _)| Pid::from_raw(process))
        .collect()
}

/// Where a process's `stat` names its parent and its session, counted behind its name.
const PARENT: usize = 1;
const SESSION: usize = 3;

/// Every process, with this field. One that has ended meanwhile is left out.
fn processes(wanted: usize) -> impl Iterator<Item = (i32, i32)> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(move |entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        Some((process, field(&fs::read(entry.path().join("stat")).ok()?, wanted)?))
    })
}

/// A field of a process's `stat`. Its own name stands in brackets, and may hold anything.
fn field(stat: &[u8], wanted: usize) -> Option<i32> {
    let behind_name = stat.rsplit(|byte| *byte == b')').next()?;
    str::from_utf8(behind_name).ok()?.split_ascii_whitespace().nth(wanted)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_hold_anything() {
        assert_eq!(field(b"7 (sh) S 5 7 8 0", PARENT), Some(5));
        assert_eq!(field(b"7 (sh) S 5 7 8 0", SESSION), Some(8));
        assert_eq!(field(b"7 (a) b) S 9) S 6 7 7 0", PARENT), Some(6));
        assert_eq!(field(b"7 (\xff) R 4 7", PARENT), Some(4));
        assert_eq!(field(b"", PARENT), None);
    }
}
