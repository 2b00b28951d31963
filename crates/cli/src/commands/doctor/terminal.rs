//! The terminal: whether there is one, how wide, with colours, and whether it takes all of Unicode.

use std::io::{IsTerminal, stdout};

use dormouse_base::{Environment, names};

use super::finding::Finding;

const AREA: &str = "terminal";
/// Tables are made for this.
const COMFORTABLE: u16 = 80;

/// What the machine says of standard output.
enum Output {
    /// Not a terminal: a pipe, a file.
    Other,
    /// A terminal so many columns wide, where it says.
    Terminal(Option<u16>),
}

pub(super) fn check(environment: &Environment) -> Vec<Finding> {
    let output = if stdout().is_terminal() {
        let size = rustix::termios::tcgetwinsize(stdout()).ok();
        Output::Terminal(size.map(|size| size.ws_col).filter(|columns| *columns > 0))
    } else {
        Output::Other
    };
    judge(&output, environment)
}

/// What it means: a plain function.
fn judge(output: &Output, environment: &Environment) -> Vec<Finding> {
    let first = match output {
        Output::Other => Finding::well(AREA, "standard output is no terminal but a pipe or a file"),
        Output::Terminal(columns) => terminal(*columns, environment),
    };
    vec![first, locale(environment)]
}

fn terminal(columns: Option<u16>, environment: &Environment) -> Finding {
    let colours = colours(environment);
    match columns {
        Some(columns) if columns < COMFORTABLE => Finding::warning(
            AREA,
            format!("{columns} columns, {colours}"),
            "make it 80 columns wide: tables are cut otherwise",
        ),
        Some(columns) => Finding::well(AREA, format!("{columns} columns, {colours}")),
        None => Finding::well(AREA, format!("it does not say how wide it is, {colours}")),
    }
}

fn colours(environment: &Environment) -> &'static str {
    let term = environment.get(names::TERM);
    if environment.get(names::NO_COLOR).is_some() {
        "no colours, as NO_COLOR says"
    } else if matches!(term, None | Some("dumb")) {
        "no colours, as TERM says"
    } else if matches!(environment.get(names::COLORTERM), Some("truecolor" | "24bit")) {
        "all colours"
    } else if term.is_some_and(|term| term.contains("256color")) {
        "256 colours"
    } else {
        "16 colours"
    }
}

/// The first of these that is set counts.
fn locale(environment: &Environment) -> Finding {
    let names = [names::LC_ALL, names::LC_CTYPE, names::LANG];
    let set = names.iter().find_map(|name| Some((*name, environment.get(name)?)));
    match set {
        Some((name, value)) if is_utf8(value) => Finding::well(AREA, format!("{name}={value}")),
        Some((name, value)) => Finding::warning(
            AREA,
            format!("{name}={value} is no UTF-8 locale: what is not English may look broken"),
            format!("export {name}=C.UTF-8, or a UTF-8 locale of your language"),
        ),
        None => Finding::warning(
            AREA,
            "no locale is set: what is not English may look broken",
            "export LANG=C.UTF-8, or a UTF-8 locale of your language",
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
        let findings = judge(&Output::Terminal(columns), &environment);
        findings.into_iter().map(|finding| (finding.health.word(), finding.what)).collect()
    }

    #[test]
    fn terminals() {
        let found = judged(Some(120), &[("TERM", "xterm-256color"), ("LANG", "de_DE.UTF-8")]);
        assert_eq!(found[0], ("ok", "120 columns, 256 colours".to_owned()));
        assert_eq!(found[1], ("ok", "LANG=de_DE.UTF-8".to_owned()));
        let found = judged(Some(60), &[("TERM", "dumb"), ("LANG", "C.utf8"), ("LC_ALL", "C")]);
        assert_eq!(found[0], ("warning", "60 columns, no colours, as TERM says".to_owned()));
        assert_eq!(found[1].0, "warning");
        let found = judged(None, &[("TERM", "xterm"), ("COLORTERM", "truecolor")]);
        assert!(found[0].1.ends_with("all colours") && found[1].0 == "warning", "{found:?}");
        let found = judged(Some(80), &[("TERM", "xterm"), ("NO_COLOR", "1")]);
        assert!(found[0].1.contains("NO_COLOR"), "{found:?}");
    }
}
