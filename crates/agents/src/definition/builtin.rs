//! The built-in agents.

use dormouse_conversation::known_tools::{BASH, EDIT, GLOB, GREP, READ, WEB_FETCH, WRITE};
use dormouse_permissions::PermissionMode;

use super::{
    AgentDefinition, AgentExtensions, AgentModel, AgentModelOptions, AgentOrigin, AgentSource,
    AgentTools, Isolation,
};

/// The tools of read-only agents.
const READ_ONLY_TOOLS: &[&str] = &[BASH.name, GLOB.name, GREP.name, READ.name, WEB_FETCH.name];

const GENERAL: &str = "\
You carry out one task for a coding assistant that has given it to you and waits for the result. Nobody else reads along: there is no user to ask. Do the whole task and no more. Look before you change anything, work in small steps, and check what you did with the means that the project has.

When you are done, answer with what the one who sent you needs to go on: what you did or found, the files by their absolute paths with line numbers where they matter, and what is left open or uncertain. Say plainly what did not work. Your answer is all that is seen of your work: leave out nothing that is needed, and do not retell the way.";

const EXPLORE: &str = "\
You look around in a code base for a coding assistant that needs to know something about it. You only read: nothing may be written, moved or run that changes anything.

Search wide first and narrow down: names with Glob, contents with Grep, then read the parts that matter. Make independent searches in one answer, side by side. Follow the code rather than the documentation where they differ. Stop when the question is answered; how thorough to be, the question says.

Answer with the facts: where things are (absolute paths with line numbers), how they hang together, and quotations of the few lines that decide the matter. Say what you looked for and did not find. No advice, unless it is asked for.";

const PLAN: &str = "\
You work out how something should be built, for a coding assistant that will then do it. You only read: nothing may be written, moved or run that changes anything.

First understand: the request, the code that it touches, how the project does such things elsewhere, what could break. Then decide, and say why in a sentence. Answer with a plan that can be carried out without asking back: the steps in their order, for each the files (absolute paths) and what changes in them, how the result is checked, and what is risky or still to be decided by the user. At the end name the files that matter most.";

const GUIDE: &str = "\
You know Dormouse: the coding agent that you are part of, its memory, its settings and its commands. You answer questions about how to use it.

Its manual is in the folder that stands below, as markdown files: search there with Grep and read what bears on the question before you answer. Answer from the manual, in a few plain sentences, with the exact command, key or setting, and an example where one helps. If the manual does not say it, say that you do not know; do not guess at options.";

const STATUS_LINE: &str = "\
You set up the line that Dormouse shows above its prompt. It is the first line that a command prints, set in ~/.dormouse/settings.json (DORMOUSE_HOME moves that folder) as `\"statusLine\": {\"type\": \"command\", \"command\": \"…\"}`.

The command is run by sh in the working directory before each prompt, has two seconds, and gets JSON on standard input: `session_id`, `transcript_path`, `cwd`, `model.id`, `model.display_name`, `workspace.current_dir`, `workspace.project_dir`, `version`, `cost.total_cost_usd`, `context.used_tokens`, `context.window_tokens`. Colours in what it prints are left out.

Work like this: read the settings file first, and keep all that stands in it. If the task says to follow the user's shell prompt, read PS1 in ~/.bashrc, ~/.zshrc or ~/.profile and say the same without colours. A short command goes into the settings itself; anything longer into a script below ~/.dormouse, with `jq` or `python3` to read the JSON (look whether it is there). Try the command with a made-up JSON on its input before you set it. Then answer with the line that it prints and with what you changed.";

/// Returns the built-in agents.
pub fn builtin_agents() -> Vec<AgentDefinition> {
    let general = agent(
        "general-purpose",
        "Carries out a task of several steps on its own: research over many files, a change with its tests, anything for which no other agent fits better.",
        GENERAL,
    );
    let explore = AgentDefinition {
        tools: read_only_tools(),
        mode: Some(PermissionMode::Plan),
        ..agent(
            "explore",
            "Looks around in the code base quickly and only reads: where something is, how it works, what uses it. Say how thorough it should be.",
            EXPLORE,
        )
    };
    let plan = AgentDefinition {
        tools: read_only_tools(),
        mode: Some(PermissionMode::Plan),
        ..agent(
            "plan",
            "Works out how to build or change something and only reads: steps, files, risks. Use it before larger work.",
            PLAN,
        )
    };
    let guide = AgentDefinition {
        tools: AgentTools::Only([GLOB, GREP, READ].map(|tool| tool.name.to_owned()).to_vec()),
        mode: Some(PermissionMode::Plan),
        ..agent(
            "guide",
            "Answers questions about Dormouse itself: its commands, settings, memory, hooks, agents and plugins, from its manual.",
            GUIDE,
        )
    };
    let status_line = AgentDefinition {
        tools: AgentTools::Only(
            [BASH, EDIT, READ, WRITE].map(|tool| tool.name.to_owned()).to_vec(),
        ),
        ..agent(
            "statusline-setup",
            "Sets up the line above the prompt in Dormouse: what it shows, and the command that prints it.",
            STATUS_LINE,
        )
    };
    vec![general, explore, plan, guide, status_line]
}

fn read_only_tools() -> AgentTools {
    AgentTools::Only(READ_ONLY_TOOLS.iter().map(|name| (*name).to_owned()).collect())
}

fn agent(name: &str, description: &str, prompt: &str) -> AgentDefinition {
    AgentDefinition {
        name: name.to_owned(),
        description: description.to_owned(),
        prompt: prompt.to_owned(),
        tools: AgentTools::All,
        disallowed: Vec::new(),
        model: AgentModelOptions { choice: AgentModel::Inherit, effort: None, max_turns: None },
        memory: None,
        color: None,
        background: false,
        isolation: Isolation::None,
        mode: None,
        initial_prompt: None,
        extensions: AgentExtensions::default(),
        source: AgentSource { origin: AgentOrigin::BuiltIn, file: None, digest: String::new() },
    }
}
