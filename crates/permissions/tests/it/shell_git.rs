//! Looking at a repository whose settings name programs: none of them runs.

use dormouse_permissions::SAFE_GIT_ENVIRONMENT;

use crate::shell::Sandbox;
use crate::shell_reads::HARMLESS;

/// Leaves a mark and passes its input on, so that git finds it useful.
const PROGRAM: &str =
    "#!/bin/sh\necho \"$0 $*\" >> \"$SANDBOX/marker\"\ncat \"${1:-/dev/null}\" 2>/dev/null\n";

fn git_lines() -> impl Iterator<Item = &'static str> {
    HARMLESS.iter().copied().filter(|line| line.starts_with("git "))
}

/// A repository in which a setting names a program that leaves a mark.
fn hostile(settings: &str) -> Sandbox {
    let sandbox = Sandbox::template();
    sandbox.executable("bin/evil", PROGRAM);
    sandbox.write("work/.git/info/attributes", "* filter=e diff=e merge=e\n");
    sandbox.must_run(&format!("{settings} && touch a b"));
    assert!(!sandbox.has("marker"), "{settings}");
    sandbox
}

#[test]
fn settings_of_a_repository_start_nothing() {
    let kinds = [
        ("git status", "git config core.fsmonitor evil"),
        ("git diff", "git config diff.external evil"),
        ("git diff", "git config diff.e.command evil"),
        ("git show HEAD", "git config diff.e.textconv evil"),
        ("git blame a", "git config diff.e.textconv evil"),
        ("git status", "git config filter.e.clean evil"),
        ("git status", "git config filter.e.clean evil && git config filter.e.required true"),
        ("git diff", "git config filter.e.process evil"),
        (
            "git diff",
            "printf '[filter \"e\"]\\nclean = evil\\n' > .git/more && git config include.path more",
        ),
        (
            "git status",
            "git config extensions.worktreeConfig true && git config --worktree filter.e.clean evil",
        ),
        (
            "git diff",
            "printf '* diff=a=b\\n' > .git/info/attributes && git config 'diff.a=b.command' evil",
        ),
        // A diff of a submodule is made by another git, with the settings of that.
        (
            "git show",
            "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x && \
             git init -q m && git -C m commit -q --allow-empty -m one && git add m && git commit -q -m one && \
             echo x > m/f && git -C m add f && git -C m commit -q -m two && git -C m config diff.external evil && \
             git add m && git commit -q -m two && git config diff.submodule diff",
        ),
        ("git status", "mkdir -p .git/hooks && cp ../bin/evil .git/hooks/post-index-change"),
    ];
    for (proof, settings) in kinds {
        let unguarded = hostile(settings);
        unguarded.run(proof, &[]);
        assert!(unguarded.has("marker"), "{settings}: {proof} would start nothing anyway");
        let guarded = hostile(settings);
        for line in git_lines() {
            let output = guarded.run(line, SAFE_GIT_ENVIRONMENT);
            assert!(!guarded.has("marker"), "{settings}: {line} started a program");
            assert!(
                output.status.code().is_some_and(|code| code <= 1),
                "{settings}: {line}: {output:?}"
            );
        }
    }
}

#[test]
fn signatures_are_not_checked_by_a_program_of_the_repository() {
    let settings = "git config gpg.program evil && git config log.showSignature true";
    let sign = "git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n abc\\n -----END PGP SIGNATURE-----' > ../signed && git update-ref HEAD $(git hash-object -t commit -w ../signed)";
    let unguarded = hostile(&format!("{sign} && {settings}"));
    unguarded.run("git log", &[]);
    assert!(unguarded.has("marker"));
    let guarded = hostile(&format!("{sign} && {settings}"));
    for line in git_lines() {
        guarded.run(line, SAFE_GIT_ENVIRONMENT);
        assert!(!guarded.has("marker"), "{line}");
    }
}

#[test]
fn a_bare_repository_hidden_in_a_folder_is_not_entered() {
    let plant = "git init -q --bare d/hidden && git -C d/hidden config core.bare false \
                 && git -C d/hidden config core.worktree . && git -C d/hidden config core.fsmonitor evil";
    let line = "cd d/hidden && git status";
    let unguarded = hostile(plant);
    unguarded.run(line, &[]);
    assert!(unguarded.has("marker"));
    let guarded = hostile(plant);
    guarded.run(line, SAFE_GIT_ENVIRONMENT);
    assert!(!guarded.has("marker"));
}

#[test]
fn submodules_are_not_asked() {
    let plant = "git init -q sub && git -C sub -c user.name=n -c user.email=e commit -q --allow-empty -m s \
                 && git -c protocol.file.allow=always submodule --quiet add ./sub sub \
                 && git -C sub config core.fsmonitor evil && touch sub/new";
    let unguarded = hostile(plant);
    unguarded.run("git status", &[]);
    assert!(unguarded.has("marker"));
    let guarded = hostile(plant);
    for line in git_lines() {
        guarded.run(line, SAFE_GIT_ENVIRONMENT);
        assert!(!guarded.has("marker"), "{line}");
    }
}

/// A git that does not know the variables would start what the settings name, so it is not started.
#[test]
fn a_git_that_is_too_old_does_not_run() {
    let sandbox = Sandbox::template();
    sandbox.executable("bin/git", "#!/bin/sh\necho \"$0 $*\" >> \"$SANDBOX/log\"\n[ \"$1\" != config ] && touch \"$SANDBOX/marker\"\nexit 1\n");
    let output = sandbox.run("git status", SAFE_GIT_ENVIRONMENT);
    assert_eq!(output.status.code(), Some(128));
    assert!(sandbox.has("log") && !sandbox.has("marker"));
}
