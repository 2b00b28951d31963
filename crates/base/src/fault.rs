//! Named points at which a test can make the program fail, stop or die.
//!
//! A point is a call of [`point`] just before an effect, or of [`at`] with the effect itself. In debug builds (and with the feature
//! `faults`) the variable `DORMOUSE_FAULT` chooses one: `ACTION@POINT` or `ACTION@POINT#K` for its
//! K-th passing, where ACTION is `abort` (the process dies at once), `pause` (it stops here for
//! ever, waiting to be killed), or an error: `eio`, `enospc`, `eacces`, `erofs`, `enolck`, which holds from there
//! on, and `eintr`, which strikes once, as a signal does. `POINT` may be `*`, which counts every passing of any point: that is how a test walks through all of them.
//! In a release build a point compiles to nothing.

use std::io;

/// Passes a named point: an error if a fault was planted here.
#[inline]
#[cfg_attr(
    not(any(debug_assertions, feature = "faults")),
    expect(clippy::unnecessary_wraps, reason = "the same signature with and without faults")
)]
pub fn point(name: &str) -> io::Result<()> {
    #[cfg(any(debug_assertions, feature = "faults"))]
    {
        armed::pass(name)
    }
    #[cfg(not(any(debug_assertions, feature = "faults")))]
    {
        let _ = name;
        Ok(())
    }
}

/// Does something at a named point. What a signal interrupted is done again: nobody would know what to do
/// about the error.
pub fn at<T>(name: &str, mut effect: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match point(name).and_then(|()| effect()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(any(debug_assertions, feature = "faults"))]
mod armed {
    use std::io;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use crate::environment::{Environment, names};

    struct Planted {
        action: Action,
        point: String,
        passing: u64,
        passed: AtomicU64,
    }

    #[derive(Clone, Copy)]
    enum Action {
        Abort,
        Pause,
        Error(i32),
        ErrorOnce(i32),
    }

    pub(super) fn pass(name: &str) -> io::Result<()> {
        static PLANTED: OnceLock<Option<Planted>> = OnceLock::new();
        let planted =
            PLANTED.get_or_init(|| Environment::of_process().get(names::FAULT).and_then(parse));
        let Some(planted) = planted else { return Ok(()) };
        if planted.point != "*" && planted.point != name {
            return Ok(());
        }
        let count = planted.passed.fetch_add(1, Ordering::SeqCst) + 1;
        // A full disk stays full: errors hold from the chosen passing on, the others strike once.
        match planted.action {
            Action::Error(code) if count >= planted.passing => {
                Err(io::Error::from_raw_os_error(code))
            }
            Action::ErrorOnce(code) if count == planted.passing => {
                Err(io::Error::from_raw_os_error(code))
            }
            Action::Abort if count == planted.passing => std::process::abort(),
            Action::Pause if count == planted.passing => loop {
                std::thread::park();
            },
            Action::Abort | Action::Pause | Action::Error(_) | Action::ErrorOnce(_) => Ok(()),
        }
    }

    fn parse(text: &str) -> Option<Planted> {
        let (action, place) = text.split_once('@')?;
        let action = match action {
            "abort" => Action::Abort,
            "pause" => Action::Pause,
            "eio" => Action::Error(5),
            "enospc" => Action::Error(28),
            "eacces" => Action::Error(13),
            "erofs" => Action::Error(30),
            "enolck" => Action::Error(37),
            "eintr" => Action::ErrorOnce(4),
            _ => return None,
        };
        let (point, passing) = match place.split_once('#') {
            Some((point, passing)) => (point, passing.parse().ok()?),
            None => (place, 1),
        };
        Some(Planted { action, point: point.to_owned(), passing, passed: AtomicU64::new(0) })
    }
}
