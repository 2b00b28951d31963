//! The figures of a source tree in one table, for comparing two versions of it.

use std::fmt::{self, Display};
use std::path::Path;

use super::{
    circles, duplicate_type_names, long_functions, oversized_types, read_workspace, string_errors,
    type_sizes,
};

/// The longest file that is not a test, in lines.
const MAX_FILE_LINES: usize = 500;

/// The figures of one source tree.
#[derive(Debug, Clone)]
pub struct Survey {
    /// Each crate with its lines in `src/` and in `tests/`.
    pub crates: Vec<(String, usize, usize)>,
    /// Number of circles, and modules in them.
    pub circles: (usize, usize),
    /// The largest circle, with its crate.
    pub largest_circle: (usize, String),
    /// Type names that exist twice or more.
    pub duplicate_names: usize,
    /// The type with the most fields, as shown.
    pub most_fields: String,
    /// The type with the most methods, as shown.
    pub most_methods: String,
    /// Types over a limit.
    pub oversized: usize,
    /// Functions over their limit.
    pub long_functions: usize,
    /// Files over their limit.
    pub long_files: usize,
    /// Public signatures that fail with a string.
    pub string_errors: usize,
}

/// Reads the workspace at `root` and counts.
pub fn survey(root: &Path) -> Survey {
    let sources = read_workspace(root);
    let found: Vec<_> = sources.iter().flat_map(circles).collect();
    let largest = found.iter().max_by_key(|circle| circle.modules.len());
    let sizes: Vec<_> = sources.iter().flat_map(type_sizes).collect();
    let fields = sizes.iter().max_by_key(|size| size.fields);
    let methods = sizes.iter().max_by_key(|size| size.methods);
    Survey {
        crates: sources.iter().map(|it| (it.name.clone(), it.lines, it.test_lines)).collect(),
        circles: (found.len(), found.iter().map(|circle| circle.modules.len()).sum()),
        largest_circle: largest
            .map(|circle| (circle.modules.len(), circle.crate_name.clone()))
            .unwrap_or_default(),
        duplicate_names: duplicate_type_names(&sources).len(),
        most_fields: fields.map(|it| format!("{} ({})", it.fields, it.name)).unwrap_or_default(),
        most_methods: methods
            .map(|it| format!("{} in {} files ({})", it.methods, it.files, it.name))
            .unwrap_or_default(),
        oversized: sources.iter().map(|source| oversized_types(source).len()).sum(),
        long_functions: sources.iter().map(|source| long_functions(source).len()).sum(),
        long_files: sources
            .iter()
            .flat_map(|source| source.modules.values())
            .filter(|module| module.lines > MAX_FILE_LINES)
            .count(),
        string_errors: string_errors(&sources).len(),
    }
}

impl Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | figure |\n| --- | --- |")?;
        for (name, lines, test_lines) in &self.crates {
            writeln!(f, "| lines of `{name}` (tests/) | {lines} ({test_lines}) |")?;
        }
        let (circles, modules) = self.circles;
        writeln!(f, "| circles between modules (modules in them) | {circles} ({modules}) |")?;
        let (size, name) = &self.largest_circle;
        writeln!(f, "| largest circle | {size} modules in `{name}` |")?;
        writeln!(f, "| type names that exist twice | {} |", self.duplicate_names)?;
        writeln!(f, "| most fields | {} |", self.most_fields)?;
        writeln!(f, "| most methods | {} |", self.most_methods)?;
        writeln!(f, "| types over a limit | {} |", self.oversized)?;
        writeln!(f, "| functions over 80 lines | {} |", self.long_functions)?;
        writeln!(f, "| files over 500 lines | {} |", self.long_files)?;
        writeln!(f, "| public signatures that fail with a string | {} |", self.string_errors)
    }
}
