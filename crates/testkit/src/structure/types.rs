//! Types and functions: how large they are, which names exist twice, which signatures fail with a string.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Fields, FnArg, Item, ReturnType, Type, Visibility};

use super::parse::{CrateSource, SourceModule};

/// The most fields a type may have.
const MAX_FIELDS: usize = 15;
/// The most methods a type may have.
const MAX_METHODS: usize = 40;
/// The longest function, in lines.
const MAX_FUNCTION_LINES: usize = 80;

/// The size of one type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeSize {
    /// `crate::Name`.
    pub name: String,
    /// Its fields; none counted where clap or serde fills it.
    pub fields: usize,
    /// Inherent methods in all files, functions of the same crate that take it first, and methods of traits of the
    /// same crate that nothing else implements.
    pub methods: usize,
    /// In how many files those are.
    pub files: usize,
}

/// Every type of a crate with its size. Two types of one name are told apart by their files.
pub fn type_sizes(source: &CrateSource) -> Vec<TypeSize> {
    let mut counted: BTreeMap<(String, &Path), (TypeSize, BTreeSet<&Path>)> = BTreeMap::new();
    for module in source.modules.values() {
        each_item(&module.syntax.items, &mut |item| {
            let (name, fields) = match item {
                Item::Struct(item) => {
                    let filled = derives(&item.attrs, &["Parser", "Args", "Deserialize"]);
                    (item.ident.to_string(), if filled { 0 } else { item.fields.len() })
                }
                Item::Enum(item) => (item.ident.to_string(), 0),
                _ => return,
            };
            let size = TypeSize {
                name: format!("{}::{name}", source.name),
                fields,
                ..TypeSize::default()
            };
            counted.insert((name, &module.file), (size, BTreeSet::new()));
        });
    }
    let implementors = implementors(source);
    for module in source.modules.values() {
        each_item(&module.syntax.items, &mut |item| {
            for (name, methods) in methods_of(item, &implementors) {
                let own = (name.clone(), module.file.as_path());
                let key = if counted.contains_key(&own) {
                    Some(own)
                } else {
                    counted.keys().find(|(known, _)| *known == name).cloned()
                };
                if let Some((size, files)) = key.and_then(|key| counted.get_mut(&key)) {
                    size.methods += methods;
                    files.insert(&module.file);
                }
            }
        });
    }
    counted.into_values().map(|(size, files)| TypeSize { files: files.len(), ..size }).collect()
}

/// Types over a limit, one line each.
pub fn oversized_types(source: &CrateSource) -> Vec<String> {
    type_sizes(source)
        .into_iter()
        .filter(|size| size.fields > MAX_FIELDS || size.methods > MAX_METHODS)
        .map(|size| {
            format!(
                "{}: {} fields, {} methods in {} files",
                size.name, size.fields, size.methods, size.files
            )
        })
        .collect()
}

/// Which types implement each trait that the crate defines.
fn implementors(source: &CrateSource) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in source.modules.values() {
        each_item(&module.syntax.items, &mut |item| {
            if let Item::Trait(item) = item {
                found.entry(item.ident.to_string()).or_default();
            }
        });
    }
    for module in source.modules.values() {
        each_item(&module.syntax.items, &mut |item| {
            if let Item::Impl(item) = item
                && let Some((_, path, _)) = &item.trait_
                && let Some(last) = path.segments.last()
                && let (Some(types), Some(name)) =
                    (found.get_mut(&last.ident.to_string()), type_name(&item.self_ty))
            {
                types.insert(name);
            }
        });
    }
    found
}

