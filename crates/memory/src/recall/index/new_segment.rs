//! A segment of memory files as they are now; many of them are read on several threads.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use dormouse_base::Dir;
use dormouse_search::{FileStamp, Segment, SegmentBuilder, Tokenizer};

use super::document::{self, IndexDocument};

/// From this number of files on, threads are worth their start.
const MANY: usize = 1_000;
/// Files that a thread reads at a time.
const BATCH: usize = 64;
const MOST_THREADS: usize = 8;

/// A file to read, and its time and size.
pub(super) type SeenFile<'a> = (&'a str, FileStamp);

/// A segment of these files.
pub(super) fn new_segment(dir: &Dir, tokenizer: &Tokenizer, files: &[SeenFile<'_>]) -> Segment {
    let mut builder = SegmentBuilder::default();
    if files.len() < MANY || !add_on_threads(&mut builder, dir, files) {
        for (file, seen) in files {
            add(&mut builder, file, document::read(dir, tokenizer, file, *seen));
        }
    }
    builder.finish()
}

fn add(builder: &mut SegmentBuilder, file: &str, document: Option<IndexDocument>) {
    if let Some(IndexDocument { info, text }) = document {
        builder.add(file, info, &text);
    }
}

/// Reads the files on all cores and adds them as they come: a segment does not depend on the order. Returns whether a
/// thread could be started.
fn add_on_threads(builder: &mut SegmentBuilder, dir: &Dir, files: &[SeenFile<'_>]) -> bool {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let next = AtomicUsize::new(0);
    // Bounded, so that documents do not pile up while they are added.
    let (sender, receiver) = sync_channel(2 * threads);
    thread::scope(|scope| {
        let start = |sender: SyncSender<_>| {
            let next = &next;
            let read = move || read_batches(dir, files, next, &sender);
            thread::Builder::new().spawn_scoped(scope, read).is_ok()
        };
        let started = (0..threads).filter(|_| start(sender.clone())).count();
        drop(sender);
        for (file, document) in receiver.into_iter().flatten() {
            add(builder, file, document);
        }
        started > 0
    })
}

type ReadBatch<'a> = Vec<(&'a str, Option<IndexDocument>)>;

/// Reads one batch of files after another until none is left.
fn read_batches<'a>(
    dir: &Dir,
    files: &[SeenFile<'a>],
    next: &AtomicUsize,
    sender: &SyncSender<ReadBatch<'a>>,
) {
    let tokenizer = Tokenizer::new();
    loop {
        let start = next.fetch_add(BATCH, Ordering::Relaxed).min(files.len());
        let batch = files.get(start..files.len().min(start + BATCH)).unwrap_or_default();
        let read =
            |(file, seen): &SeenFile<'a>| (*file, document::read(dir, &tokenizer, file, *seen));
        if batch.is_empty() || sender.send(batch.iter().map(read).collect()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out files by hand")]
    fn threads_give_the_same_segment_as_one_file_after_another() {
        let keep = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..MANY + 100).map(|number| format!("m{number}.md")).collect();
        for (number, name) in names.iter().enumerate() {
            let text = format!("The tests of part {number} run at night. 夜间测试 {}", number % 7);
            std::fs::write(keep.path().join(name), text).unwrap();
        }
        let dir = Dir::open(keep.path()).unwrap();
        let files: Vec<SeenFile<'_>> =
            names.iter().map(|name| (name.as_str(), FileStamp { modified: 7, size: 60 })).collect();
        let mut builder = SegmentBuilder::default();
        let tokenizer = Tokenizer::new();
        for (file, seen) in &files {
            add(&mut builder, file, document::read(&dir, &tokenizer, file, *seen));
        }
        let (one, many) = (builder.finish(), new_segment(&dir, &tokenizer, &files));
        assert_eq!(many.doc_count(), 1_100);
        assert!(one.bytes() == many.bytes());
    }
}
