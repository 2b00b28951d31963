//! What a run was measured on.

use std::fs;
use std::process::Command;

/// Cores, processor, memory, kernel, and the git that start-up is compared with: one line each.
pub(crate) fn facts() -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    vec![
        format!("{cores} cores, {}", field("/proc/cpuinfo", "model name")),
        format!("memory: {}", field("/proc/meminfo", "MemTotal")),
        format!(
            "kernel: {} {}",
            line("/proc/sys/kernel/ostype"),
            line("/proc/sys/kernel/osrelease")
        ),
        git_version(),
    ]
}

/// How busy the machine is: the averages over one, five and fifteen minutes.
pub(crate) fn load_average() -> String {
    line("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ")
}

fn line(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "not known".to_owned(), |text| text.trim().to_owned())
}

/// The value of the first line of that name.
fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map_or_else(|| "not known".to_owned(), |(_, value)| value.trim().to_owned())
}

fn git_version() -> String {
    match Command::new("git").arg("--version").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(error) => format!("git: {error}"),
    }
}
