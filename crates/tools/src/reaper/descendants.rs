//! Which processes are below another one. Known on Linux, from `/proc`; elsewhere none are.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Pid;

/// All processes below this one, at this moment.
pub(super) fn descendants(of: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        if let Some(process) = number
            // One that has ended meanwhile has no parent to be found by.
            && let Ok(stat) = fs::read(entry.path().join("stat"))
            && let Some(parent) = parent(&stat)
        {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = children.remove(&of.as_raw_nonzero().get()).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.remove(process).unwrap_or_default());
        next += 1;
    }
    found.into_iter().filter_map(Pid::from_raw).collect()
}

/// The parent that a process's `stat` names. Its own name stands in brackets, and may hold anything.
fn parent(stat: &[u8]) -> Option<i32> {
    let behind_name = stat.rsplit(|byte| *byte == b')').next()?;
    str::from_utf8(behind_name).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_hold_anything() {
        assert_eq!(parent(b"7 (sh) S 5 7 7 0"), Some(5));
        assert_eq!(parent(b"7 (a) b) S 9) S 6 7 7 0"), Some(6));
        assert_eq!(parent(b"7 (\xff) R 4 7"), Some(4));
        assert_eq!(parent(b""), None);
    }
}
