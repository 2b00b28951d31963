//! The harmless flags of git's reading subcommands.
//!
//! Invariant: none of them writes a file (`--output`), starts a program (`--ext-diff`, `--textconv`,
//! `-O`, `--show-signature`, `--remerge-diff` with its merge drivers) or goes into submodules, whose
//! settings nobody has looked at.

use super::flags::AllowedFlags;

pub(super) const NONE: AllowedFlags = AllowedFlags { short: "", long: "" };

pub(super) const STATUS: AllowedFlags = AllowedFlags {
    short: "sbzu;",
    long: "short branch porcelain long untracked-files ignored show-stash ahead-behind \
               no-ahead-behind renames no-renames column no-column",
};

pub(super) const DIFF: AllowedFlags = AllowedFlags {
    short: "#puszabwWRrtS:G:U;M;C;B;l;DX;",
    long: "patch no-patch unified= raw patch-with-raw patch-with-stat stat stat-width= numstat \
               shortstat summary compact-summary dirstat name-only name-status color no-color \
               color-words color-moved word-diff word-diff-regex= renames no-renames find-renames \
               find-copies find-copies-harder check full-index binary abbrev no-abbrev exit-code \
               quiet cached staged merge-base no-index diff-filter= pickaxe-regex pickaxe-all \
               relative no-relative text ignore-space-change ignore-all-space ignore-blank-lines \
               ignore-space-at-eol ignore-cr-at-eol inter-hunk-context= function-context no-ext-diff \
               no-textconv minimal patience histogram diff-algorithm= no-prefix src-prefix= \
               dst-prefix= irreversible-delete",
};

pub(super) const LOG: AllowedFlags = AllowedFlags {
    short: "#puszabwWRrtS:G:U;M;C;B;l;DX;n:L:gmciEFPq",
    long: "patch no-patch unified= raw patch-with-stat stat stat-width= numstat shortstat summary \
               compact-summary dirstat name-only name-status color no-color color-words color-moved \
               word-diff renames no-renames find-renames find-copies full-index binary abbrev \
               diff-filter= pickaxe-regex pickaxe-all relative text ignore-space-change \
               ignore-all-space ignore-blank-lines function-context no-ext-diff no-textconv minimal \
               patience histogram diff-algorithm= no-prefix quiet oneline decorate no-decorate \
               decorate-refs= graph no-graph all branches tags remotes max-count= skip= since= after= \
               until= before= author= committer= grep= all-match invert-grep regexp-ignore-case \
               extended-regexp fixed-strings perl-regexp merges no-merges first-parent follow reverse \
               date= relative-date pretty format abbrev-commit no-abbrev-commit parents children \
               date-order topo-order author-date-order left-right left-only right-only cherry-pick \
               cherry-mark cherry boundary simplify-by-decoration full-history ancestry-path \
               walk-reflogs no-walk source notes no-notes use-mailmap no-mailmap exclude= glob= not",
};

pub(super) const REFLOG: AllowedFlags = AllowedFlags {
    short: "#n:",
    long: "oneline max-count= date= format pretty all abbrev-commit no-color",
};

pub(super) const BLAME: AllowedFlags = AllowedFlags {
    short: "wsefltpcnbL:M;C;",
    long: "root show-stats porcelain line-porcelain incremental show-name show-number show-email \
               date= abbrev since= ignore-rev= ignore-revs-file= first-parent reverse color-lines \
               color-by-age",
};

pub(super) const SHORTLOG: AllowedFlags = AllowedFlags {
    short: "nsecw;",
    long: "numbered summary email committer group= all since= until= after= before= author= \
               no-merges merges branches tags remotes grep=",
};

pub(super) const LS_FILES: AllowedFlags = AllowedFlags {
    short: "cdmoisukztvrx:X:",
    long: "cached deleted modified others ignored stage unmerged killed directory \
               no-empty-directory eol deduplicate exclude= exclude-from= exclude-standard \
               error-unmatch full-name abbrev format=",
};

pub(super) const LS_TREE: AllowedFlags = AllowedFlags {
    short: "drtlz",
    long: "long name-only name-status object-only full-name full-tree abbrev format=",
};

/// Without `--textconv` and `--filters`.
pub(super) const CAT_FILE: AllowedFlags =
    AllowedFlags { short: "tspe", long: "batch batch-check batch-all-objects unordered" };

pub(super) const GREP: AllowedFlags = AllowedFlags {
    short: "#iIwvhHEGPFnlLzocpWqare:A:B:C:m:f:",
    long: "cached untracked no-index no-exclude-standard exclude-standard text ignore-case \
               max-depth= recursive no-recursive word-regexp invert-match full-name extended-regexp \
               basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only \
               files-without-match null only-matching count color no-color break heading \
               show-function function-context context= after-context= before-context= max-count= \
               threads= and or not all-match quiet",
};

/// Without `--dirty`, which looks at submodules.
pub(super) const DESCRIBE: AllowedFlags = AllowedFlags {
    short: "",
    long: "all tags contains abbrev candidates= exact-match debug long match= exclude= always \
               first-parent",
};

pub(super) const REV_PARSE: AllowedFlags = AllowedFlags {
    short: "q",
    long: "verify quiet short abbrev-ref symbolic symbolic-full-name all branches tags remotes \
               show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir git-path \
               is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository \
               show-object-format show-superproject-working-tree path-format= revs-only no-revs flags \
               no-flags sq not since= until= default= prefix=",
};

pub(super) const MERGE_BASE: AllowedFlags =
    AllowedFlags { short: "a", long: "all octopus independent is-ancestor fork-point" };

pub(super) const NAME_REV: AllowedFlags =
    AllowedFlags { short: "", long: "tags refs= exclude= all name-only no-undefined always" };

pub(super) const FOR_EACH_REF: AllowedFlags = AllowedFlags {
    short: "",
    long: "count= sort= format= color points-at= merged no-merged contains no-contains \
               ignore-case exclude= omit-empty",
};

/// Without `-l`, which once made a branch with a log.
pub(super) const BRANCH: AllowedFlags = AllowedFlags {
    short: "arvi",
    long: "all remotes verbose list show-current sort= format= color no-color column no-column \
               abbrev no-abbrev ignore-case contains= no-contains= merged= no-merged= points-at=",
};

pub(super) const TAG: AllowedFlags = AllowedFlags {
    short: "ln;i",
    long: "list sort= format= color column no-column ignore-case contains= no-contains= merged= \
               no-merged= points-at=",
};

pub(super) const WORKTREE: AllowedFlags =
    AllowedFlags { short: "vz", long: "verbose porcelain expire=" };

pub(super) const CONFIG: AllowedFlags = AllowedFlags {
    short: "lz",
    long: "get get-all get-regexp list show-origin show-scope name-only null global local system \
               worktree includes no-includes type= bool int path",
};
