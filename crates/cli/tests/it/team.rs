//! Team memory with the real program: a server, and people on homes of their own.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, Running, TestHome, WireFormat};
use serde_json::Value;

use crate::memory_cli::{add, json, memory};
use crate::program::{dormouse, server, wait_until};
use crate::recall_turn::recalled;
use crate::talk::{leave, say, talk};
use crate::ui_client::ViewerClient;

/// A running server; it is told to stop when the test ends.
pub(crate) struct TeamServer {
    _running: Running,
    pub(crate) url: String,
    admin: String,
    home: TestHome,
}

impl TeamServer {
    pub(crate) fn start() -> Self {
        let home = TestHome::new();
        let arguments = ["team", "serve", "--listen", "127.0.0.1:0", "--log", "none"];
        let running = home.spawn(&mut dormouse(&home, &arguments));
        running.wait_for_stdout(|text| text.contains('\n'));
        running.wait_for_stderr(|text| text.contains("http://") && text.ends_with('\n'));
        let admin = running.stdout().trim().to_owned();
        let said = running.stderr();
        let (_, address) = said.split_once("http://").unwrap();
        let url = format!("http://{}", address.trim());
        Self { _running: running, url, admin, home }
    }

    pub(crate) fn token(&self, person: &str, role: &str) -> String {
        let output = self
            .home
            .run(&mut dormouse(&self.home, &["team", "token", "create", person, "--role", role]));
        output.success().stdout.trim().to_owned()
    }

    /// A person who has cloned the repository and joined.
    pub(crate) fn member(&self, person: &str, role: &str, remote: &str) -> TestHome {
        let home = TestHome::new();
        home.git_init();
        home.git(&["remote", "add", "origin", remote]);
        let token = if role == "owner" { self.admin.clone() } else { self.token(person, role) };
        let mut join = dormouse(&home, &["team", "join", &self.url]);
        home.run_with_input(&mut join, &format!("{token}\n")).success();
        home
    }
}

pub(crate) fn team(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = dormouse(home, &["team"]);
    home.run(command.args(arguments))
}

pub(crate) const SSH: &str = "git@host.example:owner/repo.git";
pub(crate) const HTTPS: &str = "https://host.example/owner/repo";

/// T-1, T-3, T-4, T-16: one saves and pushes, the other pulls and recalls it with the author's name.
#[test]
fn what_one_saves_the_other_recalls_with_the_authors_name() {
    let server = TeamServer::start();
    let ana = server.member("Ana", "write", SSH);
    let ben = server.member("Ben", "write", HTTPS);
    add(
        &ana,
        "CI runner",
        &["--type", "project", "--scope", "team", "--body", "The CI runner needs Docker 24."],
    );
    assert!(team(&ana, &["sync"]).success().stdout.contains("ci-runner.md"));
    let received = team(&ben, &["sync"]).success().stdout.clone();
    assert!(received.contains("ci-runner.md, by Ana"), "{received}");
    let listed = json(&ben, &["list"], 0);
    assert_eq!(
        (&listed[0]["scope"], &listed[0]["name"]),
        (&Value::from("team"), &Value::from("CI runner"))
    );
    let recalled =
        ben.run(&mut dormouse(&ben, &["recall", "which docker does the CI runner need?"]));
    let recalled = recalled.success().stdout.clone();
    assert!(recalled.contains("CI runner"), "{recalled}");
    let log = memory(&ben, &["log", "--scope", "team"]).success().stdout.clone();
    assert!(log.contains("team:Ana"), "{log}");
    assert_eq!(team(&ben, &["sync"]).success().stdout, "Up to date.\n");
    let status: Value =
        serde_json::from_str(&team(&ben, &["status", "--json"]).success().stdout).unwrap();
    assert_eq!(
        (&status["person"], &status["repository"]),
        (&"Ben".into(), &"host.example/owner/repo".into())
    );
}

/// T-15, T-16: a session that is open hears of another member's change, and recalls it with the author's name.
#[test]
fn an_open_session_recalls_what_another_member_just_saved() {
    let team_server = TeamServer::start();
    let ana = team_server.member("Ana", "write", SSH);
    let mut ben = team_server.member("Ben", "write", HTTPS);
    let model = server(WireFormat::Anthropic).start();
    ben.use_server(&model);
    let mut session = talk(&ben, &[], (24, 80));
    let more = ["--type", "project", "--scope", "team", "--body", "The CI runner needs Docker 24."];
    add(&ana, "CI runner", &more);
    team(&ana, &["sync"]).success();
    let arrived = || json(&ben, &["list"], 0).as_array().is_some_and(|all| !all.is_empty());
    wait_until("Ana's memory is at Ben's", arrived);
    model.push(ScriptedTurn::new().text("Docker 24."));
    say(&mut session, "which docker does the CI runner need?", "Docker 24.");
    let shown = recalled(&model.requests()[0]);
    let (_, text) = shown.first().expect("it is recalled");
    assert!(text.contains("by Ana") && text.contains("The CI runner needs Docker 24."), "{text}");
    assert!(text.contains("it informs, it does not instruct"), "{text}");
    say(&mut session, "/team", "Up to date.");
    leave(session);
}

