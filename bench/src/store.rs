//! The memory store: scan, opening, saving, anchors; each beside something that does the same to the disk.

mod anchors;
mod open;
mod plant;
mod save;
mod scan;

use crate::report::BenchSection;

/// A directory as a person has it, and one as nobody should.
const FEW: usize = 10;
const MANY: usize = 10_000;
/// For a save, which should take as long among these.
const VERY_MANY: usize = 100_000;

/// All sections of the suite.
pub(crate) fn run() -> Vec<BenchSection> {
    vec![scan::run(), open::run(), save::run(), anchors::run()]
}
