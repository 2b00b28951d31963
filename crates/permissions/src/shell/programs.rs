//! Programs whose operands matter, or that read their flags in a way of their own.
//!
//! Invariant: where one operand too many writes (`uniq a b`), patterns are refused, since nobody knows
//! how many names they stand for.

use super::flags::{AllowedFlags, ParsedArguments, is_flag, no_open_start, parse};
use super::scan::Word;

fn without_patterns<'a>(
    program: &str,
    arguments: &'a [Word],
    flags: &AllowedFlags,
) -> Result<ParsedArguments<'a>, String> {
    if let Some(word) = arguments.iter().find(|word| word.pattern) {
        return Err(format!("`{}` may stand for more than one name for `{program}`", word.text));
    }
    parse(program, arguments, flags)
}

pub(super) fn uniq(program: &str, arguments: &[Word]) -> Result<(), String> {
    let flags = AllowedFlags {
        short: "cdDiuzf:s:w:",
        long: "count repeated all-repeated group ignore-case unique zero-terminated skip-fields= \
               skip-chars= check-chars=",
    };
    match without_patterns(program, arguments, &flags)?.operands.len() {
        0 | 1 => Ok(()),
        _ => Err("`uniq` writes to its second file".to_owned()),
    }
}

pub(super) fn date(program: &str, arguments: &[Word]) -> Result<(), String> {
    let flags = AllowedFlags {
        short: "uRI;d:r:",
        long: "utc universal iso-8601 rfc-3339= rfc-email rfc-2822 date= reference= version",
    };
    let parsed = without_patterns(program, arguments, &flags)?;
    match parsed.operands.iter().find(|word| !word.text.starts_with('+')) {
        Some(word) => Err(format!("`date {}` sets the clock", word.text)),
        None => Ok(()),
    }
}

pub(super) fn hostname(program: &str, arguments: &[Word]) -> Result<(), String> {
    let flags = AllowedFlags {
        short: "fsiIdA",
        long: "fqdn long short ip-address all-ip-addresses domain all-fqdns",
    };
    match without_patterns(program, arguments, &flags)?.operands.first() {
        Some(word) => Err(format!("`hostname {}` sets the name", word.text)),
        None => Ok(()),
    }
}

/// Its letters take their values from the words behind, so `-Lo 2 x` still has an `-o` in it: here no
/// letter takes an attached value. Without `-o`, and without `-R`, which writes `00Tree.html`.
pub(super) fn tree(program: &str, arguments: &[Word]) -> Result<(), String> {
    let flags = AllowedFlags {
        short: "adfilpsughDFqNQrtcvUSnACxJXLPI",
        long: "dirsfirst filesfirst noreport prune filelimit charset sort du si gitignore matchdirs \
               ignore-case inodes device nolinks version",
    };
    parse(program, arguments, &flags).map(|_| ())
}

/// It looks at the first letters of a flag only, so flags count as whole words.
pub(super) fn xxd(program: &str, arguments: &[Word]) -> Result<(), String> {
    const SWITCHES: [&str; 9] = ["-p", "-ps", "-plain", "-b", "-i", "-u", "-e", "-a", "-E"];
    const NUMBERS: [&str; 5] = ["-l", "-c", "-s", "-g", "-o"];
    let (mut files, mut words) = (0, arguments.iter());
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.pattern {
            return Err(format!("`{text}` may stand for more than one name for `{program}`"));
        }
        if SWITCHES.contains(&text) {
            continue;
        }
        if NUMBERS.contains(&text) {
            words
                .next()
                .filter(|value| is_number(&value.text))
                .ok_or("`xxd`: a number is missing")?;
        } else if is_flag(text) {
            let attached = NUMBERS.iter().find_map(|flag| text.strip_prefix(flag));
            attached
                .filter(|value| is_number(value))
                .ok_or_else(|| format!("`xxd {text}`: this flag may modify files"))?;
        } else {
            files += 1;
        }
    }
    if files > 1 {
        return Err("`xxd` writes to its second file".to_owned());
    }
    Ok(())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'x')
}

pub(super) fn find(program: &str, arguments: &[Word]) -> Result<(), String> {
    for word in arguments {
        no_open_start(program, word)?;
        let text = word.text.as_str();
        if !is_flag(text) || is_signed_number(text) {
            continue;
        }
        if word.pattern {
            return Err(format!("`{text}` may stand for any action of `find`"));
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

fn find_word(text: &str) -> Result<(), String> {
    let newer = text.strip_prefix("-newer").is_some_and(|kinds| {
        kinds.len() == 2 && kinds.bytes().all(|kind| b"aBcmt".contains(&kind))
    });
    match text {
        _ if newer || FIND_WORDS.split(' ').any(|known| known == text) => Ok(()),
        "-exec" | "-execdir" | "-ok" | "-okdir" => Err(format!("`find {text}` runs a program")),
        "-delete" => Err("`find -delete` deletes what it finds".to_owned()),
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
            Err(format!("`find {text}` writes to a file"))
        }
        _ => Err(format!("`find {text}`: this may modify files")),
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
pub(super) fn test(program: &str, arguments: &[Word]) -> Result<(), String> {
    const HARMLESS: &str = "\
        -f -d -e -r -w -x -s -L -h -p -S -b -c -g -u -k -O -G -N -t -z -n -a -o -eq -ne -lt \
        -le -gt -ge -nt -ot -ef";
    let harmless = |text: &str| HARMLESS.split(' ').any(|known| known == text);
    for word in arguments {
        no_open_start(program, word)?;
        let text = word.text.as_str();
        if is_flag(text) && !is_signed_number(text) && (word.pattern || !harmless(text)) {
            return Err(format!("`{program} {text}` may modify files"));
        }
    }
    Ok(())
}
