//! The public surface of a library as text, one declaration a line: a snapshot of it shows every change that its users meet.
//!
//! It is read from the source: what `lib.rs` exports, and what can be called on it. Bodies, documentation and private fields are
//! left out. What derives and macros generate is not seen, but derives are listed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{
    Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem, Type, UseTree, Variant, Visibility,
};

use super::parse::{CrateSource, ModulePath, SourceModule};

/// The declarations that users of a library can see, in order.
pub fn public_api(root: &Path, source: &CrateSource) -> String {
    let mut api = PublicApi { root, source, names: BTreeSet::new(), lines: BTreeSet::new() };
    api.module(&ModulePath::new(), "");
    api.implementations();
    api.lines.into_iter().map(|line| line + "\n").collect()
}

struct PublicApi<'a> {
    root: &'a Path,
    source: &'a CrateSource,
    /// The exported types and traits.
    names: BTreeSet<String>,
    lines: BTreeSet<String>,
}

impl PublicApi<'_> {
    /// Lists what a public module declares and exports, under the name that users know it by.
    fn module(&mut self, path: &ModulePath, prefix: &str) {
        let Some(module) = self.source.modules.get(path) else { return };
        for item in &module.syntax.items {
            match item {
                Item::Mod(inner) if is_public(&inner.vis) => {
                    let name = inner.ident.to_string();
                    let inner = path.iter().cloned().chain([name.clone()]).collect();
                    self.module(&inner, &format!("{prefix}{name}::"));
                }
                Item::Use(export) if is_public(&export.vis) => {
                    let mut exports = Vec::new();
                    leaves(&export.tree, &mut Vec::new(), &mut exports);
                    for (from, alias) in exports {
                        self.export(path, &from, &format!("{prefix}{alias}"));
                    }
                }
                _ => self.declaration(module, item, prefix, None),
            }
        }
    }

    /// Lists the item at the end of a path, which may itself be a name that another module exports.
    fn export(&mut self, from: &ModulePath, path: &[String], shown: &str) {
        let Some((name, folders)) = path.split_last() else { return };
        let folders = folders.iter().filter(|part| *part != "self");
        let home: ModulePath = match path.first().map(String::as_str) {
            Some("crate") => folders.skip(1).cloned().collect(),
            _ => from.iter().chain(folders).cloned().collect(),
        };
        let Some(module) = self.source.modules.get(&home) else {
            self.lines.insert(format!("{shown}: {}", path.join("::")));
            return;
        };
        if let Some(item) = module.syntax.items.iter().find(|item| is_called(item, name)) {
            return self.declaration(module, item, "", Some(shown));
        }
        let import = module.imports.iter().find(|import| import.name == *name);
        if let Some(import) = import.map(|import| import.path.clone()) {
            self.export(&home, &import, shown);
        }
    }

    fn declaration(
        &mut self,
        module: &SourceModule,
        item: &Item,
        prefix: &str,
        shown: Option<&str>,
    ) {
        let text = SourceText::of(self.root, module);
        let Some((visibility, name)) = header(item) else { return };
        if !is_public(visibility) {
            return;
        }
        let shown = shown.map_or_else(|| format!("{prefix}{name}"), str::to_owned);
        let from = visibility.span();
        let declared = match item {
            Item::Fn(it) => text.between(from, it.sig.span()),
            Item::Struct(it) => text.between(from, later(it.generics.span(), it.ident.span())),
            Item::Enum(it) => text.between(from, later(it.generics.span(), it.ident.span())),
            Item::Trait(it) => text.between(from, later(it.generics.span(), it.ident.span())),
            Item::Const(it) => text.between(from, it.ty.span()),
            Item::Type(it) => text.between(from, it.ty.span()),
            _ => return,
        };
        let derives = derives(&text, item);
        self.lines.insert(format!("{shown}: {declared}{derives}"));
        match item {
            Item::Struct(it) => {
                self.names.insert(name);
                for field in it.fields.iter().filter(|field| is_public(&field.vis)) {
                    let field = text.between(field.vis.span(), field.ty.span());
                    self.lines.insert(format!("{shown}.{field}"));
                }
            }
            Item::Enum(it) => {
                self.names.insert(name);
                for variant in &it.variants {
                    let variant = variant_text(&text, variant);
                    self.lines.insert(format!("{shown}::{variant}"));
                }
            }
            Item::Trait(it) => {
                self.names.insert(name);
                for item in &it.items {
                    if let TraitItem::Fn(it) = item {
                        let signature = text.between(it.sig.span(), it.sig.span());
                        self.lines.insert(format!("{shown}::{signature}"));
                    }
                }
            }
            _ => {}
        }
    }

    /// Lists the methods and traits of the exported types.
    fn implementations(&mut self) {
        for module in self.source.modules.values() {
            let text = SourceText::of(self.root, module);
            for item in &module.syntax.items {
                let Item::Impl(block) = item else { continue };
                let Some(name) = implemented(block).filter(|name| self.names.contains(name)) else {
                    continue;
                };
                if let Some((_, of_trait, _)) = &block.trait_ {
                    let of_trait = text.between(of_trait.span(), of_trait.span());
                    self.lines.insert(format!("{name}: impl {of_trait}"));
                    continue;
                }
                for item in &block.items {
                    let line = match item {
                        ImplItem::Fn(it) if is_public(&it.vis) => {
                            text.between(it.vis.span(), it.sig.span())
                        }
                        ImplItem::Const(it) if is_public(&it.vis) => {
                            text.between(it.vis.span(), it.ty.span())
                        }
                        _ => continue,
                    };
                    self.lines.insert(format!("{name}::{line}"));
                }
            }
        }
    }
}