fn methods_of(
    item: &Item,
    implementors: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<(String, usize)> {
    match item {
        Item::Impl(item) => {
            let counts = match &item.trait_ {
                None => true,
                Some((_, path, _)) => path
                    .segments
                    .last()
                    .and_then(|last| implementors.get(&last.ident.to_string()))
                    .is_some_and(|types| types.len() == 1),
            };
            let methods =
                item.items.iter().filter(|inner| matches!(inner, syn::ImplItem::Fn(_))).count();
            type_name(&item.self_ty)
                .filter(|_| counts)
                .map(|name| (name, methods))
                .into_iter()
                .collect()
        }
        Item::Fn(item) => match item.sig.inputs.first() {
            Some(FnArg::Typed(first)) => {
                type_name(&first.ty).map(|name| (name, 1)).into_iter().collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

fn derives(attributes: &[Attribute], names: &[&str]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        attribute.meta.require_list().is_ok_and(|list| {
            let tokens = list.tokens.to_string();
            tokens.split([' ', ',', ':']).any(|word| names.contains(&word))
        })
    })
}

fn each_item<'a>(items: &'a [Item], visit: &mut dyn FnMut(&'a Item)) {
    for item in items {
        visit(item);
        if let Item::Mod(module) = item
            && let Some((_, inner)) = &module.content
        {
            each_item(inner, visit);
        }
    }
}

/// Names of types that more than one place of the workspace gives to something other files can see.
pub fn duplicate_type_names(sources: &[CrateSource]) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in sources.iter().flat_map(|source| source.modules.values()) {
        each_item(&module.syntax.items, &mut |item| {
            let (name, visibility) = match item {
                Item::Struct(item) => (&item.ident, &item.vis),
                Item::Enum(item) => (&item.ident, &item.vis),
                Item::Trait(item) => (&item.ident, &item.vis),
                Item::Type(item) => (&item.ident, &item.vis),
                _ => return,
            };
            if !matches!(visibility, Visibility::Inherited) {
                let line = name.span().start().line;
                let place = format!("{}:{line}", module.file.display());
                places.entry(name.to_string()).or_default().push(place);
            }
        });
    }
    places.retain(|_, places| places.len() > 1);
    places
}

/// Public signatures that fail with a string, or with a newtype around one.
pub fn string_errors(sources: &[CrateSource]) -> Vec<String> {
    let newtypes: BTreeSet<String> = sources
        .iter()
        .flat_map(|source| source.modules.values())
        .flat_map(string_newtypes)
        .collect();
    let mut found = Vec::new();
    for module in sources.iter().flat_map(|source| source.modules.values()) {
        let mut signatures = Signatures { module, newtypes: &newtypes, found: Vec::new() };
        signatures.visit_file(&module.syntax);
        found.extend(signatures.found);
    }
    found
}

fn string_newtypes(module: &SourceModule) -> Vec<String> {
    let mut found = Vec::new();
    each_item(&module.syntax.items, &mut |item| {
        if let Item::Struct(item) = item
            && let Fields::Unnamed(fields) = &item.fields
            && fields.unnamed.len() == 1
            && fields
                .unnamed
                .first()
                .and_then(|field| type_name(&field.ty))
                .is_some_and(|it| it == "String")
        {
            found.push(item.ident.to_string());
        }
    });
    found
}

struct Signatures<'a> {
    module: &'a SourceModule,
    newtypes: &'a BTreeSet<String>,
    found: Vec<String>,
}

impl Signatures<'_> {
    fn check(&mut self, signature: &syn::Signature) {
        let ReturnType::Type(_, ty) = &signature.output else { return };
        let mut results = StringResults { newtypes: self.newtypes, found: false };
        results.visit_type(ty);
        if results.found {
            let line = signature.ident.span().start().line;
            self.found.push(format!("{}:{line}: {}", self.module.file.display(), signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Signatures<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !matches!(item.vis, Visibility::Inherited) {
            self.check(&item.sig);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !matches!(item.vis, Visibility::Inherited) {
            self.check(&item.sig);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.check(&item.sig);
    }
}

struct StringResults<'a> {
    newtypes: &'a BTreeSet<String>,
    found: bool,
}

impl<'ast> Visit<'ast> for StringResults<'_> {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Result"
            && let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments
            && let Some(syn::GenericArgument::Type(error)) = arguments.args.iter().nth(1)
            && let Some(name) = type_name(error)
        {
            self.found |= name == "String" || name == "str" || self.newtypes.contains(&name);
        }
        syn::visit::visit_path_segment(self, segment);
    }
}

/// Functions over the limit, one line each.
pub fn long_functions(source: &CrateSource) -> Vec<String> {
    let mut found = Vec::new();
    for module in source.modules.values() {
        let mut visitor = Functions { module, found: Vec::new() };
        visitor.visit_file(&module.syntax);
        found.extend(visitor.found);
    }
    found
}

struct Functions<'a> {
    module: &'a SourceModule,
    found: Vec<String>,
}

impl Functions<'_> {
    fn check(&mut self, name: &syn::Ident, span: Span) {
        let lines = span.end().line - span.start().line + 1;
        if lines > MAX_FUNCTION_LINES {
            self.found.push(format!("{}: {name} has {lines} lines", self.module.file.display()));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check(&item.sig.ident, item.block.span());
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check(&item.sig.ident, item.block.span());
        syn::visit::visit_impl_item_fn(self, item);
    }
}
