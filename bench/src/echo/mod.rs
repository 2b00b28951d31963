//! What memory becomes when a careless model looks after it (B-26): a hundred replayed sessions full of what is
//! known already, and a model that proposes all it sees; with the guard against echoes, and without.

mod extractor;
mod facts;
mod pairs;
mod plan;
mod play;
mod score;

use std::path::Path;
use std::sync::Arc;

use crate::report::BenchSection;
use facts::Fact;
use play::{EchoGuardSetting, EchoStage};
use score::Score;

/// The figures. The binary is one of a debug build: in others the guard can not be switched off.
pub(crate) fn run(binary: &Path) -> Vec<BenchSection> {
    let facts = Arc::new(facts::all());
    let both = [(EchoGuardSetting::On, "with the guard"), (EchoGuardSetting::Off, "without it")];
    let played = std::thread::scope(|scope| {
        let facts = &facts;
        let threads =
            both.map(|(guard, name)| scope.spawn(move || play(binary, facts, guard, name)));
        threads.map(|thread| thread.join().expect("the sessions can be played"))
    });
    played.into()
}

/// How well and how quickly it is seen that something is said already.
pub(crate) fn same() -> Vec<BenchSection> {
    vec![pairs::run(&facts::all())]
}

/// Plays all sessions.
fn play(
    binary: &Path,
    facts: &Arc<Vec<Fact>>,
    guard: EchoGuardSetting,
    name: &'static str,
) -> BenchSection {
    let mut stage = EchoStage::new(binary, facts, guard);
    for session in plan::sessions(facts) {
        stage.play(&session);
    }
    let score = Score::of(&stage, facts);
    println!("{name}: {score:#?}");
    score.section(name, how(&stage), guard == EchoGuardSetting::On)
}

fn how(stage: &EchoStage) -> String {
    format!(
        "{} sessions of the program, {} of them compacted, {} with notes beside them. Known from the start: 24 \
         memories and 8 lines of an instruction file. In each session the user types news, in either language, or \
         the assistant concludes some; it also repeats, in its own words, what it is asked about. After every turn a \
         scripted model proposes the news, what the assistant repeated, and up to 8 facts that it sees anywhere in \
         the request: half of them in other words or the other language, the quotation verbatim, in other words \
         (then once more verbatim) or the user's question. Counted in the memory files at the end.",
        plan::SESSIONS,
        stage.compacted(),
        stage.noted(),
    )
}