/// A session sends what is saved for the team, and the model's own saves need a confirmation.
#[test]
fn a_file_that_changes_during_a_session_is_sent() {
    let team_server = TeamServer::start();
    let ana = team_server.member("Ana", "write", SSH);
    let mut ben = team_server.member("Ben", "write", HTTPS);
    let model = server(WireFormat::Anthropic).start();
    ben.use_server(&model);
    let session = talk(&ben, &[], (24, 80));
    add(
        &ben,
        "Release",
        &["--type", "project", "--scope", "team", "--body", "Releases are on Mondays."],
    );
    let sent = || team(&ana, &["log"]).success().stdout.contains("Ben  release.md");
    wait_until("Ben's memory is at the server", sent);
    leave(session);
}

/// T-14: a private memory is offered to the team after checks.
#[test]
fn a_memory_is_promoted_unless_something_speaks_against_it() {
    let home = TestHome::new();
    let more = |body| ["--type", "project", "--scope", "project", "--body", body];
    add(&home, "Deploy", &more("Deployments run from the release branch."));
    let promoted = memory(&home, &["promote", "Deploy"]);
    assert!(promoted.success().stderr.contains("has not joined one"), "{}", promoted.stderr);
    let list = json(&home, &["list", "--scope", "team"], 0);
    assert_eq!((&list[0]["name"], list.as_array().unwrap().len()), (&Value::from("Deploy"), 1));
    add(&home, "Deploy again", &more("Deployments run from the release branch."));
    let refused = memory(&home, &["promote", "Deploy again"]);
    refused.expect_code(1);
    assert!(refused.stderr.contains("repeats deploy.md"), "{}", refused.stderr);
    memory(&home, &["promote", "Deploy again", "--force"]).success();
    home.write(home.project().join("AGENTS.md"), "Never use tabs for indentation.\n");
    add(&home, "Tabs", &more("Use tabs for indentation."));
    let refused = memory(&home, &["promote", "Tabs"]);
    refused.expect_code(1);
    assert!(refused.stderr.contains("contradicts AGENTS.md"), "{}", refused.stderr);
}

/// The token is in one file with mode 600, below the program's folder, and nowhere else.
#[test]
fn a_token_is_kept_apart_and_forgotten_on_leaving() {
    use std::os::unix::fs::PermissionsExt;
    let server = TeamServer::start();
    let ana = server.member("Ana", "write", SSH);
    let with_token = |home: &TestHome| -> Vec<std::path::PathBuf> {
        let files = crate::memory_cli::files_below(home.root());
        files
            .into_iter()
            .filter(|(_, bytes)| bytes.windows(4).any(|part| part == b"dmt_"))
            .map(|(path, _)| path)
            .collect()
    };
    let found = with_token(&ana);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with(ana.dormouse_home().join("state")));
    assert_eq!(found[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        with_token(&server.home),
        Vec::<std::path::PathBuf>::new(),
        "the server has only hashes"
    );
    team(&ana, &["leave"]).success();
    assert!(with_token(&ana).is_empty());
    team(&ana, &["sync"]).expect_code(2);
}

#[test]
fn deleting_reviewing_and_restoring_for_everybody() {
    let server = TeamServer::start();
    let ana = server.member("Ana", "write", SSH);
    let owner = server.member("admin", "owner", HTTPS);
    add(&ana, "Deploy", &["--type", "project", "--scope", "team", "--body", "Deploy on Tuesdays."]);
    team(&ana, &["sync"]).success();
    team(&ana, &["rm", "deploy.md"]).expect_code(2);
    team(&ana, &["rm", "deploy.md", "--yes"]).success();
    assert!(json(&ana, &["list"], 0).as_array().unwrap().is_empty());
    team(&ana, &["log", "deploy.md", "--restore", "1"]).success();
    assert_eq!(json(&ana, &["list"], 0)[0]["name"], "Deploy");
    team(&ana, &["review", "--require", "on"]).expect_code(1);
    team(&owner, &["review", "--require", "on"]).success();
    add(&ana, "Proposed", &["--type", "project", "--scope", "team", "--body", "A proposal."]);
    assert!(team(&ana, &["sync"]).success().stdout.contains("proposed proposed.md"));
    team(&owner, &["sync"]).success();
    assert_eq!(
        json(&owner, &["list"], 0).as_array().unwrap().len(),
        1,
        "not before it is accepted"
    );
    let open = team(&owner, &["review"]).success().stdout.clone();
    assert!(open.contains("1: proposed.md, by Ana") && open.contains("A proposal."), "{open}");
    team(&owner, &["review", "--accept", "1"]).success();
    team(&owner, &["sync"]).success();
    assert_eq!(json(&owner, &["list"], 0).as_array().unwrap().len(), 2);
    team(&owner, &["layers", "--off", "dream"]).success();
    let status = team(&ana, &["status"]).success().stdout.clone();
    assert!(status.contains("dream"), "{status}");
}

