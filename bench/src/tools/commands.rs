//! What a command costs besides itself, what a verdict costs, and layer 1 on a large result.

use std::hint::black_box;
use std::process::Command;

use dormouse_base::{Dir, RelPath};
use dormouse_context::{StorageLimit, plan_result_storage, preview};
use dormouse_conversation::ToolUseId;
use dormouse_permissions::{PermissionGate, PermissionMode, PermissionRules};
use dormouse_tools::{OutputFile, Reaper, ToolSet};
use serde_json::value::RawValue;

use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection};
use crate::world::BenchWorld;

use super::Bench;

const RUNS: usize = 40;
const LARGE: usize = 30_000_000;
const PRINT_LARGE: &str = "seq 1 4000000 | head -c 30000000";

/// A command with and without a reaper, and one that prints 30 MB.
pub(super) fn run(bench: &Bench) -> BenchSection {
    let mut section = BenchSection::new(
        "commands",
        format!(
            "Bash with `true`: started directly, under a reaper (this benchmark, started again), and \
             `bash -c true` by itself; alternating, {RUNS} runs. Then 30 MB of output into the session's \
             file, beside the same redirected by the shell; 10 runs."
        ),
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let direct = Bench::context(folder.path());
    let mut watched = Bench::context(folder.path());
    watched.commands.reaper = Reaper::of_this_program();
    let (mut plain, mut alone, mut reaped) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..RUNS {
        plain.add(BenchWorld::run(shell("true", folder.path())));
        alone.time(|| bench.call("Bash", r#"{"command":"true"}"#, &direct));
        reaped.time(|| bench.call("Bash", r#"{"command":"true"}"#, &watched));
    }
    section.add([
        BenchFigure::median("`bash -c true`", &plain),
        BenchFigure::median("Bash `true`, directly", &alone),
        BenchFigure::median("Bash `true`, under a reaper", &reaped),
        BenchFigure::ratio("under a reaper, to directly", &reaped, &alone),
    ]);
    section.add(large(bench, folder.path()));
    section
}

fn large(bench: &Bench, folder: &std::path::Path) -> Vec<BenchFigure> {
    let mut context = Bench::context(folder);
    let session = Dir::open(folder).expect("a folder");
    let file = RelPath::new("tool-results/large.txt").expect("a path");
    context.overflow = Some(OutputFile { session, file });
    let input = serde_json::json!({ "command": PRINT_LARGE }).to_string();
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for _ in 0..10 {
        theirs.add(BenchWorld::run(shell(&format!("{PRINT_LARGE} > redirected.txt"), folder)));
        let output = ours.time(|| bench.call("Bash", &input, &context));
        assert!(output.spilled.is_some_and(|spilled| spilled.bytes > 29_000_000), "it is stored");
    }
    vec![
        BenchFigure::median("30 MB, redirected by the shell", &theirs),
        BenchFigure::median("30 MB, Bash into the session's file", &ours),
        BenchFigure::ratio("Bash, to the shell", &ours, &theirs),
    ]
}

fn shell(line: &str, folder: &std::path::Path) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(folder);
    command
}

/// How long a verdict takes.
pub(super) fn verdicts() -> BenchSection {
    const RUNS: usize = 500;
    let rules = |texts: &[&str]| texts.iter().map(|text| text.parse().expect("a rule")).collect();
    let gate = PermissionGate::new(
        PermissionMode::Default,
        PermissionRules {
            allow: rules(&["Bash(cargo test:*)", "Bash(git diff:*)", "Edit(src/**)"]),
            ask: rules(&["Bash(git commit:*)"]),
            deny: rules(&["Bash(git push:*)", "Read(.env)", "WebFetch(domain:*.example.com)"]),
        },
    );
    let mut section = BenchSection::new(
        "verdict",
        format!("`PermissionGate::decide` with seven rules, in default mode; {RUNS} runs each."),
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tools = ToolSet::builtin();
    for (name, tool, input) in [
        ("a plain command", "Bash", r#"{"command":"git diff --stat"}"#),
        (
            "a line of five commands",
            "Bash",
            r#"{"command":"cd src && git log --oneline -5 | head -3 && cargo test --workspace 2>&1 | tail -20 && rg -n 'fn main' ."}"#,
        ),
        (
            "a line nobody can judge",
            "Bash",
            r#"{"command":"for f in $(ls *.rs); do sed -i s/a/b/ \"$f\" > /tmp/x; done"}"#,
        ),
        ("an edit", "Edit", r#"{"file_path":"src/a/b.rs","old_string":"a","new_string":"b"}"#),
        ("a fetch", "WebFetch", r#"{"url":"https://docs.example.org/page"}"#),
    ] {
        let input = RawValue::from_string(input.to_owned()).expect("JSON");
        let tool = tools.get(tool).expect("a tool of that name");
        let mut samples = Samples::default();
        for _ in 0..RUNS {
            samples
                .time(|| gate.decide(&tool.permission_request(black_box(&input), folder.path())));
        }
        section.add([BenchFigure::median(name, &samples).aim_below(0.2)]);
    }
    section
}

/// Layer 1's own work on a result of 30 MB that came in one piece.
pub(super) fn layer_one() -> BenchSection {
    let text = "a line of a result that is far too long to send\n".repeat(LARGE / 48);
    let id = ToolUseId::new("toolu_1");
    let (mut ours, mut write) = (Samples::default(), Samples::default());
    let folder = tempfile::tempdir().expect("a temporary folder");
    for _ in 0..20 {
        ours.time(|| {
            let plan = plan_result_storage(&id, black_box(&text), StorageLimit::Chars(50_000));
            (plan, preview(black_box(&text), "/session/tool-results/toolu_1.txt"))
        });
        write.time(|| std::fs::write(folder.path().join("x"), &text).expect("a file"));
    }
    let mut section = BenchSection::new(
        "layer 1",
        "A result of 30 MB in memory: what becomes of it and its preview, beside a plain `std::fs::write` \
         of the same text; 20 runs.",
    );
    section.add([
        BenchFigure::median("plan and preview", &ours),
        BenchFigure::median("`std::fs::write`", &write),
        BenchFigure::ratio("plan and preview, to `std::fs::write`", &ours, &write).aim_below(1.0),
    ]);
    section
}
