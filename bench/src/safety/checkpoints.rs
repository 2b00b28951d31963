//! The cost of checkpoints in a large repository, in time and space.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use dormouse_base::{Dir, IdSource, MessageId, RandomIds, SystemClock};
use dormouse_checkpoint::{
    Checkpoints, Rewind, RewindPlan, RewindRequest, RewindScope, RewindTarget, load_log,
};
use serde_json::json;

use super::calls::ToolCalls;
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const FILES: usize = 100_000;
const RUNS: usize = 20;

pub(super) fn run(calls: &ToolCalls) -> BenchSection {
    let mut section = BenchSection::new(
        "checkpoints",
        format!(
            "A repository of {FILES} committed files. A turn with one Write, with checkpoints and without, alternating, {RUNS} \
             runs; the same for a turn with one command that writes a file. Then a formatter over 500 files, what is kept of \
             it, and the way back."
        ),
    );
    let keep = tempfile::tempdir().expect("a temporary folder");
    let project = keep.path().join("project");
    std::fs::create_dir(&project).expect("a folder");
    repository(&project, FILES);
    let session = Dir::create(keep.path().join("session")).expect("a folder");
    let checkpoints = Arc::new(Checkpoints::new(
        session.clone(),
        std::slice::from_ref(&project),
        None,
        Arc::new(SystemClock::default()),
    ));
    let ids = RandomIds::new(Arc::new(SystemClock::default()));
    let plain = ToolCalls::context(&project);
    let mut kept = ToolCalls::context(&project);
    kept.checkpoints = Some(Arc::clone(&checkpoints));
    let mut line = 0;
    let mut turn = |work: &mut dyn FnMut()| {
        line += 1;
        checkpoints.begin_turn(MessageId::generate(&ids as &dyn IdSource), line);
        work();
        checkpoints.end_turn();
    };
    let (mut without, mut with) = (Samples::default(), Samples::default());
    for run in 0..RUNS {
        let write =
            |name: &str| json!({ "file_path": format!("new/{name}{run}.txt"), "content": "x\n" });
        without.time(|| calls.call("Write", &write("plain"), &plain));
        with.time(|| turn(&mut || drop(calls.call("Write", &write("kept"), &kept))));
    }
    section.add([
        BenchFigure::median("a turn with one Write, without", &without),
        BenchFigure::median("a turn with one Write, with", &with),
        BenchFigure::new("added", with.median() - without.median(), FigureUnit::Milliseconds)
            .aim_below(5.0),
    ]);
    let (mut without, mut with) = (Samples::default(), Samples::default());
    for run in 0..RUNS / 2 {
        let command = json!({ "command": format!("echo {run} > by-command.txt") });
        without.time(|| calls.call("Bash", &command, &plain));
        with.time(|| turn(&mut || drop(calls.call("Bash", &command, &kept))));
    }
    section.add([
        BenchFigure::median("a turn with one command, without", &without),
        BenchFigure::median("a turn with one command, with", &with),
        BenchFigure::new("added", with.median() - without.median(), FigureUnit::Milliseconds),
    ]);
    let before = size(session.path());
    let format = json!({ "command": "ls d0/*.txt | head -500 | xargs sed -i 's/file/File/'" });
    turn(&mut || drop(calls.call("Bash", &format, &kept)));
    section.add([BenchFigure::new(
        "kept of 500 files that a formatter changed, before and after",
        size(session.path()) - before,
        FigureUnit::Megabytes,
    )]);
    section.add(back(&session, &project, line));
    section
}

/// The time of going back to before the last turn.
fn back(session: &Dir, project: &Path, line: u64) -> Vec<BenchFigure> {
    let ids = RandomIds::new(Arc::new(SystemClock::default()));
    let mut time = Samples::default();
    let count = time.time(|| {
        let turns = load_log(session).expect("a log");
        let plan = RewindPlan::make(&turns, line, Some(project)).expect("a plan");
        let id = MessageId::generate(&ids as &dyn IdSource);
        let target = RewindTarget { message: id, line };
        let request = RewindRequest { target, scope: RewindScope::Code, overwrite: false };
        let rewind = Rewind::begin(session, &plan, request, id, line + 1).expect("a journal");
        let report = rewind.restore_files().expect("files");
        rewind.finish().expect("a log");
        report.restored.len()
    });
    vec![BenchFigure::median(format!("going back: {count} files"), &time)]
}

/// A repository with so many committed files.
pub(super) fn repository(folder: &Path, files: usize) {
    for number in 0..files {
        let path = folder.join(format!("d{}", number / 1_000));
        if number % 1_000 == 0 {
            std::fs::create_dir(&path).expect("a folder");
        }
        std::fs::write(path.join(format!("{number}.txt")), format!("file {number}\n"))
            .expect("a file");
    }
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "one"]] {
        let status = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(folder)
            .status();
        assert!(status.expect("git").success());
    }
}

/// The megabytes below a folder.
fn size(folder: &Path) -> f64 {
    let output = Command::new("du").arg("-sk").arg(folder).output().expect("du");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let kilobytes: f64 =
        text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    kilobytes / 1_000.0
}
