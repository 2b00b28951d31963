//! Prints the structure of a source tree: its figures, or the list behind one of them.
//!
//! ```text
//! cargo run -p dormouse-testkit --bin structure -- [--problems|--circles|--names|--types|--functions|--errors] [--crate NAME] [ROOT]
//! ```

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a developer's tool")]

use std::path::PathBuf;

use dormouse_testkit::{structure, tidy};

fn main() {
    let mut list = None;
    let mut only = None;
    let mut root = PathBuf::from(".");
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--crate" => only = arguments.next(),
            flag if flag.starts_with("--") => list = Some(flag.to_owned()),
            path => root = PathBuf::from(path),
        }
    }
    let Some(list) = list else {
        println!("{}", structure::survey(&root));
        return;
    };
    if list == "--problems" {
        for problem in tidy::structure_problems(&root) {
            println!("{problem}");
        }
        return;
    }
    let all = structure::read_workspace(&root);
    let chosen = || all.iter().filter(|it| only.as_ref().is_none_or(|only| *only == it.name));
    match list.as_str() {
        "--circles" => {
            for circle in chosen().flat_map(structure::circles) {
                println!("{}: {} modules", circle.crate_name, circle.modules.len());
                for (module, uses) in circle.modules {
                    println!("    {module} -> {}", uses.join(", "));
                }
            }
        }
        "--names" => {
            for (name, places) in structure::duplicate_type_names(&all) {
                let mine = |place: &String| {
                    only.as_ref().is_none_or(|only| place.contains(&format!("{only}/src/")))
                };
                if places.iter().any(mine) {
                    println!("{name}: {}", places.join(" "));
                }
            }
        }
        "--types" => chosen().flat_map(structure::oversized_types).for_each(|it| println!("{it}")),
        "--functions" => {
            chosen().flat_map(structure::long_functions).for_each(|it| println!("{it}"));
        }
        "--errors" => structure::string_errors(&all).iter().for_each(|it| println!("{it}")),
        other => println!("unknown list {other}"),
    }
}
