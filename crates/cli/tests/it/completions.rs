//! Completions and the man page are taken by the programs they are for.

use std::process::Command;

use dormouse_testkit::TestHome;

use crate::program::dormouse;

fn printed(home: &TestHome, whom: &str) -> String {
    home.run(&mut dormouse(home, &["completions", whom])).success().stdout.clone()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Bash is there (the tools need it); the others where they are installed.
#[test]
fn the_shells_accept_their_scripts() {
    let home = TestHome::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&home, shell);
        assert!(script.contains("dormouse"), "{script}");
        home.write(shell, script);
        if shell == "bash" || is_installed(shell) {
            home.run(home.command(shell).args(["-n", shell])).success();
        }
    }
    for shell in ["elvish", "powershell"] {
        assert!(printed(&home, shell).contains("permissions"));
    }
    assert!(!home.dormouse_home().exists());
}

#[test]
fn bash_completes() {
    let home = TestHome::new();
    home.write("script", printed(&home, "bash"));
    let complete = |words: &str, count: usize| {
        let asked = format!(
            "source ./script; COMP_WORDS=(dormouse {words}); COMP_CWORD={count}; \
             _dormouse dormouse \"${{COMP_WORDS[$COMP_CWORD]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        home.run(home.command("bash").args(["-c", &asked])).success().stdout.trim().to_owned()
    };
    assert_eq!(complete("st", 1), "stats");
    assert_eq!(complete("permissions ch", 2), "check");
    assert_eq!(complete("stats --si", 2), "--since");
    assert_eq!(complete("completions f", 2), "fish");
}

#[test]
fn the_man_page_names_everything_that_help_does() {
    let home = TestHome::new();
    let page = printed(&home, "man");
    for part in [
        ".TH dormouse 1",
        ".SH OPTIONS",
        ".SH EXAMPLES",
        ".SH \"EXIT CODES\"",
        ".SH \"DORMOUSE STATS\"",
        ".SH \"DORMOUSE PERMISSIONS CHECK\"",
        ".SS EXAMPLES",
        "\\-\\-max\\-cost",
        "dormouse stats \\-\\-all \\-\\-since 7d",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    if is_installed("groff") {
        home.write("dormouse.1", &page);
        let output =
            home.run(home.command("groff").args(["-Kutf8", "-man", "-Tutf8", "-ww", "dormouse.1"]));
        assert_eq!(output.success().stderr, "");
        assert!(
            output.stdout.contains("git diff | dormouse -p \"review this\"\n"),
            "{}",
            output.stdout
        );
    }
}

#[test]
fn a_shell_that_is_not_known_is_told_which_are() {
    let home = TestHome::new();
    let output = home.run(&mut dormouse(&home, &["completions", "tcsh"]));
    assert!(output.expect_code(2).stderr.contains("bash, elvish, fish"), "{}", output.stderr);
}
