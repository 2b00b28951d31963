//! The program's manual: embedded, and as files, so that the guide agent can search and read it with its tools.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, FileError, RelPath, RelPathError};
use thiserror::Error;

/// The pages, embedded in the program, by the names of their files.
pub const MANUAL_PAGES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../../README.md")),
    ("contents.md", include_str!("../../../docs/README.md")),
    ("agents.md", include_str!("../../../docs/agents.md")),
    ("configuration.md", include_str!("../../../docs/configuration.md")),
    ("context.md", include_str!("../../../docs/context.md")),
    ("deadlines.md", include_str!("../../../docs/deadlines.md")),
    ("dreaming.md", include_str!("../../../docs/dreaming.md")),
    ("editors.md", include_str!("../../../docs/editors.md")),
    ("figures.md", include_str!("../../../docs/figures.md")),
    ("glossary.md", include_str!("../../../docs/glossary.md")),
    ("hooks.md", include_str!("../../../docs/hooks.md")),
    ("instructions.md", include_str!("../../../docs/instructions.md")),
    ("interface.md", include_str!("../../../docs/interface.md")),
    ("local-models.md", include_str!("../../../docs/local-models.md")),
    ("mcp.md", include_str!("../../../docs/mcp.md")),
    ("memory.md", include_str!("../../../docs/memory.md")),
    ("messages.md", include_str!("../../../docs/messages.md")),
    ("other-agents.md", include_str!("../../../docs/other-agents.md")),
    ("output.md", include_str!("../../../docs/output.md")),
    ("plugins.md", include_str!("../../../docs/plugins.md")),
    ("quick-start.zh-CN.md", include_str!("../../../docs/quick-start.zh-CN.md")),
    ("rewind.md", include_str!("../../../docs/rewind.md")),
    ("sandbox.md", include_str!("../../../docs/sandbox.md")),
    ("skills.md", include_str!("../../../docs/skills.md")),
    ("team.md", include_str!("../../../docs/team.md")),
    ("transcript.md", include_str!("../../../docs/transcript.md")),
    ("viewer.md", include_str!("../../../docs/viewer.md")),
];

/// The manual could not be written.
#[derive(Debug, Error)]
pub(crate) enum ManualError {
    #[error("cannot write the manual: {0}")]
    File(#[from] FileError),
    #[error("cannot write the manual: {0}")]
    Path(#[from] RelPathError),
}

/// Writes the pages that are missing or changed into the program's home folder. Returns their folder.
pub(crate) fn write_manual(home: &Path) -> Result<PathBuf, ManualError> {
    let folder = Dir::create(home.join("manual"))?;
    for (name, text) in MANUAL_PAGES {
        let page = RelPath::new(*name)?;
        let same = folder.read(&page).is_ok_and(|bytes| bytes == text.as_bytes());
        if !same {
            folder.replace(&page, text.as_bytes())?;
        }
    }
    Ok(folder.path().to_owned())
}
