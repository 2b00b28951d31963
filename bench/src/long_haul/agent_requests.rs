//! Checks on the requests of agents and of their forks.

use dormouse_testkit::{Attended, Trail};

use super::agent_script::work;
use super::agents::errand;
use super::coder::{Fork, answer_fork};
use super::ledger::{Ledger, last_of};

impl Ledger {
    /// A request of an agent, or of a fork of one.
    pub(super) fn attend_agent(&mut self, body: &[u8], told: Option<&str>) -> Attended {
        if let Some(told) = told {
            self.agents.summarised = true;
            return self.attend_copy_of_agent(body, told);
        }
        let name = errand(body).unwrap_or_default();
        if name.is_empty() {
            self.problem("an agent has lost its task");
        }
        let mut lane = self.agents.lanes.remove(&name).unwrap_or_default();
        let step = lane.trail.follow(body);
        let begun = lane.served > 0 && !name.is_empty();
        let is_announced = |ledger: &mut Self| {
            std::mem::take(&mut ledger.agents.summarised) || ledger.announced.is_waiting()
        };
        if begun && !step.continues && !is_announced(self) {
            self.problem(&format!("the agent of errand {name} changes what it sent, unannounced"));
        }
        let outcome = self.look_up(&lane.trail, body);
        let refusal = self.refused(&outcome);
        let turn = work(&name, lane.served);
        lane.served += 1;
        self.agents.lanes.insert(name, lane);
        self.counts.agents += 1;
        match refusal {
            Some(refusal) => refusal,
            None => self.settle(&outcome, turn, None),
        }
    }

    fn attend_copy_of_agent(&mut self, body: &[u8], told: &str) -> Attended {
        let mut trail = Trail::default();
        trail.follow(body);
        let outcome = self.look_up(&trail, body);
        if let Some(refusal) = self.refused(&outcome) {
            return refusal;
        }
        let kind = Fork::of(told);
        let turn = answer_fork(kind, told, &last_of(&trail), self.counts.all.requests);
        self.settle(&outcome, turn, Some(kind))
    }
}
