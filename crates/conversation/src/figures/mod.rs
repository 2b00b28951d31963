//! The log of figures (L-31): one line for every request, tool call, layer and background job, kept on
//! this machine and sent nowhere.
//!
//! Invariants: a figure holds numbers, ids and the names of tools, layers, jobs and models, never a
//! word of a conversation or a file. Writing one can fail; it never disturbs what it is about. Reading
//! never fails over a line: what can not be read is counted.

mod figure;
mod log;
mod months;
mod read;
mod summary;

pub use figure::{
    BreakerFigure, BreakerState, CacheBreakFigure, Figure, JobFigure, JobOutcome, Lane,
    LayerFigure, MemoryAction, MemoryFigure, RequestFigure, RequestOutcome, ToolFigure,
};
pub use log::{FigureLog, Figures};
pub use read::{Entry, Filter, Unreadable, read_figures};
pub use summary::{
    BreakerSum, JobSum, LayerSum, MemorySum, Period, Spent, Summary, ToolSum, summarise,
};
