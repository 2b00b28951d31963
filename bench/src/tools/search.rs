//! Grep beside `rg`, Glob beside `rg --files` and `fd`, on a tree of 50,000 files.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection};
use crate::world::BenchWorld;

use super::Bench;

const FOLDERS: usize = 500;
const FILES: usize = 100;
const RUNS: usize = 15;
const WARM_UPS: usize = 2;
/// How much slower than the other program a tool may be.
const AIM: f64 = 1.3;

/// What is looked for: a name, the tool's arguments, those of the other program.
struct Search<'a> {
    name: &'static str,
    tool: &'static str,
    input: &'static str,
    program: &'a str,
    arguments: &'static [&'static str],
    aim: Option<f64>,
}

fn searches<'a>(rg: &'a str, fd: &'a str) -> Vec<Search<'a>> {
    let grep = |name, input, arguments| Search {
        name,
        tool: "Grep",
        input,
        program: rg,
        arguments,
        aim: Some(AIM),
    };
    let glob = |name, program, arguments, aim| Search {
        name,
        tool: "Glob",
        input: r#"{"pattern":"**/*_7.rs"}"#,
        program,
        arguments,
        aim,
    };
    vec![
        grep(
            "a word in few files: `rg -l`",
            r#"{"pattern":"needle_in_the_hay"}"#,
            &["-l", "needle_in_the_hay"],
        ),
        grep(
            "an expression in all files, counted: `rg -c`",
            r#"{"pattern":"fn \\w+_number\\(","output_mode":"count"}"#,
            &["-c", r"fn \w+_number\("],
        ),
        grep(
            "lines, without case: `rg -in`",
            r#"{"pattern":"NEEDLE_IN_\\w+","output_mode":"content","ignore_case":true}"#,
            &["-in", r"NEEDLE_IN_\w+"],
        ),
        glob(
            "names, newest first: `rg --files -g`, unordered",
            rg,
            &["--files", "-g", "**/*_7.rs"],
            Some(AIM),
        ),
        glob(
            "the same, to `rg --files -g --sortr modified`",
            rg,
            &["--files", "-g", "**/*_7.rs", "--sortr", "modified"],
            None,
        ),
        glob("the same, to `fd -g`, unordered", fd, &["-g", "*_7.rs", "--type", "f"], Some(AIM)),
    ]
}

/// Measures all of them.
pub(super) fn run(bench: &Bench, rg: &str, fd: &str) -> BenchSection {
    let tree = tempfile::tempdir().expect("a temporary folder");
    plant(tree.path());
    let mut section = BenchSection::new(
        "search",
        format!(
            "A tree of {} files of 1 to 3 kB in {FOLDERS} folders, a tenth of it ignored by its `.gitignore`. \
             A call of the tool in this process, beside the program from spawn to exit (which includes its \
             start, the first figure); alternating, {RUNS} runs each after {WARM_UPS} warm-ups, medians. {}.",
            FOLDERS * FILES,
            version(rg)
        ),
    );
    section.add([start_of(rg)]);
    for search in searches(rg, fd) {
        section.add(measure(bench, &search, tree.path()));
    }
    section
}

fn measure(bench: &Bench, search: &Search<'_>, tree: &Path) -> Vec<BenchFigure> {
    let context = Bench::context(tree);
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for run in 0..WARM_UPS + RUNS {
        let mut command = Command::new(search.program);
        command.args(search.arguments).current_dir(tree);
        if search.program.ends_with("rg") {
            command.args(["--no-require-git", "--no-ignore-global", "--no-config", "./"]);
        }
        let time = BenchWorld::run(command);
        let call = || bench.call(search.tool, search.input, &context);
        if run < WARM_UPS {
            call();
        } else {
            theirs.add(time);
            ours.time(call);
        }
    }
    let name = format!("{}: {}", search.tool, search.name);
    let ratio = BenchFigure::ratio(format!("{name}, ratio"), &ours, &theirs);
    vec![
        BenchFigure::median(format!("{name}, the tool"), &ours),
        BenchFigure::median(format!("{name}, the program"), &theirs),
        match search.aim {
            Some(aim) => ratio.aim_below(aim),
            None => ratio,
        },
    ]
}

fn start_of(program: &str) -> BenchFigure {
    let mut samples = Samples::default();
    for _ in 0..RUNS {
        let mut command = Command::new(program);
        command.arg("--version");
        samples.add(BenchWorld::run(command));
    }
    BenchFigure::median("`rg --version`", &samples)
}

fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let output = output.unwrap_or_else(|error| {
        crate::fail::fail(&format!("{program}: {error}; install ripgrep, or name it with --rg"))
    });
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

/// The same tree every time.
fn plant(root: &Path) {
    fs::write(root.join(".gitignore"), "ignored_*/\n").expect("a file can be written");
    for folder in 0..FOLDERS {
        let kind = if folder % 10 == 9 { "ignored" } else { "module" };
        let path = root.join(format!("part_{}/{kind}_{folder}", folder % 20));
        fs::create_dir_all(&path).expect("a folder can be made");
        for file in 0..FILES {
            let mut text = format!("//! Module {folder} of file {file}.\n\n");
            for line in 0..20 + (folder * 7 + file * 3) % 40 {
                text.push_str(&format!(
                    "pub fn a{line}_number() -> usize {{ {folder} + {line} }}\n"
                ));
            }
            if (folder * FILES + file) % 2_500 == 7 {
                text.push_str("// needle_in_the_hay\n");
            }
            let ending = if file % 4 == 0 { "md" } else { "rs" };
            fs::write(path.join(format!("f{folder}_{file}.{ending}")), text)
                .expect("a file can be written");
        }
    }
}
