//! Ids as types of their own, and where new ones come from.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Clock;
use crate::environment::{Environment, names};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id.
            pub fn generate(ids: &dyn IdSource) -> Self {
                Self(ids.next())
            }

            /// When it was made; none for ids of other programs that do not say.
            pub fn time(&self) -> Option<jiff::Timestamp> {
                let (seconds, nanoseconds) = self.0.get_timestamp()?.to_unix();
                let nanoseconds = i32::try_from(nanoseconds).ok()?;
                jiff::Timestamp::new(i64::try_from(seconds).ok()?, nanoseconds).ok()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

id_type!(
    /// Names one conversation: its transcript's file name.
    SessionId
);
id_type!(
    /// Names one run of an agent below a conversation: its side chain's file name.
    AgentId
);
id_type!(
    /// Names one message, or one line of a transcript.
    MessageId
);

/// Where new ids come from.
pub trait IdSource: Send + Sync {
    /// A fresh uuid (version 7: sorted by time).
    fn next(&self) -> Uuid;
}

/// Ids from the clock and the machine's random numbers.
pub struct RandomIds {
    clock: Arc<dyn Clock>,
}

impl RandomIds {
    /// Ids that carry the clock's time.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl IdSource for RandomIds {
    fn next(&self) -> Uuid {
        let mut random = [0; 10];
        random.copy_from_slice(Uuid::new_v4().as_bytes().get(6..).unwrap_or(&[0; 10]));
        version_7(&*self.clock, random)
    }
}

/// Ids that are the same in every run: for tests.
pub struct SeededIds {
    clock: Arc<dyn Clock>,
    seed: u64,
    count: AtomicU64,
}

impl SeededIds {
    /// Ids that follow from `seed` and their number.
    pub fn new(clock: Arc<dyn Clock>, seed: u64) -> Self {
        Self { clock, seed, count: AtomicU64::new(0) }
    }
}

impl IdSource for SeededIds {
    fn next(&self) -> Uuid {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let mut random = [0; 10];
        for (to, from) in random.iter_mut().zip(self.seed.to_be_bytes().iter().skip(6)) {
            *to = *from;
        }
        for (to, from) in random.iter_mut().skip(2).zip(count.to_be_bytes()) {
            *to = from;
        }
        version_7(&*self.clock, random)
    }
}

/// Random ids, or, in debug builds with `DORMOUSE_TEST_SEED` set, ids that follow from the seed.
pub fn ids_from_environment(environment: &Environment, clock: Arc<dyn Clock>) -> Box<dyn IdSource> {
    if cfg!(debug_assertions)
        && let Some(seed) = environment.get(names::TEST_SEED).and_then(|text| text.parse().ok())
    {
        return Box::new(SeededIds::new(clock, seed));
    }
    Box::new(RandomIds::new(clock))
}

fn version_7(clock: &dyn Clock, random: [u8; 10]) -> Uuid {
    let milliseconds = u64::try_from(clock.now().as_millisecond()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(milliseconds, &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{ManualClock, SystemClock};

    #[test]
    fn ids_differ_and_sort_by_time() {
        let clock = Arc::new(ManualClock::new("2026-11-15T08:00:00Z".parse().unwrap()));
        let ids = RandomIds::new(clock.clone());
        let first = ids.next();
        clock.advance(std::time::Duration::from_millis(5));
        let second = ids.next();
        assert!(first < second);
        assert_eq!(first.get_version_num(), 7);
    }

    #[test]
    fn seeded_ids_repeat_and_do_not_collide() {
        let clock: Arc<dyn Clock> =
            Arc::new(ManualClock::new("2026-11-15T08:00:00Z".parse().unwrap()));
        let ids = SeededIds::new(clock.clone(), 7);
        let again = SeededIds::new(clock, 7);
        let (a, b) = (ids.next(), ids.next());
        assert_ne!(a, b);
        assert_eq!((a, b), (again.next(), again.next()));
        assert_ne!(RandomIds::new(Arc::new(SystemClock::default())).next(), a);
    }
}
