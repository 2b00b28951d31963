//! `dormouse demo`: a short story through the real program, in a temporary folder, with a scripted
//! model. It says at each step what happened and why.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{Dir, Environment, Redactor, RelPath, names, project_of};
use dormouse_conversation::{Budget, Origin, ResultContent, Window};
use dormouse_engine::{
    Engine, EngineConfig, EngineEvent, PromptOverrides, SessionFolder, Surroundings, TurnEnd,
};
use dormouse_model::script::Turn;
use dormouse_model::{CacheTtl, Dialect, MaxTokensField, Model, RetryPolicy, ScriptedModel, Wire};
use dormouse_tools::{Gate, Reaper, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::exit::{Exit, Failure};
use crate::show;
use crate::world::World;

const QUESTION: &str =
    "How many nuts does the plan ask for, and is the plan longer than three lines?";
const PLAN: &str = "# Winter plan\n\n- 40 hazelnuts\n- 12 acorns\n- one warm nest\n";

pub(crate) async fn run(world: &World) -> Result<Exit, Failure> {
    let stage = Stage::build(world)?;
    show::data_line("This is a demo: the model is scripted, everything else is the real program.");
    show::data_line(&format!(
        "It plays in {} and touches nothing outside.\n",
        stage.root.display()
    ));
    scene_one(&stage).await?;
    show::data_line("\nThe temporary folder is removed again.");
    Ok(Exit::Done)
}

/// A temporary folder with a project and a home of its own; removed when dropped.
struct Stage {
    root: PathBuf,
    world: World,
}

impl Stage {
    fn build(world: &World) -> Result<Self, Failure> {
        let name = format!("dormouse-demo-{}", uuid::Uuid::new_v4().simple());
        let root = std::env::temp_dir().join(name);
        let file = RelPath::new("plan.md").map_err(Failure::failed)?;
        Dir::create(root.join("project"))?.replace(&file, PLAN.as_bytes())?;
        let path = world.environment.get(names::PATH).unwrap_or("/usr/bin:/bin");
        let home = root.join("home");
        let pairs = [(names::HOME, home.as_os_str()), (names::PATH, path.as_ref())];
        let environment = Environment::from_pairs(pairs);
        Ok(Self { root, world: World::with_environment(environment) })
    }

    fn project(&self) -> PathBuf {
        self.root.join("project")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What can not be removed is left in the system's temporary folder, where it belongs.
        let _left = std::fs::remove_dir_all(&self.root);
    }
}

/// It reads a file, runs a command, answers.
async fn scene_one(stage: &Stage) -> Result<(), Failure> {
    show::data_line("Scene 1: a question that needs a look.");
    show::data_line(&format!("\n> {QUESTION}\n"));
    let script = vec![
        Turn::new().text("I'll read the plan first.").call(
            "call_1",
            "Read",
            r#"{"file_path":"plan.md"}"#,
        ),
        Turn::new().text("Now its length.").call(
            "call_2",
            "Bash",
            r#"{"command":"wc -l < plan.md"}"#,
        ),
        Turn::new()
            .text("It asks for 52 nuts (40 hazelnuts and 12 acorns), and yes: it has five lines."),
    ];
    let (mut engine, surroundings) = begin(stage, script).await?;
    let mut sink = |event: EngineEvent| narrate(&event);
    let interrupt = CancellationToken::new();
    let report = engine.run_turn(QUESTION, &surroundings, None, &interrupt, &mut sink).await?;
    if report.end != TurnEnd::Completed {
        return Err(Failure::failed(anyhow::anyhow!(
            "the demo's turn ended with {:?}",
            report.end
        )));
    }
    let lines = count_lines(engine.transcript_path())?;
    show::data_line("");
    why(&format!(
        "{} requests were sent; each began with the bytes of the one before, so a server reads them from its cache.",
        report.requests
    ));
    why(&format!(
        "the transcript has {lines} lines of JSON, one a block as it completed: a crash at any point loses none of them."
    ));
    Ok(())
}

async fn begin(stage: &Stage, script: Vec<Turn>) -> Result<(Engine, Surroundings), Failure> {
    let world = &stage.world;
    let project = project_of(&stage.project())?;
    let surroundings = Surroundings::look(&project, &world.environment, &*world.clock).await;
    let folder = SessionFolder::open(&world.home()?, &project)?;
    let window = Window::new(200_000).map_err(Failure::failed)?;
    let config = EngineConfig {
        model: Arc::new(Model::Scripted(ScriptedModel::new(script))),
        model_name: "scripted".to_owned(),
        origin: Origin { model: "scripted".to_owned(), server: String::new(), max_tokens: None },
        dialect: Dialect {
            wire: Wire::Anthropic,
            ttl: CacheTtl::FiveMinutes,
            max_tokens_field: MaxTokensField::MaxTokens,
        },
        budget: Budget::for_window(window, 16_000),
        retry: RetryPolicy::default(),
        tools: Arc::new(ToolSet::builtin()),
        // The script is ours and the folder is temporary.
        gate: Gate::allow_all(),
        project,
        environment: world.environment.clone(),
        clock: Arc::clone(&world.clock),
        ids: Arc::clone(&world.ids),
        overrides: PromptOverrides::default(),
        redactor: Redactor::default(),
        reaper: Reaper::of_this_program(),
    };
    let engine = Engine::begin(config, &folder, &surroundings)?;
    Ok((engine, surroundings))
}

fn narrate(event: &EngineEvent) {
    match event {
        EngineEvent::Text(text) => show::data(text),
        EngineEvent::ToolStarted { name, input, .. } => {
            show::data_line(&format!("\n\n  [{name}] {input}"));
        }
        EngineEvent::Message(message) => {
            for result in
                message.blocks.iter().filter_map(dormouse_conversation::Block::result_content)
            {
                if let ResultContent::Text(text) = result {
                    for line in text.lines() {
                        show::data_line(&format!("  | {line}"));
                    }
                    show::data_line("");
                }
            }
        }
        EngineEvent::Thinking(_)
        | EngineEvent::Withdrawn
        | EngineEvent::ToolFinished { .. }
        | EngineEvent::Retrying { .. } => {}
        EngineEvent::Notice(text) => show::data_line(&format!("  note: {text}")),
    }
}

fn why(text: &str) {
    show::data_line(&format!("  why: {text}"));
}

fn count_lines(path: &Path) -> Result<usize, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::failed(anyhow::anyhow!("can not read {}: {error}", path.display()))
    })?;
    Ok(text.lines().count())
}
