//! `@` in a large project: when the first files are listed, and how soon a key is seen meanwhile.

use std::path::Path;
use std::time::Instant;

use dormouse_testkit::TestHome;

use crate::measure::Samples;
use crate::report::{BenchFigure, FigureUnit};

use super::program::Program;

const FOLDERS: usize = 1_000;
const FILES_EACH: usize = 100;
/// Letters typed after the mark.
const TYPED: &str = "module-7";

pub(super) fn figures(binary: &Path) -> [BenchFigure; 2] {
    let home = TestHome::new();
    for folder in 0..FOLDERS {
        let path = home.project().join(format!("src/part-{folder}"));
        std::fs::create_dir_all(&path).expect("a folder");
        for file in 0..FILES_EACH {
            std::fs::File::create(path.join(format!("module-{file}.rs"))).expect("a file");
        }
    }
    let (mut program, _) = Program::Dormouse(binary.to_owned()).start_in(home, "");
    let start = Instant::now();
    program.terminal.type_keys("@m");
    program.wait_for("the first files", |screen| screen.contains("module-"));
    let first = start.elapsed();
    let mut echo = Samples::default();
    let mut typed = "@m".to_owned();
    for letter in TYPED.chars().skip(1) {
        typed.push(letter);
        let start = Instant::now();
        program.terminal.type_keys(&letter.to_string());
        program.wait_for_typed(&typed);
        echo.add(start.elapsed());
    }
    let files = FOLDERS * FILES_EACH;
    let milliseconds = FigureUnit::Milliseconds;
    let first = BenchFigure::new(
        format!("`@` among {files} files: the first ones are listed"),
        first.as_secs_f64() * 1_000.0,
        milliseconds,
    );
    let slow =
        BenchFigure::new("the same: key to echo meanwhile, longest", echo.worst(), milliseconds);
    [first.aim_below(50.0), slow.aim_below(8.0)]
}