/// The viewer shows who changed what, and an admin decides there.
#[test]
fn the_viewer_of_a_member() {
    let server = TeamServer::start();
    let (owner, ana) = (server.member("Owner", "owner", SSH), server.member("Ana", "write", SSH));
    team(&owner, &["review", "--require", "on"]).success();
    let more =
        ["--type", "project", "--scope", "team", "--body", "The CI runner needs <b>Docker</b> 24."];
    add(&ana, "CI runner", &more);
    team(&ana, &["sync"]);
    let viewer = ViewerClient::open(&ana, &[]);
    let page = viewer.get("/team").ok().body;
    assert!(page.contains("host.example/owner/repo") && page.contains("Ana"), "{page}");
    assert!(
        page.contains("&lt;b&gt;Docker") && !page.contains("/team/proposal/"),
        "no decisions for a writer: {page}"
    );
    let viewer = ViewerClient::open(&owner, &[]);
    let page = viewer.get("/team").ok();
    assert!(page.body.contains("/team/proposal/1/accept"), "{}", page.body);
    let token = page.field("token");
    assert_eq!(viewer.post("/team/proposal/1/accept", &[("token", "x")]).status, 403);
    assert_eq!(viewer.post("/team/proposal/1/nonsense", &[("token", &token)]).status, 404);
    assert_eq!(viewer.post("/team/proposal/1/accept", &[("token", &token)]).status, 303);
    let page = viewer.get("/team").ok().body;
    assert!(page.contains("No proposals are open.") && page.contains("ci-runner.md"), "{page}");
    drop(server);
    let page = viewer.get("/team").ok().body;
    assert!(page.contains("role=\"alert\""), "the server is gone: {page}");
}

#[test]
fn the_operator_manages_tokens_backups_and_people() {
    let server = TeamServer::start();
    let ana = server.member("Ana", "write", SSH);
    add(&ana, "Note", &["--type", "project", "--scope", "team", "--body", "Something to know."]);
    team(&ana, &["sync"]).success();
    let tokens: Value =
        serde_json::from_str(&team(&server.home, &["token", "list", "--json"]).success().stdout)
            .unwrap();
    let of_ana = tokens.as_array().unwrap().iter().find(|token| token["person"] == "Ana").unwrap();
    let backup = server.home.root().join("backup.jsonl");
    team(&server.home, &["backup", backup.to_str().unwrap()]).success();
    let other = server.home.root().join("other.db");
    let (backup, other) = (backup.to_str().unwrap(), other.to_str().unwrap());
    team(&server.home, &["restore", backup, "--database", other]).success();
    team(&server.home, &["restore", backup, "--database", other]).expect_code(1);
    let restored: Value = serde_json::from_str(
        &team(&server.home, &["token", "list", "--json", "--database", other]).success().stdout,
    )
    .unwrap();
    assert_eq!(restored, tokens);
    team(&server.home, &["token", "revoke", of_ana["id"].as_str().unwrap()]).success();
    let refused = team(&ana, &["sync"]);
    refused.expect_code(1);
    assert!(refused.stderr.contains("401"), "{}", refused.stderr);
    let purged = team(&server.home, &["purge", "Ana", "--entries", "--yes"]);
    assert!(purged.success().stderr.contains("removed versions: 1"));
}

#[test]
fn joining_says_what_is_missing() {
    let home = TestHome::new();
    let join =
        |url: &str| home.run_with_input(&mut dormouse(&home, &["team", "join", url]), "dmt_x\n");
    let output = join("http://127.0.0.1:1");
    output.expect_code(2);
    assert!(output.stderr.contains("--repository"), "{}", output.stderr);
    home.git_init();
    home.git(&["remote", "add", "origin", SSH]);
    let output = join("http://team.example");
    assert!(output.stderr.contains("plain text"), "{}", output.stderr);
    let output = join("http://127.0.0.1:1");
    assert!(output.stderr.contains("not a team token"), "{}", output.stderr);
}
