//! Processor time and memory of a program that we started, with the processes it started.

use std::time::Duration;

/// The clock that the kernel counts processor time with.
const TICKS_A_SECOND: f64 = 100.0;

/// A process and its descendants; empty if it has ended.
pub(super) fn processes(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(process) = found.get(at).copied() {
        at += 1;
        let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.flatten() {
            let children = std::fs::read_to_string(thread.path().join("children"));
            let children = children.unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    found
}

/// The processor time that they have used.
pub(super) fn processor_time(root: u32) -> Duration {
    let ticks = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let field =
            |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        field(11) + field(12)
    };
    Duration::from_secs_f64(processes(root).iter().map(ticks).sum::<f64>() / TICKS_A_SECOND)
}

/// The sum of their peaks, in bytes.
pub(super) fn peak_memory(root: u32) -> u64 {
    processes(root).iter().map(|process| status(*process, "VmHWM") * 1_024).sum()
}

/// How often they have waited.
pub(super) fn wake_ups(root: u32) -> u64 {
    let threads = |process: u32| {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
        threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse::<u32>().ok())
    };
    let all = processes(root).into_iter().flat_map(threads);
    all.map(|thread| status(thread, "voluntary_ctxt_switches")).sum()
}

fn status(process: u32, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}
