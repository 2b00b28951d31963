//! Reads the source files of the workspace and lists what each module declares and uses.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, File, Item, UseTree, Visibility};

use super::files::rust_files_below;

/// The names on the way from the crate's root to a module; empty for the root.
pub type ModulePath = Vec<String>;

/// One crate, without its tests.
pub struct CrateSource {
    /// The folder's name, such as `engine`.
    pub name: String,
    /// Its modules, one for each file.
    pub modules: BTreeMap<ModulePath, SourceModule>,
    /// Lines in `src/`, tests included.
    pub lines: usize,
    /// Lines in `tests/`.
    pub test_lines: usize,
}

/// One file of a crate.
pub struct SourceModule {
    /// Its path from the workspace's root.
    pub file: PathBuf,
    /// Its number of lines.
    pub lines: usize,
    /// Its syntax tree, without items that are compiled for tests only.
    pub syntax: File,
    /// Names of the items it defines.
    pub defined: Vec<String>,
    /// Names that `use` brings in, with the path they stand for.
    pub imports: Vec<Import>,
    /// Paths written out in signatures and bodies.
    pub paths: Vec<Vec<String>>,
}

/// One name that a `use` declaration brings in.
#[derive(Debug, Clone)]
pub struct Import {
    /// The path, without the alias.
    pub path: Vec<String>,
    /// The name it has in this module; `*` for a glob.
    pub name: String,
    /// Whether other modules can use it from here.
    pub reexported: bool,
}

/// Reads every crate below `crates/`, and `bench`.
pub fn read_workspace(root: &Path) -> Vec<CrateSource> {
    let crates = root.join("crates");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&crates).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.push(root.join("bench"));
    folders.sort();
    folders
        .iter()
        .filter(|folder| folder.join("src").is_dir())
        .map(|it| read_crate(root, it))
        .collect()
}

/// Reads one crate. Files that do not parse are left out: the compiler reports them.
pub fn read_crate(root: &Path, folder: &Path) -> CrateSource {
    let source = folder.join("src");
    let mut modules = BTreeMap::new();
    let mut lines = 0;
    for path in rust_files_below(&source) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        lines += text.lines().count();
        let relative = path.strip_prefix(&source).unwrap_or(&path);
        if is_test_file(relative) || relative.starts_with("bin") {
            continue;
        }
        let Ok(mut syntax) = syn::parse_file(&text) else { continue };
        remove_tests(&mut syntax.items);
        let file = path.strip_prefix(root).unwrap_or(&path).to_owned();
        modules.insert(module_path(relative), describe(file, text.lines().count(), syntax));
    }
    // A file `mod.rs` or `x.rs` that is declared for tests only has no parent that names it.
    let declared = declared_modules(&modules);
    modules.retain(|path, _| path.is_empty() || declared.contains(path));
    let test_lines = rust_files_below(&folder.join("tests"))
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|text| text.lines().count())
        .sum();
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    CrateSource { name, modules, lines, test_lines }
}

fn declared_modules(modules: &BTreeMap<ModulePath, SourceModule>) -> Vec<ModulePath> {
    let mut declared = Vec::new();
    for (path, module) in modules {
        for item in &module.syntax.items {
            if let Item::Mod(child) = item
                && child.content.is_none()
            {
                declared.push(path.iter().cloned().chain([child.ident.to_string()]).collect());
            }
        }
    }
    declared
}

fn is_test_file(relative: &Path) -> bool {
    let name = relative.file_name().unwrap_or_default().to_string_lossy();
    name == "tests.rs" || name.ends_with("_tests.rs")
}

fn module_path(relative: &Path) -> ModulePath {
    let mut parts: ModulePath = relative
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

fn remove_tests(items: &mut Vec<Item>) {
    items.retain(|item| !attributes(item).iter().any(is_test_only));
    for item in items {
        if let Item::Mod(module) = item
            && let Some((_, inner)) = &mut module.content
        {
            remove_tests(inner);
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test_only(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.require_list().is_ok_and(|list| {
            list.tokens.to_string().split([' ', '(', ',']).any(|word| word == "test")
        })
}

fn describe(file: PathBuf, lines: usize, syntax: File) -> SourceModule {
    let mut collector = Collector::default();
    collector.visit_file(&syntax);
    let Collector { defined, imports, paths } = collector;
    SourceModule { file, lines, syntax, defined, imports, paths }
}

/// Collects definitions, imports and paths of one file; inline modules count as part of it.
#[derive(Default)]
struct Collector {
    defined: Vec<String>,
    imports: Vec<Import>,
    paths: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        let name = match item {
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Macro(item) => item.ident.as_ref(),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Mod(item) if item.content.is_some() => Some(&item.ident),
            _ => None,
        };
        self.defined.extend(name.map(ToString::to_string));
        if let Item::Use(item) = item {
            let reexported = !matches!(item.vis, Visibility::Inherited);
            flatten(&item.tree, &mut Vec::new(), reexported, &mut self.imports);
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.paths
                .push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }
}

fn flatten(tree: &UseTree, prefix: &mut Vec<String>, reexported: bool, into: &mut Vec<Import>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, reexported, into);
            prefix.pop();
        }
        UseTree::Name(name) => push_import(prefix, &name.ident.to_string(), None, reexported, into),
        UseTree::Rename(rename) => push_import(
            prefix,
            &rename.ident.to_string(),
            Some(rename.rename.to_string()),
            reexported,
            into,
        ),
        UseTree::Glob(_) => {
            into.push(Import { path: prefix.clone(), name: "*".to_owned(), reexported });
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, prefix, reexported, into);
            }
        }
    }
}

fn push_import(
    prefix: &[String],
    ident: &str,
    alias: Option<String>,
    reexported: bool,
    into: &mut Vec<Import>,
) {
    let mut path = prefix.to_vec();
    if ident != "self" {
        path.push(ident.to_owned());
    }
    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
    into.push(Import { path, name, reexported });
}
