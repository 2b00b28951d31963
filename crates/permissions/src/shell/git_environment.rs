//! What keeps a repository from running programs when it is only looked at.
//!
//! Invariant: with this environment none of the git commands called read-only starts a program that a
//! repository's own settings name. Checked against git 2.47 with hostile settings of each kind.

/// Variables that a shell must get before a command called read-only runs in it.
///
/// A `.git/config` that somebody else wrote (an unpacked archive, a shared folder, a bare repository
/// hidden in a clone) can name programs that `git status` or `git diff` start. Git's variables take
/// away those with fixed names: `core.fsmonitor`, hooks, pagers, the programs that check signatures,
/// fetching what a partial clone lacks; bare repositories that nobody named are not entered, and locks
/// that are only an optimisation are not taken, so the index stays as it is.
///
/// Filters, text converters, diff commands and merge drivers have names of the repository's choice, so no
/// variable can take them away beforehand. That is what the function `git` is for, which bash takes from
/// `BASH_FUNC_git%%`: it asks for those names in the scope of the repository and empties each, and adds
/// `--no-ext-diff`, `--no-textconv` and `--ignore-submodules=dirty` where they apply. When git does not
/// know these variables (before 2.31) it does not run at all.
///
/// Not taken away: programs in the settings of the user and the machine, such as the filter of
/// git-lfs, which are theirs to choose. With a filter of the repository emptied, a file that passes
/// through it may be shown as changed.
pub const SAFE_GIT_ENVIRONMENT: &[(&str, &str)] = &[
    ("BASH_FUNC_git%%", GUARD),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_CONFIG_COUNT", "15"),
    ("GIT_CONFIG_KEY_0", "dormouse.guarded"),
    ("GIT_CONFIG_VALUE_0", "true"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_2", "/dev/null"),
    ("GIT_CONFIG_KEY_3", "core.pager"),
    ("GIT_CONFIG_VALUE_3", "cat"),
    ("GIT_CONFIG_KEY_4", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_4", "explicit"),
    ("GIT_CONFIG_KEY_5", "log.showSignature"),
    ("GIT_CONFIG_VALUE_5", "false"),
    ("GIT_CONFIG_KEY_6", "gpg.program"),
    ("GIT_CONFIG_VALUE_6", "false"),
    ("GIT_CONFIG_KEY_7", "gpg.openpgp.program"),
    ("GIT_CONFIG_VALUE_7", "false"),
    ("GIT_CONFIG_KEY_8", "gpg.x509.program"),
    ("GIT_CONFIG_VALUE_8", "false"),
    ("GIT_CONFIG_KEY_9", "gpg.ssh.program"),
    ("GIT_CONFIG_VALUE_9", "false"),
    ("GIT_CONFIG_KEY_10", "log.diffMerges"),
    ("GIT_CONFIG_VALUE_10", "separate"),
    ("GIT_CONFIG_KEY_11", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_11", "false"),
    ("GIT_CONFIG_KEY_12", "submodule.recurse"),
    ("GIT_CONFIG_VALUE_12", "false"),
    ("GIT_CONFIG_KEY_13", "status.submoduleSummary"),
    ("GIT_CONFIG_VALUE_13", "false"),
    // Anything else starts a git of its own in the submodule, with the settings of that.
    ("GIT_CONFIG_KEY_14", "diff.submodule"),
    ("GIT_CONFIG_VALUE_14", "short"),
];

/// The function that stands in front of git. In a subshell, so that nothing of it stays behind.
const GUARD: &str = r#"() { (
set -f
IFS='
'
count=$GIT_CONFIG_COUNT guarded=
for line in $(command git config --show-scope --name-only --get-regexp '^(dormouse\.guarded|filter\..*\.(clean|smudge|process|required)|diff\..*\.(command|textconv)|merge\..*\.driver)$'); do
  case $line in
    command*dormouse.guarded) guarded=1 ;;
    local*|worktree*)
      export "GIT_CONFIG_KEY_$count=${line#*	}" "GIT_CONFIG_VALUE_$count="
      count=$((count + 1)) ;;
  esac
done
if [ -z "$guarded" ]; then
  echo 'git: not run, since this version of git cannot be kept from running programs' >&2
  exit 128
fi
export GIT_CONFIG_COUNT=$count
if [ "$1" = --no-pager ]; then shift; fi
case $1 in
  diff) shift; set -- diff --no-ext-diff --no-textconv --submodule=short --ignore-submodules=dirty "$@" ;;
  status) shift; set -- status --ignore-submodules=dirty "$@" ;;
  log|show) name=$1; shift; set -- "$name" --no-ext-diff --no-textconv --submodule=short "$@" ;;
  blame) shift; set -- blame --no-textconv "$@" ;;
esac
exec git "$@"
) }"#;
