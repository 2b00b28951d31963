//! Circles between the modules of a crate: files that need each other, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{CrateSource, ModulePath};
use super::resolve::owner;

/// Modules of one crate that all need each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// The crate.
    pub crate_name: String,
    /// The modules, in order of their names, each with those of the circle that it uses.
    pub modules: Vec<(String, Vec<String>)>,
}

/// Every circle of a crate. A module uses another when it names something that the other defines; a re-export is
/// followed to the owner and is no use by itself.
pub fn circles(source: &CrateSource) -> Vec<Circle> {
    let edges = edges(source);
    let reach: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        edges.keys().map(|module| (module, reachable(&edges, module))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (module, reached) in &reach {
        if !reached.contains(module) || seen.contains(module) {
            continue;
        }
        let members: Vec<&ModulePath> =
            reached.iter().copied().filter(|other| reach[other].contains(module)).collect();
        seen.extend(members.iter().copied());
        let modules = members
            .iter()
            .map(|member| {
                let uses = edges[*member].iter().filter(|used| members.contains(used));
                (shown(member), uses.map(shown).collect())
            })
            .collect();
        found.push(Circle { crate_name: source.name.clone(), modules });
    }
    found
}

fn shown(path: &ModulePath) -> String {
    if path.is_empty() { "(root)".to_owned() } else { path.join("::") }
}

fn edges(source: &CrateSource) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    source
        .modules
        .iter()
        .map(|(path, module)| {
            let imported = module.imports.iter().filter(|it| !it.reexported && it.name != "*");
            let used = imported.map(|it| &it.path).chain(&module.paths);
            let owners = used.filter_map(|used| owner(source, path, used));
            (path.clone(), owners.filter(|owner| owner != path).collect())
        })
        .collect()
}

fn reachable<'a>(
    edges: &'a BTreeMap<ModulePath, BTreeSet<ModulePath>>,
    from: &ModulePath,
) -> BTreeSet<&'a ModulePath> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&ModulePath> = edges[from].iter().collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(edges.get(module).into_iter().flatten());
        }
    }
    reached
}
