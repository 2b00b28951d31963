//! Instruction files of a session, and approval of includes outside the project (asked once per project).

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Project, RelPath, names, stable_hash};
use dormouse_engine::InstructionSetup;
use dormouse_instructions::{
    ApprovedPaths, InstructionNote, InstructionRoots, Instructions, LoadOccasion,
};

use crate::wiring::exit::Failure;
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, is_bare};

/// The organization's instruction file.
const MANAGED: &str = "/etc/dormouse/AGENTS.md";

/// Instruction files for a session; none in a bare run.
pub(crate) fn setup(
    world: &World,
    project: &Project,
    untrusted: Untrusted,
) -> Result<Option<InstructionSetup>, Failure> {
    if is_bare(&world.environment)? {
        return Ok(None);
    }
    let roots = roots(world, project)?;
    let approvals = Approvals::of(&world.home()?, project);
    let mut paths = approvals.read();
    if untrusted == Untrusted::Ask && std::io::stdin().is_terminal() {
        let asked = ask(&roots, &paths);
        if !asked.is_empty() {
            paths.extend(asked);
            approvals.write(&paths)?;
        }
    }
    Ok(Some(InstructionSetup { roots, approved: ApprovedPaths::new(paths) }))
}

fn roots(world: &World, project: &Project) -> Result<InstructionRoots, Failure> {
    let dormouse = world.home()?;
    let home = world.environment.path(names::USER_HOME).unwrap_or_else(|| dormouse.clone());
    let managed = world.environment.path(names::TEST_MANAGED).filter(|_| cfg!(debug_assertions));
    Ok(InstructionRoots {
        managed: managed.map_or_else(|| PathBuf::from(MANAGED), |folder| folder.join("AGENTS.md")),
        claude: home.join(".claude"),
        home,
        dormouse,
        checkout: project.checkout.clone(),
        working: project.folder.clone(),
    })
}

/// Asks about every file outside the project that its instructions include.
fn ask(roots: &InstructionRoots, approved: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let known = ApprovedPaths::new(approved.iter().cloned());
    let notes = Instructions::load(roots.clone(), known, LoadOccasion::Start).take_notes();
    let mut granted = BTreeSet::new();
    for note in notes {
        let InstructionNote::Outside { real, parent, .. } = note else { continue };
        // The file itself is a link to the outside.
        let who = parent.map_or("A link".to_owned(), |parent| parent.display().to_string());
        print::note(&format!(
            "{who} includes {} as instructions, which is outside the project. Read it? [y/N]",
            real.display()
        ));
        if input::confirm() {
            granted.insert(real);
        }
    }
    granted
}

/// The approved includes of a checkout: one file per checkout, in the trust folder.
struct Approvals {
    folder: PathBuf,
    file: String,
}

impl Approvals {
    fn of(home: &Path, project: &Project) -> Self {
        let hash = stable_hash(project.checkout.as_os_str().as_encoded_bytes());
        Self { folder: home.join("trust"), file: format!("{hash:016x}.includes.json") }
    }

    /// An unreadable file approves nothing.
    fn read(&self) -> BTreeSet<PathBuf> {
        let (Ok(dir), Ok(file)) = (Dir::open(&self.folder), RelPath::new(&self.file)) else {
            return BTreeSet::new();
        };
        dir.read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    fn write(&self, paths: &BTreeSet<PathBuf>) -> Result<(), Failure> {
        let file = RelPath::new(&self.file).map_err(Failure::failed)?;
        let bytes = serde_json::to_vec_pretty(paths).map_err(Failure::failed)?;
        Ok(Dir::create(&self.folder)?.replace(&file, &bytes)?)
    }
}
