//! Programs that are given a little program: `awk`, `jq`, and `printf` with its format.
//!
//! Invariant: these little programs are not parsed; whatever in them could be a way out is refused as
//! text, even where it is meant harmlessly.

use super::flags::{AllowedFlags, is_flag, parse};
use super::scan::Word;

/// The first operand, as long as it is what it looks like.
fn script<'a>(program: &str, operands: &[&'a Word]) -> Result<&'a str, String> {
    match operands.first() {
        Some(word) if word.pattern => {
            Err(format!("`{}` may stand for any program for `{program}`", word.text))
        }
        Some(word) => Ok(&word.text),
        None => Err(format!("`{program}` is given no program")),
    }
}

pub(super) fn awk(program: &str, arguments: &[Word]) -> Result<(), String> {
    let flags = AllowedFlags { short: "F:v:", long: "" };
    let parsed = parse(program, arguments, &flags)?;
    let text = script(program, &parsed.operands)?;
    for (way_out, why) in [
        ("system", "runs a program"),
        (">", "writes to a file"),
        ("getline", "reads from anywhere, also from a program"),
        ("@", "loads code"),
        ("ENVIRON", "shows the environment, which may hold keys"),
    ] {
        if text.contains(way_out) {
            return Err(format!("`{way_out}` in an awk program {why}, or may"));
        }
    }
    if text.replace("||", "").contains('|') {
        return Err("`|` in an awk program runs a program, or may".to_owned());
    }
    Ok(())
}

pub(super) fn jq(program: &str, arguments: &[Word]) -> Result<(), String> {
    let flags = AllowedFlags {
        short: "rcnesSajMCR",
        long: "raw-output raw-output0 compact-output null-input exit-status slurp sort-keys \
               ascii-output join-output monochrome-output color-output raw-input tab indent= arg \
               argjson args jsonargs stream seq unbuffered version",
    };
    let parsed = parse(program, arguments, &flags)?;
    // Which operand is the filter depends on the flags, so each is treated as if it were.
    for word in arguments.iter().filter(|word| !word.pattern) {
        for way_out in ["env", "ENV", "import", "include"] {
            if word.text.contains(way_out) {
                return Err(format!(
                    "`{way_out}` in a jq filter shows the environment or loads code"
                ));
            }
        }
    }
    let only_files_are_patterns = parsed.operands.iter().position(|word| word.pattern) != Some(0);
    let named = parsed.values.iter().any(|(flag, _)| flag.starts_with("arg"));
    if only_files_are_patterns && !(named && arguments.iter().any(|word| word.pattern)) {
        return Ok(());
    }
    Err("a pattern may stand for any jq filter".to_owned())
}

/// `-v` and `%n` set a variable, and with it perhaps where the next program is found.
pub(super) fn printf(program: &str, arguments: &[Word]) -> Result<(), String> {
    let format = match arguments {
        [dashes, format, ..] if dashes.text == "--" => format,
        [format, ..] => format,
        [] => return Ok(()),
    };
    if format.pattern || is_flag(&format.text) {
        return Err(format!(
            "`{program} {}`: only a plain format is known to only print",
            format.text
        ));
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
            return Err(format!("`%{piece}` in a format of printf is not known to only print"));
        }
    }
    Ok(())
}
