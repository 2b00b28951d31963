//! Finds the module that owns a name, through re-exports.

use super::parse::{CrateSource, ModulePath};

/// How many re-exports may follow each other before the search is given up.
const MAX_HOPS: usize = 12;

/// The module that defines what `path` means in the module `from`; none for other crates' names.
pub(super) fn owner(
    source: &CrateSource,
    from: &ModulePath,
    path: &[String],
) -> Option<ModulePath> {
    search(source, from, path, MAX_HOPS)
}

fn search(
    source: &CrateSource,
    from: &ModulePath,
    path: &[String],
    hops: usize,
) -> Option<ModulePath> {
    let hops = hops.checked_sub(1)?;
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => descend(source, &Vec::new(), rest, hops),
        "self" => descend(source, from, rest, hops),
        "super" => {
            let parent = from.split_last()?.1.to_vec();
            if rest.first().is_some_and(|next| next == "super") {
                search(source, &parent, rest, hops)
            } else {
                descend(source, &parent, rest, hops)
            }
        }
        _ => descend(source, from, path, hops),
    }
}

/// Follows `path` from the inside of `module`.
fn descend(
    source: &CrateSource,
    module: &ModulePath,
    path: &[String],
    hops: usize,
) -> Option<ModulePath> {
    let current = source.modules.get(module)?;
    let Some((name, rest)) = path.split_first() else { return Some(module.clone()) };
    let child: ModulePath = module.iter().cloned().chain([name.clone()]).collect();
    if source.modules.contains_key(&child) {
        return descend(source, &child, rest, hops);
    }
    if current.defined.contains(name) {
        return Some(module.clone());
    }
    for import in &current.imports {
        let target: Vec<String> = if import.name == *name {
            import.path.iter().chain(rest).cloned().collect()
        } else if import.name == "*" {
            import.path.iter().chain(path).cloned().collect()
        } else {
            continue;
        };
        // A name that stands for itself would be looked up for ever.
        if target.as_slice() != path
            && let Some(found) = search(source, module, &target, hops)
        {
            return Some(found);
        }
    }
    None
}
