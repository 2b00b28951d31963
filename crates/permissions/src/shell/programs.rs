//! Programs whose operands matter, or that read their flags in a way of their own.
//!
//! Invariant: where one operand too many writes (`uniq a b`), patterns are refused, since nobody knows
//! how many names they stand for.

use super::flags::{AllowedFlags, ParsedArguments, is_flag, no_open_start, parse};
use super::reasons::{CommandAction, NotReadOnly, PatternRisk};
use super::scan::Word;

fn without_patterns<'a>(
    program: &str,
    arguments: &'a [Word],
    flags: &AllowedFlags,
) -> Result<ParsedArguments<'a>, NotReadOnly> {
    if let Some(word) = arguments.iter().find(|word| word.pattern) {
        return Err(several_arguments(program, word));
    }
    parse(program, arguments, flags)
}

fn several_arguments(program: &str, word: &Word) -> NotReadOnly {
    let pattern = word.text.clone();
    PatternRisk::SeveralArguments { pattern, program: program.to_owned() }.into()
}

fn action(part: impl Into<String>, action: CommandAction) -> NotReadOnly {
    NotReadOnly::Action { part: part.into(), action }
}

fn unknown_flag(program: &str, flag: &str) -> NotReadOnly {
    NotReadOnly::Flag { program: program.to_owned(), flag: flag.to_owned() }
}

pub(super) fn uniq(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let flags = AllowedFlags {
        short: "cdDiuzf:s:w:",
        long: "count repeated all-repeated group ignore-case unique zero-terminated skip-fields= \
               skip-chars= check-chars=",
    };
    match without_patterns(program, arguments, &flags)?.operands.len() {
        0 | 1 => Ok(()),
        _ => Err(action(program, CommandAction::WritesSecondFile)),
    }
}

pub(super) fn date(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let flags = AllowedFlags {
        short: "uRI;d:r:",
        long: "utc universal iso-8601 rfc-3339= rfc-email rfc-2822 date= reference= version",
    };
    let parsed = without_patterns(program, arguments, &flags)?;
    match parsed.operands.iter().find(|word| !word.text.starts_with('+')) {
        Some(word) => Err(action(format!("date {}", word.text), CommandAction::SetsClock)),
        None => Ok(()),
    }
}

pub(super) fn hostname(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let flags = AllowedFlags {
        short: "fsiIdA",
        long: "fqdn long short ip-address all-ip-addresses domain all-fqdns",
    };
    match without_patterns(program, arguments, &flags)?.operands.first() {
        Some(word) => Err(action(format!("hostname {}", word.text), CommandAction::SetsHostName)),
        None => Ok(()),
    }
}

/// Its letters take their values from the words behind, so `-Lo 2 x` still has an `-o` in it: here no
/// letter takes an attached value. Without `-o`, and without `-R`, which writes `00Tree.html`.
pub(super) fn tree(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let flags = AllowedFlags {
        short: "adfilpsughDFqNQrtcvUSnACxJXLPI",
        long: "dirsfirst filesfirst noreport prune filelimit charset sort du si gitignore matchdirs \
               ignore-case inodes device nolinks version",
    };
    parse(program, arguments, &flags).map(|_| ())
}

/// It looks at the first letters of a flag only, so flags count as whole words.
pub(super) fn xxd(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    const SWITCHES: [&str; 9] = ["-p", "-ps", "-plain", "-b", "-i", "-u", "-e", "-a", "-E"];
    const NUMBERS: [&str; 5] = ["-l", "-c", "-s", "-g", "-o"];
    let (mut files, mut words) = (0, arguments.iter());
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.pattern {
            return Err(several_arguments(program, word));
        }
        if SWITCHES.contains(&text) {
            continue;
        }
        if NUMBERS.contains(&text) {
            words.next().filter(|value| is_number(&value.text)).ok_or_else(|| {
                NotReadOnly::NoValue {
                    program: program.to_owned(),
                    flag: text.trim_start_matches('-').to_owned(),
                }
            })?;
        } else if is_flag(text) {
            let attached = NUMBERS.iter().find_map(|flag| text.strip_prefix(flag));
            attached.filter(|value| is_number(value)).ok_or_else(|| unknown_flag(program, text))?;
        } else {
            files += 1;
        }
    }
    if files > 1 {
        return Err(action(program, CommandAction::WritesSecondFile));
    }
    Ok(())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'x')
}

pub(super) fn find(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    for word in arguments {
        no_open_start(program, word)?;
        let text = word.text.as_str();
        if !is_flag(text) || is_signed_number(text) {
            continue;
        }
        if word.pattern {
            return Err(PatternRisk::Flag {
                pattern: text.to_owned(),
                program: program.to_owned(),
            }
            .into());
        }
        find_word(text)?;
    }
    Ok(())
}

/// What `find` may be told, but for values.
const FIND_WORDS: &str = "\
    -H -L -P -O0 -O1 -O2 -O3 -name -iname -path -ipath -wholename -iwholename -regex -iregex \
    -regextype -lname -ilname -type -xtype -size -empty -perm -user -group -uid -gid -nouser \
    -nogroup -mtime -mmin -atime -amin -ctime -cmin -used -newer -anewer -cnewer -links -inum \
    -samefile -fstype -readable -writable -executable -maxdepth -mindepth -depth -mount -xdev \
    -daystart -follow -noleaf -ignore_readdir_race -print -print0 -printf -ls -prune -quit \
    -true -false -not -a -and -o -or -warn -nowarn --version";

fn find_word(text: &str) -> Result<(), NotReadOnly> {
    let newer = text.strip_prefix("-newer").is_some_and(|kinds| {
        kinds.len() == 2 && kinds.bytes().all(|kind| b"aBcmt".contains(&kind))
    });
    let does = |known| Err(action(format!("find {text}"), known));
    match text {
        _ if newer || FIND_WORDS.split(' ').any(|known| known == text) => Ok(()),
        "-exec" | "-execdir" | "-ok" | "-okdir" => does(CommandAction::RunsProgram),
        "-delete" => does(CommandAction::DeletesFiles),
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => does(CommandAction::WritesFile),
        _ => does(CommandAction::Unknown),
    }
}

/// `-7`, `-5k`, `-644`: values of `-mtime`, `-size` and `-perm`.
fn is_signed_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').map(|rest| rest.trim_end_matches(char::is_alphabetic));
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    letters <= 1
        && digits.is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Without `-v` and `-R`: they evaluate an index, and a command in it.
pub(super) fn test(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    const HARMLESS: &str = "\
        -f -d -e -r -w -x -s -L -h -p -S -b -c -g -u -k -O -G -N -t -z -n -a -o -eq -ne -lt \
        -le -gt -ge -nt -ot -ef";
    let harmless = |text: &str| HARMLESS.split(' ').any(|known| known == text);
    for word in arguments {
        no_open_start(program, word)?;
        let text = word.text.as_str();
        if is_flag(text) && !is_signed_number(text) && (word.pattern || !harmless(text)) {
            return Err(action(format!("{program} {text}"), CommandAction::Unknown));
        }
    }
    Ok(())
}
