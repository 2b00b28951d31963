//! The reason of a decision names the rule that decides.

use std::path::Path;

use dormouse_permissions::{
    Access, PermissionDecision, PermissionGate, PermissionMode, PermissionRequest, PermissionRules,
    PermissionVerdict,
};

fn decide(mode: PermissionMode, rules: PermissionRules, line: &str) -> PermissionDecision {
    let request =
        PermissionRequest::new("Bash", Access::Runs(line.to_owned()), Path::new("/project"));
    PermissionGate::new(mode, rules).decide(&request)
}

fn rules(ask: &[&str], deny: &[&str]) -> PermissionRules {
    let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
    PermissionRules { allow: Vec::new(), ask: parse(ask), deny: parse(deny) }
}

#[test]
fn a_rule_that_may_apply_is_not_said_to_ask() {
    let rules = rules(&["Bash(make:*)"], &["Bash(rm:*)", "Bash(curl:*)"]);
    let decision = decide(PermissionMode::Bypass, rules.clone(), "echo $HOME");
    assert_eq!(decision.verdict, PermissionVerdict::Ask);
    assert_eq!(
        decision.why,
        "`$` inserts a variable or the output of a command, so the deny rule `Bash(rm:*)` may apply"
    );
    assert!(decision.by_rule);

    // The rule whose words occur in the line decides, whatever other rules there are.
    let decision = decide(PermissionMode::Bypass, rules, "make $TARGET");
    assert_eq!(decision.why, "the rule `Bash(make:*)` asks first");
}

#[test]
fn a_rule_of_the_session_that_applies_precedes_one_of_the_settings_that_may() {
    let gate = PermissionGate::new(PermissionMode::Bypass, rules(&[], &["Bash(rm:*)"]));
    gate.restrict(Vec::new(), vec!["Bash(make:*)".parse().unwrap()]);
    let line = Access::Runs("make $TARGET".to_owned());
    let decision = gate.decide(&PermissionRequest::new("Bash", line, Path::new("/project")));
    assert_eq!(decision.why, "the rule `Bash(make:*)` asks first");
}

#[test]
fn plan_mode_says_what_the_call_would_do() {
    let decision = decide(PermissionMode::Plan, PermissionRules::default(), "touch a");
    assert_eq!(decision.verdict, PermissionVerdict::Deny);
    assert_eq!(
        decision.why,
        "`touch` is not known as a read-only command. Plan mode allows no changes."
    );
}
