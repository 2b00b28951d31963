//! The program's manual, for the agent that answers questions about it: laid out as files, so that it can be searched
//! and read with the tools there are.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, RelPath};

/// The pages, as they were when the program was built.
const PAGES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../../README.md")),
    ("agents.md", include_str!("../../../docs/agents.md")),
    ("configuration.md", include_str!("../../../docs/configuration.md")),
    ("context.md", include_str!("../../../docs/context.md")),
    ("dreaming.md", include_str!("../../../docs/dreaming.md")),
    ("figures.md", include_str!("../../../docs/figures.md")),
    ("hooks.md", include_str!("../../../docs/hooks.md")),
    ("instructions.md", include_str!("../../../docs/instructions.md")),
    ("interface.md", include_str!("../../../docs/interface.md")),
    ("mcp.md", include_str!("../../../docs/mcp.md")),
    ("memory.md", include_str!("../../../docs/memory.md")),
    ("messages.md", include_str!("../../../docs/messages.md")),
    ("other-agents.md", include_str!("../../../docs/other-agents.md")),
    ("output.md", include_str!("../../../docs/output.md")),
    ("plugins.md", include_str!("../../../docs/plugins.md")),
    ("skills.md", include_str!("../../../docs/skills.md")),
    ("transcript.md", include_str!("../../../docs/transcript.md")),
];

/// Puts the pages into the program's folder, where they are not there already; gives theirs.
pub(crate) fn write_manual(home: &Path) -> Result<PathBuf, String> {
    let failed =
        |error: &dyn std::fmt::Display| format!("the manual could not be laid out: {error}");
    let folder = Dir::create(home.join("manual")).map_err(|error| failed(&error))?;
    for (name, text) in PAGES {
        let page = RelPath::new(*name).map_err(|error| failed(&error))?;
        let same = folder.read(&page).is_ok_and(|there| there == text.as_bytes());
        if !same {
            folder.replace(&page, text.as_bytes()).map_err(|error| failed(&error))?;
        }
    }
    Ok(folder.path().to_owned())
}
