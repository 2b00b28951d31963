//! Which calls of a response may start now. Pure: it is told what runs and says what may join.
//!
//! Invariants: an exclusive call runs alone, once all in front of it are done and the whole response is there;
//! read-only and parallel ones run side by side, at most [`MAX_SIDE_BY_SIDE`], the latter once the whole response
//! is there.

use crate::ToolClass;

/// The most read-only calls that run at the same time.
pub const MAX_SIDE_BY_SIDE: usize = 10;

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// Not started.
    Waiting,
    /// Started.
    Running,
    /// Answered, whatever the answer.
    Done,
}

/// A call, as far as its turn is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduled {
    /// What may run beside it. A call that will be refused (an unknown tool) can count as read-only.
    pub class: ToolClass,
    /// How far it has come.
    pub status: CallStatus,
}

/// Whether the response that holds the calls is all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseState {
    /// More may come.
    Streaming,
    /// It has ended.
    Complete,
}

/// The calls that may start now, by their place in `calls`, in order.
pub fn startable(calls: &[Scheduled], response: ResponseState) -> Vec<usize> {
    let running = |call: &&Scheduled| call.status == CallStatus::Running;
    if calls.iter().filter(running).any(|call| call.class == ToolClass::Exclusive) {
        return Vec::new();
    }
    let beside = calls.iter().filter(running).count();
    let mut free = MAX_SIDE_BY_SIDE.saturating_sub(beside);
    let mut start = Vec::new();
    let unfinished = calls.iter().enumerate().filter(|(_, call)| call.status != CallStatus::Done);
    for (index, call) in unfinished {
        match call.class {
            ToolClass::ReadOnly => {
                if call.status == CallStatus::Waiting && free > 0 {
                    free -= 1;
                    start.push(index);
                }
            }
            ToolClass::Parallel => {
                let whole = response == ResponseState::Complete;
                if call.status == CallStatus::Waiting && whole && free > 0 {
                    free -= 1;
                    start.push(index);
                }
            }
            // Nothing behind it may start before it is done, and it waits for all in front of it.
            ToolClass::Exclusive => {
                let first = calls.iter().take(index).all(|call| call.status == CallStatus::Done);
                if first && beside == 0 && response == ResponseState::Complete {
                    start.push(index);
                }
                break;
            }
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use CallStatus::{Done, Running, Waiting};
    use ResponseState::{Complete, Streaming};
    use ToolClass::{Exclusive, Parallel, ReadOnly};
    use proptest::prelude::*;

    #[track_caller]
    fn check(calls: &[(ToolClass, CallStatus)], response: ResponseState, expected: &[usize]) {
        let calls: Vec<Scheduled> =
            calls.iter().map(|&(class, status)| Scheduled { class, status }).collect();
        assert_eq!(startable(&calls, response), expected);
    }

    #[test]
    fn reads_start_while_the_response_streams() {
        check(&[(ReadOnly, Waiting), (ReadOnly, Waiting)], Streaming, &[0, 1]);
        check(&[(ReadOnly, Running), (ReadOnly, Waiting)], Streaming, &[1]);
        check(&[(Exclusive, Waiting)], Streaming, &[]);
        check(&[(Exclusive, Waiting)], Complete, &[0]);
    }

    #[test]
    fn parallel_calls_start_together_once_the_answer_is_whole() {
        let calls = [(Parallel, Waiting), (ReadOnly, Waiting), (Parallel, Waiting)];
        check(&calls, Streaming, &[1]);
        check(&calls, Complete, &[0, 1, 2]);
        check(&[(Parallel, Running), (Exclusive, Waiting)], Complete, &[]);
        check(&[(Exclusive, Waiting), (Parallel, Waiting)], Complete, &[0]);
    }

    #[test]
    fn an_exclusive_call_is_a_barrier() {
        let three = |second| [(ReadOnly, Done), (Exclusive, second), (ReadOnly, Waiting)];
        check(&three(Waiting), Complete, &[1]);
        check(&three(Waiting), Streaming, &[]);
        check(&three(Running), Complete, &[]);
        check(&three(Done), Complete, &[2]);
        check(&[(ReadOnly, Running), (Exclusive, Waiting)], Complete, &[]);
        check(&[(ReadOnly, Waiting), (Exclusive, Waiting)], Complete, &[0]);
    }

    #[test]
    fn ten_at_most() {
        let mut calls = vec![(ReadOnly, Running); 9];
        calls.extend([(ReadOnly, Waiting); 3]);
        check(&calls, Streaming, &[9]);
    }

    fn assert_rules(calls: &[Scheduled], started: usize) -> Result<(), TestCaseError> {
        let running: Vec<usize> =
            (0..calls.len()).filter(|&i| calls[i].status == Running).collect();
        prop_assert!(running.len() <= MAX_SIDE_BY_SIDE);
        if running.iter().any(|&i| calls[i].class == Exclusive) {
            prop_assert_eq!(running.len(), 1);
        }
        let mut before = calls.iter().take(started);
        match calls[started].class {
            Exclusive => prop_assert!(before.all(|call| call.status == Done)),
            Parallel | ReadOnly => {
                prop_assert!(before.all(|call| call.class != Exclusive || call.status == Done));
            }
        }
        // Only what waits for the whole answer is overtaken.
        let mut before = calls.iter().take(started);
        prop_assert!(
            before.all(|call| call.status != Waiting || call.class == Parallel),
            "out of order"
        );
        Ok(())
    }

    proptest! {
        /// Calls arrive one by one while others start and finish in any order; every state on the way
        /// keeps the rules, and all get done.
        #[test]
        fn any_history_keeps_the_rules_and_ends(
            classes in prop::collection::vec(prop_oneof![3 => Just(ReadOnly), 1 => Just(Parallel), 1 => Just(Exclusive)], 0..40),
            choices in prop::collection::vec(any::<usize>(), 400),
        ) {
            let mut coming = classes.into_iter();
            let mut calls: Vec<Scheduled> = Vec::new();
            let mut response = Streaming;
            for choice in choices {
                for index in startable(&calls, response) {
                    prop_assert_eq!(calls[index].status, Waiting);
                    calls[index].status = Running;
                    assert_rules(&calls, index)?;
                    prop_assert!(calls[index].class == ReadOnly || response == Complete);
                }
                let running: Vec<usize> =
                    (0..calls.len()).filter(|&i| calls[i].status == Running).collect();
                if choice % 3 == 0 || running.is_empty() {
                    match coming.next() {
                        Some(class) => calls.push(Scheduled { class, status: Waiting }),
                        None => response = Complete,
                    }
                } else {
                    calls[running[choice % running.len()]].status = Done;
                }
                let stuck = response == Complete
                    && calls.iter().all(|call| call.status != Running)
                    && startable(&calls, response).is_empty();
                prop_assert!(!stuck || calls.iter().all(|call| call.status == Done));
            }
            prop_assert!(calls.iter().all(|call| call.status == Done));
        }
    }
}
