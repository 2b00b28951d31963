//! The terminal: whether standard output is one, its width and colors, and whether the locale is UTF-8.

use std::io::{IsTerminal, stdout};

use dormouse_base::{Environment, names};

use super::finding::DoctorFinding;
use crate::message_catalog::msg;

const AREA: &str = "terminal";
/// Tables are laid out for this width.
const FULL_WIDTH: u16 = 80;

enum OutputDevice {
    /// A pipe or a file.
    NotATerminal,
    /// With its number of columns, if known.
    Terminal(Option<u16>),
}

pub(super) fn check(environment: &Environment) -> Vec<DoctorFinding> {
    let output = if stdout().is_terminal() {
        let size = rustix::termios::tcgetwinsize(stdout()).ok();
        OutputDevice::Terminal(size.map(|size| size.ws_col).filter(|columns| *columns > 0))
    } else {
        OutputDevice::NotATerminal
    };
    judge(&output, environment)
}

fn judge(output: &OutputDevice, environment: &Environment) -> Vec<DoctorFinding> {
    let first = match output {
        OutputDevice::NotATerminal => DoctorFinding::ok(AREA, msg!("doctor-terminal-none")),
        OutputDevice::Terminal(columns) => terminal(*columns, environment),
    };
    vec![first, locale(environment)]
}

fn terminal(columns: Option<u16>, environment: &Environment) -> DoctorFinding {
    let colors = color_support(environment);
    match columns {
        Some(columns) if columns < FULL_WIDTH => DoctorFinding::warning(
            AREA,
            format!("{columns} columns, {colors}"),
            msg!("doctor-terminal-fix-narrow"),
        ),
        Some(columns) => DoctorFinding::ok(AREA, format!("{columns} columns, {colors}")),
        None => DoctorFinding::ok(AREA, format!("unknown width, {colors}")),
    }
}

fn color_support(environment: &Environment) -> &'static str {
    let term = environment.get(names::TERM);
    if environment.get(names::NO_COLOR).is_some() {
        "no colors (NO_COLOR is set)"
    } else if matches!(term, None | Some("dumb")) {
        "no colors (TERM)"
    } else if matches!(environment.get(names::COLORTERM), Some("truecolor" | "24bit")) {
        "24-bit colors"
    } else if term.is_some_and(|term| term.contains("256color")) {
        "256 colors"
    } else {
        "16 colors"
    }
}

/// The first variable that is set counts.
fn locale(environment: &Environment) -> DoctorFinding {
    let names = [names::LC_ALL, names::LC_CTYPE, names::LANG];
    let set = names.iter().find_map(|name| Some((*name, environment.get(name)?)));
    match set {
        Some((name, value)) if is_utf8(value) => DoctorFinding::ok(AREA, format!("{name}={value}")),
        Some((name, value)) => DoctorFinding::warning(
            AREA,
            msg!("doctor-locale-not-utf8", variable = name, value = value),
            msg!("doctor-locale-fix", variable = name),
        ),
        None => DoctorFinding::warning(
            AREA,
            msg!("doctor-locale-none"),
            msg!("doctor-locale-fix", variable = names::LANG),
        ),
    }
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(columns: Option<u16>, pairs: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        let environment = Environment::from_pairs(pairs.iter().copied());
        let findings = judge(&OutputDevice::Terminal(columns), &environment);
        findings.into_iter().map(|finding| (finding.status.as_str(), finding.text)).collect()
    }

    #[test]
    fn terminals() {
        let found = judged(Some(120), &[("TERM", "xterm-256color"), ("LANG", "de_DE.UTF-8")]);
        assert_eq!(found[0], ("ok", "120 columns, 256 colors".to_owned()));
        assert_eq!(found[1], ("ok", "LANG=de_DE.UTF-8".to_owned()));
        let found = judged(Some(60), &[("TERM", "dumb"), ("LANG", "C.utf8"), ("LC_ALL", "C")]);
        assert_eq!(found[0], ("warning", "60 columns, no colors (TERM)".to_owned()));
        assert_eq!(found[1].0, "warning");
        let found = judged(None, &[("TERM", "xterm"), ("COLORTERM", "truecolor")]);
        assert!(found[0].1.ends_with("24-bit colors") && found[1].0 == "warning", "{found:?}");
        let found = judged(Some(80), &[("TERM", "xterm"), ("NO_COLOR", "1")]);
        assert!(found[0].1.contains("NO_COLOR"), "{found:?}");
    }
}
