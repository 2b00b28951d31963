//! Opens an address in the user's browser.

use dormouse_base::Environment;

/// Whether a browser was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrowserStart {
    Started,
    /// There is no screen here.
    NoScreen,
    Failed,
}

/// Opens the address. Where that is not possible, the address on standard output is enough.
#[expect(
    clippy::disallowed_methods,
    reason = "the browser is to outlive the program, so it is not in a process group that ends with it"
)]
pub(crate) fn open_browser(url: &str, environment: &Environment) -> BrowserStart {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let has_display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| environment.get(name).is_some());
    if !cfg!(target_os = "macos") && !has_display {
        return BrowserStart::NoScreen;
    }
    let started = std::process::Command::new(opener)
        .arg(url)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if started.is_ok() { BrowserStart::Started } else { BrowserStart::Failed }
}
