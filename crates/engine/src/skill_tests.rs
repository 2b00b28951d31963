//! Skills in a session: kept aside as they were used, through a resume.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Deadlines, Dir, Environment, RelPath};
use dormouse_extensions::skills::SkillFolders;
use dormouse_model::script::ScriptedTurn;
use dormouse_model::{Model, ScriptedModel};
use tokio_util::sync::CancellationToken;

use crate::spending::tests::config;
use crate::{Engine, EngineConfig, SessionFolder, Surroundings, TurnContext};

fn prepared(home: &Path, script: Vec<ScriptedTurn>) -> EngineConfig {
    let mut config = config(home, 0, f64::MAX);
    config.model.client = Arc::new(Model::Scripted(ScriptedModel::new(script)));
    config.extensions.skills =
        Arc::new(SkillFolders::new(home, None, &config.project).user_skills());
    config
}

fn in_use(engine: &Engine) -> Vec<(String, String)> {
    let restored = engine.session_tools.skills_in_use().restored();
    restored.into_iter().map(|skill| (skill.name, skill.text)).collect()
}

#[tokio::test]
async fn kept_aside_as_they_were_used_and_through_a_resume() {
    let home = tempfile::tempdir().unwrap();
    let dir = Dir::open(home.path()).unwrap();
    for name in ["one", "two", "three"] {
        let file = RelPath::new(format!("skills/{name}/SKILL.md")).unwrap();
        dir.create_folder(&file.parent().unwrap()).unwrap();
        dir.replace(&file, b"Do $ARGUMENTS.").unwrap();
    }
    let script = vec![
        ScriptedTurn::new().text("a"),
        ScriptedTurn::new().call("s", "Skill", r#"{"skill":"two","args":"b"}"#).call(
            "t",
            "Skill",
            r#"{"skill":"none"}"#,
        ),
        ScriptedTurn::new().text("b"),
        ScriptedTurn::new().text("c"),
    ];
    let config = prepared(home.path(), script);
    let project = config.project.clone();
    let (clock, ids) = (Arc::clone(&config.services.clock), Arc::clone(&config.services.ids));
    let around =
        Surroundings::look(&project, &Environment::default(), &*clock, &Deadlines::default()).await;
    let folder = SessionFolder::open(home.path(), &project).unwrap();
    let mut engine = Engine::begin(config, &folder, &around).unwrap();
    for prompt in ["/one a", "go", "/one c"] {
        let interrupt = CancellationToken::new();
        let mut sink = |_| ();
        let mut turn = TurnContext::new(&interrupt, &mut sink);
        engine.run_turn(prompt, &around, None, &mut turn).await.unwrap();
    }
    let expected = [("one", "Do c."), ("two", "Do b.")].map(|(n, t)| (n.to_owned(), t.to_owned()));
    assert_eq!(in_use(&engine), expected);
    let used_at = engine.session_tools.skills_in_use().restored()[0].at.as_millisecond();
    let session = engine.conversation().session();
    drop(engine);

    let opened = folder.reopen(session, &around, clock, ids).unwrap();
    let (engine, _) = Engine::resume(prepared(home.path(), Vec::new()), opened, &around).unwrap();
    assert_eq!(in_use(&engine), expected);
    assert_eq!(
        engine.session_tools.skills_in_use().restored()[0].folder,
        home.path().join("skills/one").display().to_string()
    );
    // Written down right after, within a moment.
    let kept = engine.session_tools.skills_in_use().restored()[0].at.as_millisecond();
    assert!((0..60_000).contains(&(kept - used_at)), "{used_at} {kept}");
}
