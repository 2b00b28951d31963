//! How long it takes to open a session of 50 MB again.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use dormouse_base::{SessionId, find_project, names};
use dormouse_conversation::transcript::{
    LineEnvelope, LoadedTranscript, MessageHeader, Transcript, TranscriptWarning, load_transcript,
    session_file,
};
use dormouse_conversation::{Message, PrefixOrigin, Response, Role};
use dormouse_engine::SessionFolder;

use crate::generate::{Sizes, Story, prefix};
use crate::measure::Samples;
use crate::memory::{megabytes, peak_until_end};
use crate::report::{BenchFigure, BenchSection, FigureUnit};
use crate::server::MODEL;
use crate::world::{BenchWorld, spawn};

/// How large the transcript is.
const BYTES: u64 = 50_000_000;
const WARM_UPS: usize = 2;
const RUNS: usize = 15;
/// In milliseconds.
const AIM: f64 = 300.0;
/// A window that even 50 MB do not fill.
pub(crate) const WINDOW: &str = "2000000000";

const SIZES: Sizes = Sizes {
    prompt: (40, 900),
    thinking: (200, 2_500),
    text: (80, 1_800),
    result: (2_000, 40_000),
    signature: 480,
};

/// Measures the reader in this process, then the binary; then loads what else was given.
pub(crate) fn run(binary: &Path, others: &[PathBuf]) -> BenchSection {
    let mut world = BenchWorld::new(binary);
    world.home.set_env(names::CONTEXT_WINDOW, WINDOW);
    let session = ResumedSession::write(&world);
    let loaded = load_transcript(&fs::read(&session.path).expect("the transcript"));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let mut section = BenchSection::new(
        "resume",
        format!(
            "A transcript of {:.1} MB and {} messages, written by the program's own writer: \
             thinking, text, calls, results of 2 to 40 kB. In this process: `load` on its bytes, and \
             the whole of `Transcript::resume` (lock, read, load), beside a plain `std::fs::read` of \
             the file; {RUNS} runs each after {WARM_UPS} warm-ups, alternating. Then the binary: \
             `dormouse -p --continue hi`, from its spawn.",
            megabytes(session.length),
            loaded.messages.len(),
        ),
    );
    drop(loaded);
    section.add(in_process(&session));
    section.add(with_the_binary(&world, &session));
    section.add(others.iter().flat_map(|path| load_other(path)));
    section
}

/// A session on the disk.
pub(crate) struct ResumedSession {
    folder: SessionFolder,
    id: SessionId,
    pub(crate) path: PathBuf,
    pub(crate) length: u64,
}

impl ResumedSession {
    /// Writes a conversation down the way the program does: a line a block, as each completes.
    pub(crate) fn write(world: &BenchWorld) -> Self {
        let project = find_project(&world.home.project()).expect("a project");
        let folder = SessionFolder::open(&world.home.dormouse_home(), &project).expect("a folder");
        let mut story = Story::new(SIZES);
        let id = SessionId::generate(&*story.ids());
        let create = Transcript::create(folder.dir(), id, envelope(), story.clock(), story.ids());
        let mut transcript = create.expect("a new transcript");
        let origin =
            PrefixOrigin { model: MODEL.to_owned(), server: world.server_url(), max_tokens: None };
        transcript.record_prefix(&prefix(), &origin).expect("a line");
        let path = folder.dir().path().join(session_file(id).as_path());
        let length = || fs::metadata(&path).expect("the transcript").len();
        while length() < BYTES || !story.is_at_rest() {
            record(&mut transcript, &story.message());
        }
        let length = length();
        Self { folder, id, path, length }
    }

    /// Takes off again what a run of the binary has added.
    fn restore(&self) {
        let file = OpenOptions::new().write(true).open(&self.path).expect("the transcript");
        file.set_len(self.length).expect("its old length");
    }

    fn resume(&self, story: &Story) -> (Transcript, LoadedTranscript) {
        let dir = self.folder.dir();
        Transcript::resume(dir, self.id, envelope(), story.clock(), story.ids())
            .expect("a transcript to go on with")
    }
}

