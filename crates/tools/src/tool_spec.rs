//! The fixed properties of a tool: its texts for the model, what may run at the same time, how the program treats it.

use std::borrow::Cow;

use dormouse_conversation::ToolTraits;

/// Which other calls may run at the same time as a call of this tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolClass {
    /// Changes nothing: runs in parallel with every other call that is not exclusive.
    ReadOnly,
    /// Starts once the response is complete, and runs in parallel with calls that are not exclusive.
    Parallel,
    /// Runs alone, in order.
    Exclusive,
}

/// The size above which a tool's result is stored in a file and shown in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultLimit {
    /// The tool bounds its results itself; they are never stored.
    OwnBound,
    /// At most this many characters.
    Chars(u32),
}

/// The description of a tool. Owned where it comes from a server at run time.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// The name by which the model calls it.
    pub name: Cow<'static, str>,
    /// What it does, how and when to use it.
    pub full: Cow<'static, str>,
    /// The same in one line, for small context windows.
    pub short: Cow<'static, str>,
    /// The JSON schema of its arguments, as text.
    pub schema: Cow<'static, str>,
    /// Which other calls may run at the same time.
    pub class: ToolClass,
    /// The size above which results are stored.
    pub limit: ResultLimit,
    /// How the rest of the program treats it.
    pub traits: ToolTraits,
}
