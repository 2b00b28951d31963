//! The memories and tools that the MCP server offers.

use std::sync::Arc;

use super::source::MemorySource;
use super::tools::{self, ServedTool};
use super::watch::MemoryWatch;

/// The memories and tools of a server. Several connections may share one.
pub struct MemoryServer {
    /// `None` if memory is off.
    pub(super) source: Option<Arc<MemorySource>>,
    pub(super) tools: Vec<&'static ServedTool>,
    pub(super) watch: MemoryWatch,
}

impl MemoryServer {
    /// A server for the memories of a source.
    pub fn new(source: MemorySource) -> Self {
        let source = Arc::new(source);
        let watch = MemoryWatch::of(Arc::clone(&source));
        Self { source: Some(source), tools: tools::ALL.iter().collect(), watch }
    }

    /// Whether there is memory to offer.
    pub fn offers_memory(&self) -> bool {
        self.source.is_some()
    }

    /// Also offers the Anthropic memory tool.
    #[must_use]
    pub fn with_memory_tool(mut self) -> Self {
        self.tools.push(&tools::MEMORY_TOOL);
        self
    }

    /// A server without memory, because memory is off.
    pub fn off() -> Self {
        Self { source: None, tools: Vec::new(), watch: MemoryWatch::default() }
    }
}
