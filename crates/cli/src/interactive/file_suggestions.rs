//! Subagents, resources of MCP servers and files of the project for `@`: listed and matched by a thread of its own, so that typing never waits (U-7b).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dormouse_mcp_client::McpHub;
use dormouse_tui::suggestions::Suggestion;
use ignore::{Walk, WalkBuilder};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// More files are not listed.
const MOST_FILES: usize = 300_000;
/// How many are suggested.
const MOST_SUGGESTED: usize = 50;
/// While it lists, it looks for a new word after so many files.
const PIECE: usize = 2_000;
/// A list that is older is made again.
const STALE: Duration = Duration::from_secs(10);

/// The files that fit a word.
pub(crate) type FittingFiles = (String, Vec<Suggestion>);

/// Asks for files. The thread starts with the first word and ends when this is dropped.
#[derive(Debug)]
pub(crate) struct FileSuggestions {
    folder: PathBuf,
    agents: Vec<Suggestion>,
    servers: Arc<McpHub>,
    found: UnboundedSender<FittingFiles>,
    words: Option<Sender<String>>,
    last: Option<String>,
}

impl FileSuggestions {
    /// With what will be found.
    pub(crate) fn new(
        folder: PathBuf,
        agents: Vec<Suggestion>,
        servers: Arc<McpHub>,
    ) -> (Self, UnboundedReceiver<FittingFiles>) {
        let (found, receiver) = unbounded_channel();
        (Self { folder, agents, servers, found, words: None, last: None }, receiver)
    }

    /// Asks for the files that fit a word, unless it was asked for last.
    pub(crate) fn ask(&mut self, word: Option<&str>) {
        if self.last.as_deref() == word {
            return;
        }
        self.last = word.map(str::to_owned);
        if let Some(word) = word {
            let words = self.words.get_or_insert_with(|| {
                let (words, asked) = channel();
                let agents = std::mem::take(&mut self.agents);
                let sources = (agents, Arc::clone(&self.servers));
                let lister = FileLister::new(self.folder.clone(), sources, self.found.clone());
                std::thread::spawn(move || lister.serve(&asked));
                words
            });
            // Without the thread there are no suggestions.
            let _gone = words.send(word.to_owned());
        }
    }
}

/// The thread's state.
struct FileLister {
    folder: PathBuf,
    agents: Vec<Suggestion>,
    servers: Arc<McpHub>,
    found: UnboundedSender<FittingFiles>,
    files: Vec<String>,
    listed: Option<Instant>,
    matcher: Matcher,
}

impl FileLister {
    fn new(
        folder: PathBuf,
        (agents, servers): (Vec<Suggestion>, Arc<McpHub>),
        found: UnboundedSender<FittingFiles>,
    ) -> Self {
        let matcher = Matcher::new(Config::DEFAULT.match_paths());
        Self { folder, agents, servers, found, files: Vec::new(), listed: None, matcher }
    }

    fn serve(mut self, asked: &Receiver<String>) {
        while let Ok(word) = asked.recv() {
            let mut word = newest(asked).unwrap_or(word);
            if self.listed.is_none_or(|listed| listed.elapsed() > STALE) {
                word = self.list(asked, word);
            }
            self.answer(&word);
        }
    }

    /// Lists the files, and answers meanwhile with what is known. Returns the newest word.
    fn list(&mut self, asked: &Receiver<String>, mut word: String) -> String {
        let mut walk = WalkBuilder::new(&self.folder).build();
        let mut files = Vec::new();
        loop {
            let is_complete = take_piece(&mut walk, &self.folder, &mut files);
            if is_complete || files.len() >= MOST_FILES {
                self.files = files;
                self.listed = Some(Instant::now());
                return newest(asked).unwrap_or(word);
            }
            word = newest(asked).unwrap_or(word);
            // The old list serves until the new one is as long.
            if files.len() > self.files.len() {
                self.files.clone_from(&files);
                self.answer(&word);
            }
        }
    }

    fn answer(&mut self, word: &str) {
        let pattern = Pattern::parse(word, CaseMatching::Smart, Normalization::Smart);
        let mut fitting = pattern.match_list(&self.files, &mut self.matcher);
        // Of equals the shorter path comes first.
        fitting.sort_by_key(|(file, score)| (std::cmp::Reverse(*score), file.len()));
        let suggestion = |(file, _): &(&String, u32)| Suggestion {
            name: (*file).clone(),
            description: String::new(),
        };
        let files = fitting.iter().take(MOST_SUGGESTED).map(suggestion);
        // Subagents are few: those whose name goes on from the word.
        let agents = self.agents.iter().filter(|agent| agent.name.starts_with(word)).cloned();
        // Resources by any part of their address: their server stands in front.
        let resources = self.servers.resources().into_iter().map(|resource| Suggestion {
            name: format!("{}:{}", resource.server, resource.uri),
            description: resource.description,
        });
        let is_empty = word.is_empty();
        let resources = resources.filter(|found| !is_empty && found.name.contains(word));
        let entries = agents.chain(resources.take(MOST_SUGGESTED)).chain(files).collect();
        // A session that has ended needs no answer.
        let _gone = self.found.send((word.to_owned(), entries));
    }
}

/// Adds some files; says whether there are no more.
fn take_piece(walk: &mut Walk, folder: &Path, files: &mut Vec<String>) -> bool {
    for _ in 0..PIECE {
        let Some(entry) = walk.next() else { return true };
        // What cannot be read is not suggested.
        let Ok(entry) = entry else { continue };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let path = entry.path().strip_prefix(folder).ok().and_then(Path::to_str);
        files.extend(path.filter(|_| is_file).map(str::to_owned));
    }
    false
}

/// The last word that was asked for, if there are more.
fn newest(asked: &Receiver<String>) -> Option<String> {
    asked.try_iter().last()
}
