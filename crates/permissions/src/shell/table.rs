//! The programs that may be called without asking, each with the flags it may have.
//!
//! Invariant: a program stands here only if nothing it can be told with the flags listed changes a
//! file, a setting or another process, or starts a program. `cargo --version` is not here: in a folder
//! with a `rust-toolchain.toml` it runs whatever that file points to. Neither are `less` and `man`
//! (they start other programs), `env`, `xargs` and the like (that is all they do), and `printenv`
//! (it shows keys).

use super::flags::{AllowedFlags, parse};
use super::reasons::NotReadOnly;
use super::scan::Word;
use super::{git, programs, scripts, sed};

type Check = fn(&str, &[Word]) -> Result<(), NotReadOnly>;

enum Rule {
    /// Whatever it is told, it only reads.
    Any,
    /// With these flags it only reads.
    Only(AllowedFlags),
    /// Looked at more closely.
    Look(Check),
}

pub(super) fn check(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    match rule(program) {
        None => Err(NotReadOnly::Program(program.to_owned())),
        Some(Rule::Any) => Ok(()),
        Some(Rule::Only(flags)) => parse(program, arguments, &flags).map(|_| ()),
        Some(Rule::Look(check)) => check(program, arguments),
    }
}

fn rule(program: &str) -> Option<Rule> {
    Some(match program {
        "ls" | "cat" | "head" | "wc" | "nl" | "tac" | "rev" | "cut" | "paste" | "column"
        | "comm" | "cmp" | "tr" | "fold" | "fmt" | "expand" | "unexpand" | "grep" | "egrep"
        | "fgrep" | "stat" | "du" | "df" | "pwd" | "cd" | "echo" | "true" | "false"
        | "basename" | "dirname" | "realpath" | "readlink" | "whoami" | "id" | "groups"
        | "uname" | "arch" | "nproc" | "which" | "type" | "uptime" | "free" | "seq" | "sum"
        | "cksum" | "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum"
        | "sha512sum" | "b2sum" | "hexdump" | "od" | "strings" => Rule::Any,
        "tail" => Rule::Only(TAIL),
        "sort" => Rule::Only(SORT),
        "diff" => Rule::Only(DIFF),
        "file" => Rule::Only(FILE),
        "rg" => Rule::Only(RG),
        "fd" | "fdfind" => Rule::Only(FD),
        "tree" => Rule::Look(programs::tree),
        "uniq" => Rule::Look(programs::uniq),
        "date" => Rule::Look(programs::date),
        "hostname" => Rule::Look(programs::hostname),
        "xxd" => Rule::Look(programs::xxd),
        "find" => Rule::Look(programs::find),
        "test" | "[" => Rule::Look(programs::test),
        "printf" => Rule::Look(scripts::printf),
        "awk" | "gawk" | "mawk" | "nawk" => Rule::Look(scripts::awk),
        "jq" => Rule::Look(scripts::jq),
        "sed" => Rule::Look(sed::check),
        "git" => Rule::Look(git::check),
        _ => return None,
    })
}

/// Without the flags that wait for more: they would hold the call up.
const TAIL: AllowedFlags =
    AllowedFlags { short: "#n:c:qvz", long: "lines= bytes= quiet silent verbose zero-terminated" };

const SORT: AllowedFlags = AllowedFlags {
    short: "bdfghiMnRrVcCmsuzk:t:S:",
    long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort \
               human-numeric-sort ignore-nonprinting month-sort numeric-sort random-sort reverse \
               version-sort sort= check merge stable unique zero-terminated key= field-separator= \
               buffer-size= parallel= batch-size= files0-from= debug",
};

const DIFF: AllowedFlags = AllowedFlags {
    short: "#abBcdeEiHnNpqrstTuwyZU:C:F:I:W:x:X:S:",
    long: "brief unified context ed normal rcs side-by-side width= recursive new-file \
               unidirectional-new-file report-identical-files ignore-case ignore-file-name-case \
               ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space \
               ignore-blank-lines ignore-matching-lines= text strip-trailing-cr show-c-function \
               show-function-line= label= exclude= exclude-from= starting-file= minimal \
               speed-large-files suppress-common-lines left-column expand-tabs initial-tab \
               no-dereference color",
};

/// Without `-C`, which writes a compiled magic file, and `-z`, which starts decompressors.
const FILE: AllowedFlags = AllowedFlags {
    short: "bihLkrNn0F:e:",
    long: "brief mime mime-type mime-encoding dereference no-dereference keep-going raw no-pad \
               print0 separator= exclude= extension version",
};

/// Without `--pre`, `--hostname-bin` and `-z`, which start programs.
const RG: AllowedFlags = AllowedFlags {
    short: "acilLnNoqsSuUvwxFPpHIhb0.A:B:C:e:f:g:j:m:M:r:t:T:d:E:",
    long: "after-context= before-context= context= regexp= file= glob= iglob= threads= max-count= \
               max-columns= max-columns-preview replace= type= type-not= type-add= type-list \
               max-depth= encoding= max-filesize= sort= sortr= color= colors= engine= files \
               files-with-matches files-without-match count count-matches ignore-case case-sensitive \
               smart-case invert-match word-regexp line-regexp fixed-strings pcre2 multiline \
               multiline-dotall line-number no-line-number column with-filename no-filename \
               only-matching passthru hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent \
               follow unrestricted text binary heading no-heading pretty quiet stats json vimgrep \
               null null-data trim crlf debug no-messages no-config byte-offset one-file-system \
               version",
};

/// Without `-x` and `-X`, which start programs, and `-l`, which starts `ls`.
const FD: AllowedFlags = AllowedFlags {
    short: "HIuspgiLaF01qd:t:e:E:c:S:j:",
    long: "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex \
               fixed-strings absolute-path follow full-path print0 max-depth= min-depth= exact-depth= \
               exclude= type= extension= size= changed-within= changed-before= color= threads= \
               max-results= quiet prune base-directory= one-file-system version",
};