/// The text of a file, to cut declarations out of as they were written.
struct SourceText(String);

impl SourceText {
    fn of(root: &Path, module: &SourceModule) -> Self {
        Self(fs::read_to_string(root.join(&module.file)).unwrap_or_default())
    }

    /// The text from the beginning of one span to the end of another, on one line.
    fn between(&self, from: Span, to: Span) -> String {
        let text = self.0.get(from.byte_range().start..to.byte_range().end).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The span that ends later: generics that are not written end nowhere.
fn later(one: Span, other: Span) -> Span {
    if one.byte_range().end > other.byte_range().end { one } else { other }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_called(item: &Item, name: &str) -> bool {
    header(item).is_some_and(|(_, called)| called == name)
}

fn header(item: &Item) -> Option<(&Visibility, String)> {
    let (visibility, name) = match item {
        Item::Fn(it) => (&it.vis, &it.sig.ident),
        Item::Struct(it) => (&it.vis, &it.ident),
        Item::Enum(it) => (&it.vis, &it.ident),
        Item::Trait(it) => (&it.vis, &it.ident),
        Item::Const(it) => (&it.vis, &it.ident),
        Item::Type(it) => (&it.vis, &it.ident),
        _ => return None,
    };
    Some((visibility, name.to_string()))
}

/// The derived traits of a type.
fn derives(text: &SourceText, item: &Item) -> String {
    let attributes: &[Attribute] = match item {
        Item::Struct(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        _ => &[],
    };
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let derives = derives.map(|it| text.between(it.span(), it.span()));
    std::iter::once(String::new()).chain(derives).collect::<Vec<_>>().join(" ")
}

/// A variant with the types of its fields.
fn variant_text(text: &SourceText, variant: &Variant) -> String {
    let fields = variant.fields.iter().map(|field| {
        let from = field.ident.as_ref().map_or_else(|| field.ty.span(), Spanned::span);
        text.between(from, field.ty.span())
    });
    let fields = fields.collect::<Vec<_>>().join(", ");
    match &variant.fields {
        Fields::Named(_) => format!("{} {{ {fields} }}", variant.ident),
        Fields::Unnamed(_) => format!("{}({fields})", variant.ident),
        Fields::Unit => variant.ident.to_string(),
    }
}

/// The name of the type that a block implements something for.
fn implemented(block: &ItemImpl) -> Option<String> {
    match &*block.self_ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// The paths that a `use` names, each with the name it gets.
fn leaves(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let mut add = |name: &syn::Ident, alias: &syn::Ident| {
        let whole = path.iter().cloned().chain([name.to_string()]).collect();
        found.push((whole, alias.to_string()));
    };
    match tree {
        UseTree::Name(it) => add(&it.ident, &it.ident),
        UseTree::Rename(it) => add(&it.ident, &it.rename),
        UseTree::Path(it) => {
            path.push(it.ident.to_string());
            leaves(&it.tree, path, found);
            path.pop();
        }
        UseTree::Group(it) => it.items.iter().for_each(|tree| leaves(tree, path, found)),
        UseTree::Glob(_) => {}
    }
}
