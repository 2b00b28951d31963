//! `dormouse demo`: scenes played by the real program in a temporary folder, with a scripted model.

mod background_memory;
mod basics;
mod long_sessions;
mod narration;
mod playback;
mod sandbox;
#[cfg(feature = "team-server")]
mod team;

use std::io::IsTerminal;

use crate::args::DemoArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;

use narration::line;
use sandbox::DemoSandbox;

pub(crate) async fn run(arguments: &DemoArguments, world: &World) -> Result<Exit, Failure> {
    let pace = Pace::new(arguments);
    let sandbox = DemoSandbox::create(world)?;
    line("This demo runs the real program with a scripted model.");
    line(&format!("All files are in {}; it is removed at the end.", sandbox.root.display()));
    pace.wait();
    basics::tool_calls(&sandbox).await?;
    pace.wait();
    basics::large_output(&sandbox).await?;
    pace.wait();
    basics::save_a_memory(&sandbox).await?;
    pace.wait();
    basics::recall(&sandbox).await?;
    pace.wait();
    long_sessions::session_notes(&sandbox).await?;
    pace.wait();
    long_sessions::full_window(&sandbox).await?;
    pace.wait();
    background_memory::extraction(&sandbox).await?;
    pace.wait();
    background_memory::dream_and_undo(&sandbox).await?;
    #[cfg(feature = "team-server")]
    {
        pace.wait();
        team::two_people(&sandbox, world).await?;
    }
    line("\nEnd of the demo. The temporary folder is removed.");
    Ok(Exit::Done)
}

/// Whether the demo pauses between scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    PressEnter,
    Continuous,
}

impl Pace {
    /// Without a terminal on both ends there is no one to press a key.
    fn new(arguments: &DemoArguments) -> Self {
        let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if interactive && !arguments.fast { Self::PressEnter } else { Self::Continuous }
    }

    fn wait(self) {
        line("");
        if self == Self::PressEnter {
            print::note("Press Enter for the next scene.");
            // At the end of input the demo continues without pauses.
            let _end = std::io::stdin().read_line(&mut String::new());
        }
    }
}
