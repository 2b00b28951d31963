//! The panic handler: writes a crash report and says where it is.

use std::backtrace::Backtrace;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{Clock, Dir, RelPath};

use crate::terminal::tty;
use crate::wiring::print;
use crate::wiring::world::World;

/// Installs the panic handler.
pub(crate) fn install(world: &World) {
    let home = world.home().ok();
    let clock = Arc::clone(&world.clock);
    std::panic::set_hook(Box::new(move |panic| {
        tty::restore();
        let report = format!(
            "dormouse {} on {}\n{panic}\n\n{}\n",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            Backtrace::force_capture()
        );
        print::note(&format!("error: internal error (a bug in dormouse): {panic}"));
        match write(home.as_ref(), &*clock, &report) {
            Some(path) => {
                print::note(&format!(
                    "hint: a crash report is in {}; please send it",
                    path.display()
                ));
            }
            None => print::note(&report),
        }
        print::note("hint: the session is saved; continue it with `dormouse --continue`");
    }));
}

fn write(home: Option<&PathBuf>, clock: &dyn Clock, report: &str) -> Option<PathBuf> {
    let name = RelPath::new(format!("crash-{}.txt", clock.now().as_millisecond())).ok()?;
    let dir = Dir::create(home?.join("logs")).ok()?;
    dir.replace(&name, report.as_bytes()).ok()?;
    Some(dir.path().join(name.as_path()))
}
