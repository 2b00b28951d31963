//! Programs that run a script: `awk`, `jq`, and `printf` with its format.
//!
//! Invariant: scripts are not parsed; whatever in them could run a program or write a file is refused as
//! text, even where it is harmless.

use super::flags::{AllowedFlags, is_flag, parse};
use super::reasons::{NotReadOnly, PatternRisk, ScriptRisk};
use super::scan::Word;

/// The first operand, as long as it is what it looks like.
fn script<'a>(program: &str, operands: &[&'a Word]) -> Result<&'a str, NotReadOnly> {
    match operands.first() {
        Some(word) if word.pattern => Err(any_script(program, word)),
        Some(word) => Ok(&word.text),
        None => Err(NotReadOnly::NoScript(program.to_owned())),
    }
}

fn any_script(program: &str, word: &Word) -> NotReadOnly {
    PatternRisk::Script { pattern: word.text.clone(), program: program.to_owned() }.into()
}

pub(super) fn awk(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let flags = AllowedFlags { short: "F:v:", long: "" };
    let parsed = parse(program, arguments, &flags)?;
    let text = script(program, &parsed.operands)?;
    let may = |part, risk| Err(NotReadOnly::ScriptPart { program: "awk", part, risk });
    for (part, risk) in [
        ("system", ScriptRisk::RunsProgram),
        (">", ScriptRisk::WritesFile),
        ("getline", ScriptRisk::ReadsAnything),
        ("@", ScriptRisk::LoadsCode),
        ("ENVIRON", ScriptRisk::ShowsEnvironment),
    ] {
        if text.contains(part) {
            return may(part, risk);
        }
    }
    if text.replace("||", "").contains('|') {
        return may("|", ScriptRisk::RunsProgram);
    }
    Ok(())
}

pub(super) fn jq(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let flags = AllowedFlags {
        short: "rcnesSajMCR",
        long: "raw-output raw-output0 compact-output null-input exit-status slurp sort-keys \
               ascii-output join-output monochrome-output color-output raw-input tab indent= arg \
               argjson args jsonargs stream seq unbuffered version",
    };
    let parsed = parse(program, arguments, &flags)?;
    // Which operand is the filter depends on the flags, so each is treated as if it were.
    for word in arguments.iter().filter(|word| !word.pattern) {
        for (part, risk) in [
            ("env", ScriptRisk::ShowsEnvironment),
            ("ENV", ScriptRisk::ShowsEnvironment),
            ("import", ScriptRisk::LoadsCode),
            ("include", ScriptRisk::LoadsCode),
        ] {
            if word.text.contains(part) {
                return Err(NotReadOnly::ScriptPart { program: "jq", part, risk });
            }
        }
    }
    let named = parsed.values.iter().any(|(flag, _)| flag.starts_with("arg"));
    let first = parsed.operands.first().filter(|word| word.pattern).copied();
    let any = arguments.iter().find(|word| word.pattern).filter(|_| named);
    match first.or(any) {
        Some(word) => Err(any_script(program, word)),
        None => Ok(()),
    }
}

/// `-v` and `%n` set a variable, and with it perhaps where the next program is found.
pub(super) fn printf(_program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let format = match arguments {
        [dashes, format, ..] if dashes.text == "--" => format,
        [format, ..] => format,
        [] => return Ok(()),
    };
    if format.pattern || is_flag(&format.text) {
        return Err(NotReadOnly::PrintfFormat(format.text.clone()));
    }
    let mut pieces = format.text.split('%');
    pieces.next();
    for piece in pieces {
        let conversion = piece.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || "-+ #'.*hlLjtz".contains(letter)
        });
        // An empty one is `%%`, or the end.
        if conversion.chars().next().is_some_and(|c| !"sdiouxXeEfFgGaAcbqQ(".contains(c)) {
            // Behind `%%` there may be anything; telling the two apart is not worth a mistake.
            return Err(NotReadOnly::PrintfFormat(format!("%{piece}")));
        }
    }
    Ok(())
}
