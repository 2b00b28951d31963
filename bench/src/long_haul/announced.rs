//! Which changes of what was sent the program has announced: the layers that say so in the log of figures.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use dormouse_conversation::metrics::MetricsLog;
use serde_json::Value;

/// The log, read from where it ended when the last request came.
#[derive(Debug)]
pub(super) struct Announced {
    folder: PathBuf,
    /// The file of the month, and how far it is read.
    read: (PathBuf, u64),
    /// Layers that have been read, and not asked for yet.
    waiting: Vec<String>,
}

impl Announced {
    pub(super) fn in_home(home: &Path) -> Self {
        Self { folder: MetricsLog::folder_in(home), read: (PathBuf::new(), 0), waiting: Vec::new() }
    }

    /// The layers that have announced a change since this was last asked.
    pub(super) fn since_last(&mut self) -> Vec<String> {
        let new = self.read_new();
        std::mem::take(&mut self.waiting).into_iter().chain(new).collect()
    }

    /// Whether one has that is not asked for yet; it stays so.
    pub(super) fn is_waiting(&mut self) -> bool {
        let new = self.read_new();
        self.waiting.extend(new);
        !self.waiting.is_empty()
    }

    fn read_new(&mut self) -> Vec<String> {
        let new = self.new_bytes().unwrap_or_default();
        // Half a line is read with its other half.
        let end = new.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.read.1 += u64::try_from(end).unwrap_or(0);
        let lines = new.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        lines.filter_map(changing_layer).collect()
    }

    /// What has been added to the log; nothing as long as there is none.
    fn new_bytes(&mut self) -> io::Result<Vec<u8>> {
        let entries = fs::read_dir(&self.folder)?.flatten();
        let newest = entries.map(|entry| entry.path()).max().unwrap_or_default();
        if newest != self.read.0 {
            self.read = (newest, 0);
        }
        let mut file = File::open(&self.read.0)?;
        file.seek(SeekFrom::Start(self.read.1))?;
        let mut new = Vec::new();
        file.read_to_end(&mut new)?;
        Ok(new)
    }
}

fn changing_layer(line: &[u8]) -> Option<String> {
    let figure: Value = serde_json::from_slice(line).ok()?;
    let changes = figure.get("kind")? == "layer" && figure.get("prefix_changed")? == true;
    changes.then(|| Some(figure.get("name")?.as_str()?.to_owned()))?
}