fn envelope() -> LineEnvelope {
    LineEnvelope {
        folder: "/home/person/project".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_branch: "main".to_owned(),
    }
}

fn record(transcript: &mut Transcript, message: &Message) {
    let streaming: Option<Response> = message
        .response
        .as_ref()
        .map(|response| Response { stop_reason: None, ..response.clone() });
    let author = MessageHeader { response: streaming.as_ref(), ..MessageHeader::of(message) };
    for block in &message.blocks {
        let recorded = transcript.record_blocks(author, std::slice::from_ref(block));
        recorded.expect("a line");
    }
    if message.role == Role::Assistant {
        transcript.record_response_end(MessageHeader::of(message)).expect("a line");
    }
}

fn in_process(session: &ResumedSession) -> Vec<BenchFigure> {
    let story = Story::new(SIZES);
    let (mut read, mut loading, mut resume) =
        (Samples::default(), Samples::default(), Samples::default());
    for round in 0..WARM_UPS + RUNS {
        if round == WARM_UPS {
            (read, loading, resume) = Default::default();
        }
        let bytes = read.time(|| fs::read(&session.path).expect("the transcript"));
        drop(loading.time(|| load_transcript(&bytes)));
        drop(bytes);
        drop(resume.time(|| session.resume(&story)));
    }
    vec![
        BenchFigure::median("`std::fs::read`", &read),
        BenchFigure::median("`load`", &loading).aim_below(AIM),
        BenchFigure::ratio("`load`, to `std::fs::read`", &loading, &read),
        BenchFigure::median("`Transcript::resume`", &resume).aim_below(AIM),
        BenchFigure::ratio("`Transcript::resume`, to `std::fs::read`", &resume, &read),
    ]
}

fn with_the_binary(world: &BenchWorld, session: &ResumedSession) -> Vec<BenchFigure> {
    let arguments = ["-p", "--continue", "hi"];
    let (mut read, mut first, mut last) =
        (Samples::default(), Samples::default(), Samples::default());
    let mut bytes = 0;
    for round in 0..WARM_UPS + RUNS {
        if round == WARM_UPS {
            (read, first, last) = Default::default();
        }
        drop(read.time(|| fs::read(&session.path).expect("the transcript")));
        let (time, arrival) = world.ask(&arguments);
        first.add(time);
        last.add(time + arrival.body.saturating_duration_since(arrival.headers));
        bytes = arrival.bytes;
        session.restore();
    }
    let mut child = spawn(world.binary().args(arguments));
    let peak = megabytes(peak_until_end(&mut child));
    session.restore();
    let body = megabytes(u64::try_from(bytes).unwrap_or(0));
    vec![
        BenchFigure::median("the binary, to first byte of the request", &first).aim_below(AIM),
        BenchFigure::ratio("the binary, to `std::fs::read` of the file", &first, &read),
        BenchFigure::median(
            format!("the binary, to last byte of the request ({body:.1} MB)"),
            &last,
        ),
        BenchFigure::new("the binary, peak of resident memory", peak, FigureUnit::Megabytes),
    ]
}

/// Loads a transcript that somebody else wrote, and says what was found in it.
fn load_other(path: &Path) -> Vec<BenchFigure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = fs::read(path)
        .unwrap_or_else(|error| crate::fail::fail(&format!("{}: {error}", path.display())));
    let mut times = Samples::default();
    let mut loaded = LoadedTranscript::default();
    for _ in 0..RUNS {
        loaded = times.time(|| load_transcript(&bytes));
    }
    let size = megabytes(u64::try_from(bytes.len()).unwrap_or(0));
    let torn = |warning: &&TranscriptWarning| matches!(warning, TranscriptWarning::Torn { .. });
    let found = format!(
        "{} messages, {} warnings ({} torn)",
        loaded.messages.len(),
        loaded.warnings.len(),
        loaded.warnings.iter().filter(torn).count(),
    );
    for warning in loaded.warnings.iter().take(5) {
        println!("{name}: {warning}");
    }
    vec![BenchFigure::median(format!("`load` of {name} ({size:.1} MB)"), &times).beside(found)]
}
