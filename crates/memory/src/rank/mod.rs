//! Finding memories without a model: words, an index over them, and a ranking that says why.
//!
//! From below: `words` makes terms of text, `segment` holds them, `view` joins segments, `index` keeps them true
//! to the files, `question` and `forms` say what is looked for, `score` ranks, `near` joins in
//! vectors where there are any (`fill` makes them), `recall` is what others call, `sure` what may be put into a
//! conversation, `tuning` the numbers that were chosen by measuring.

mod fill;
mod forms;
mod index;
mod near;
mod question;
mod recall;
mod score;
mod segment;
mod sure;
mod text;
mod tuning;
mod view;
mod words;

pub use forms::Fit;
pub use near::{Nearness, VectorUse};
pub use recall::{CANDIDATES, Hit, LOOK_AGAIN, Quarantined, Query, Ranking, Recall, TermWhy};
pub use sure::{MOST_SURE, Sure};
pub use text::Field;
pub use tuning::Tuning;
pub(crate) use words::{Piece, Words, is_stop, is_unspaced, pieces, related};
