//! Commands that send a prompt of ours: `/init` and `/review [WHAT]`. A skill or command file of the same name is used instead.

/// The prompt of `/init`.
pub(crate) const INIT: &str = "\
Look at this project and write an `AGENTS.md` in its root folder: what a programmer who has never seen it needs in order to \
work on it. Improve the file if it is there already, or `CLAUDE.md` if the project has that instead.

Find out first: read the README, the manifests and the CI configuration, and look at the structure of the source. Then write, in \
at most 60 lines:
- the commands to build, to test (all tests, and one test), to check formatting and lints;
- the structure: the parts that matter, what each is for, and how they depend on each other;
- conventions that are not obvious from one file, such as error handling, naming, how tests are written.

Write only what you have seen in files. Leave out what every programmer knows, lists of all files, and advice of a general kind.";

/// The prompt of `/review`.
pub(crate) fn review(what: &str) -> String {
    let what = match what {
        "" => {
            "the changes in the working tree (`git status`, `git diff HEAD`); if there are none, those of the current branch \
               against the branch that it came from"
        }
        what => what,
    };
    format!(
        "Review {what}. Change nothing.

Read the code around the changes, not only the difference, and check what you suspect before you report it. Look for errors \
(wrong results, unhandled cases, races, leaks), for holes in security, for tests that are missing or cannot fail, and for what \
will be hard to maintain. Leave out matters of taste and praise.

Report the findings by importance, each with file and line, what goes wrong with which input, and how to fix it. If you found \
nothing, say so in one sentence."
    )
}
