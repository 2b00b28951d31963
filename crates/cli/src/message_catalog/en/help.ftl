# Help texts: one message per command, named after its path. `.notes` is printed below the examples, the other
# attributes are the command's arguments and (as `.argument-value`) their values. Commands start with a verb,
# arguments are noun phrases.

# Used by every command that has no text of its own for an argument.
common =
    .examples-heading = Examples:
    .example-heading = Example:
    .json = JSON output
    .limit = Maximum number of results
    .yes = No confirmation prompt
    .model = Model name
    .settings = Additional settings: a JSON file or inline JSON
    .key = Setting name, such as `permissions.allow`
    .settings-scope = Settings file to change
    .settings-scope-user = Your settings for all projects
    .settings-scope-project = The project's settings, shared by everyone who works on it
    .settings-scope-local = The project's settings on this machine only
    .permission-mode = Permission mode
    .permission-mode-default = Ask before file changes and commands
    .permission-mode-accept-edits = Allow edits in the working directory without asking
    .permission-mode-plan = Allow only reading, until a plan is approved
    .permission-mode-bypass = Allow everything that no rule denies
    .kind = Memory type
    .kind-user = Who you are, what you know and prefer
    .kind-feedback = How you want the work to be done
    .kind-project = Goals, decisions and incidents that are not in the code or in git
    .kind-reference = Where to find information elsewhere
    .scope = Memory scope
    .scope-user = Your own memories, for all projects
    .scope-project = Your own memories for this project
    .scope-team = Memories shared with the project's team
    .scope-repo = Memories stored in the repository, in .dormouse/memory
    .scope-agent = The memory of this subagent
    .name = Memory: file name or title
    .allow-secret = Save even if the text looks like a secret
    .description = One-line description, used to decide when the memory is relevant

dormouse = A coding agent for the terminal with a memory
    .prompt = Prompt for the model
    .print = Non-interactive mode: print the response and exit; piped input is added to the prompt
    .output-format = Output format of the response
    .output-format-text = The response as text
    .output-format-json = One JSON object at the end
    .output-format-stream-json = One JSON object per line, as events happen
    .input-format = Format of standard input
    .input-format-text = The prompt as text
    .input-format-stream-json = One JSON object per line: messages, permission answers, interrupts; with --output-format stream-json
    .effort = How hard the model thinks: low, medium, high, xhigh or max; default: the server's
    .continue = Continue the most recent session of this project
    .resume = Session to resume, by id or id prefix; without a value, list the sessions
    .max-turns = Maximum number of model requests of the run, and of each subagent; exit code 3 when it is reached
    .max-cost = Cost limit of this run in US dollars; exit code 3 when it is reached
    .allowed-tools = Rule for tool calls that need no confirmation, such as 'Read' or 'Bash(cargo test:*)'; repeatable
    .disallowed-tools = Rule for tool calls that are always denied; repeatable
    .add-dir = Additional folder in which edits can be allowed; repeatable
    .bare = Run without memory, hooks, skills, plugins, MCP servers and instruction files
    .name = Session name, under which other agents and `dormouse send` can reach it
    .mcp-config = Additional MCP servers: a file such as .mcp.json, or inline JSON; repeatable
    .system-prompt = Text that replaces the static part of the system prompt
    .append-system-prompt = Text added to the static part of the system prompt
    .plain = Output without colors and without redrawing, for screen readers and logs
    .wait = With -p: wait for background tasks, such as saving memories, before exiting
    .init = Run the `Setup` hooks with the trigger `init` before the session
    .init-only = Run the `Setup` hooks with the trigger `init`, then exit
    .maintenance = Run the `Setup` hooks with the trigger `maintenance` before the session
    .verbose = More details on standard error
    .notes =
        Exit codes:
          0    completed
          1    failed: server or disk error
          2    invalid command line, settings or setup
          3    stopped early: --max-turns, --max-cost, or a truncated, empty or refused response
          101  internal error (a bug in Dormouse); a crash report is written
          130  interrupted

help = Show a manual page, or the help of a command
    .topic = Manual page or command; without it, all commands and pages are listed

demo = Run a short demonstration with a scripted model; no API key needed
    .fast = No pauses between scenes

sessions = List the sessions of this project
    .search = Text that the session must contain

rewind = List your messages of a session, or take back what was done after one of them
    .session = Session, by id or id prefix
    .number = Number of the message to go back to: files and conversation become what they were before it
    .code = Take back files only
    .conversation = Take back the conversation only
    .overwrite = Also restore files that were changed since, by you or by another program
    .dry-run = Show what would be done, and the differences that would be lost
    .notes =
        Files that you changed since are left as they are, and the difference is shown. A rewind can be taken back: it is in
        the list. Git's commits, branches and index are not changed.

stats = Show cost, cache hit rate, and the work of each context layer
    .since = Start of the period: 12h, 7d, 4w, or a date such as 2026-11-02
    .session = Session to show, by id or id prefix
    .project = This project only (the default)
    .all = All projects

context = Profile a session: replay it and show tokens, cache and cost of each request
    .transcript = Transcript file (of Dormouse or another agent), or a session of this project by id or id prefix
    .html = File for a page with plots
    .window = Context window in tokens, if it differs from the one derived from the requests
    .cache-ttl = Lifetime of the prompt cache, if the transcript does not record it
    .cache-ttl-5m = Five minutes
    .cache-ttl-1h = One hour
    .notes = No model is called. `dormouse help context` explains how each figure is computed.

doctor = Check API keys, folders, locks, git, the terminal and the model server, and show how to fix problems
    .offline = No connection to the model server
    .notes =
        Exit codes:
          0    no problem found
          1    at least one problem found

permissions = Show and grant permissions

permissions-trust = Show what this project's settings would run or allow, and trust them
    .yes = Trust without a confirmation prompt; what is trusted is still printed
    .revoke = Withdraw the trust

permissions-check = Show whether a tool call would be allowed, and why; nothing is run
    .notes = Exit codes: 0 allowed, 3 needs confirmation, 4 denied.
    .tool = Tool name
    .input = Tool input as JSON; or just the command (for Bash) or the file (for other tools)

config = Show and change settings
    .notes =
        Without a subcommand, `dormouse config` does the same as `dormouse config list`.
        In tables by name, a name may contain dots: contextWindows.gpt-5.4. Quotes work as well: 'prices."gpt-5.4".input'.

config-list = List the settings that you have set and all switches, with the source of each
    .all = Also list the settings that you have not set

config-get = Print one setting
    .json = JSON output, with the source of the setting

config-set = Change one setting
    .value = New value: JSON or plain text

config-unset = Remove one setting

config-schema = Print the JSON schema of the settings

memory = List, change, search and check memories; no model needed
    .notes =
        A memory is identified by its file name or its title. With --json, standard output contains only JSON, also for
        errors: { "{" }"error": …, "kind": …, "hints": […]{ "}" }.

        Exit codes:
          0    done, also if `list`, `search`, `log` or `inbox` found nothing
          1    failed, no such memory, or `doctor` or `lint` reported a problem
          2    invalid command line or settings, unreadable path, or ambiguous memory name

memory-list = List memories, newest first

memory-show = Print a memory file

memory-add = Save a memory and print the path of its file
    .name = The text to remember; with --description or --body, its title only
    .body = Text of the memory; `-` reads it from standard input, as --description without --body does
    .new = Save it even if a memory of this name exists
    .scope = Memory scope; default: `user` for memories of type `user`, otherwise `project`
    .pin = Always list the memory at the start of a session

memory-edit = Edit a memory in your editor, or change only what the options name
    .new-name = New title; the file name does not change
    .body = New text; `-` reads it from standard input
    .pin = Permanent entry in the list at the start of a session (`true` or `false`)

memory-rm = Move memories to the trash; they can be restored for 30 days
    .names = Memories: file names or titles

memory-promote = Offer a memory of yours to the team, after checks for secrets, duplicates, contradictions and broken anchors
    .force = Promote it in spite of what was found; secrets are refused all the same

memory-confirm = Confirm a memory that came from an external source, so that the model can use it

memory-search = Search memories by words in their title, description and text
    .query = Search words

memory-log = List changes, newest first, with author, time and reason
    .name = Memory whose changes are listed: file name or title

memory-diff = Show the changes made to memories as a diff
    .target = Change number, or a memory by file name or title; default: the most recent change

memory-undo = Undo a change
    .change = Change number, as listed by `dormouse memory log`; default: the most recent change

memory-restore = Restore a memory from the trash or to an earlier version
    .file = Memory: file name or title; without it, list the memories in the trash
    .change = Change number whose version is restored

memory-inbox = List proposed changes; accept, edit or refuse them
    .verb = Action; without it, list the proposals
    .verb-accept = Make the proposed change
    .verb-edit = Edit the proposal in your editor, then make the change
    .verb-refuse = Discard the proposal
    .ids = Numbers of the proposals
    .all = All proposals

memory-guard = Enforce a memory that the model keeps ignoring, with a permission rule or a hook
    .name = Memory: file name or title; without it, list suggested and installed guards
    .install = Install the guard without a confirmation prompt
    .remove = Remove the installed guard
    .refuse = Decline the suggestion; it is made again after 3 more corrections

memory-doctor = Check the memory directories and their indexes
    .fix = Repair the indexes
    .notes =
        Exit codes:
          0    no problem found, or all problems fixed
          1    at least one problem found

memory-lint = Check markdown files for secrets, size, index errors, broken anchors, repetitions and contradictions
    .paths = Files or folders; default: the memory directories
    .annotations = Print findings as a code host shows them beside a change
    .notes =
        Exit codes:
          0    no problem found
          1    at least one problem found
          2    a path cannot be read

memory-path = Print the memory directories

memory-embed = Compute missing embeddings with the model configured under `embeddings`
    .again = Recompute all embeddings, for a model that changed under the same name

memory-export = Export memories as JSON, or as files into a folder
    .folder = Folder for the files; without it, print JSON

memory-import = Import memories as one change: of another agent, from a folder of markdown files or a JSON export. Without arguments, list what other agents know about this project
    .path = Folder or file
    .from = Another agent's memories about this project
    .from-claude-code = Claude Code's memory directory of this project
    .from-codex = The parts of Codex' memory that are about this project
    .from-cursor = Cursor's rules in this project
    .format = Format of the source; default: detected
    .format-folder = Folder of markdown files, such as another agent's memory directory
    .format-dormouse = Output of `dormouse memory export`
    .format-mem0 = mem0 export
    .format-mcp = File or graph of the MCP memory server

dream = Consolidate memories: merge duplicates, correct and remove outdated ones
    .now = Start now, even if no dream is due
    .dry-run = Show the changes as a diff without making them
    .notes =
        Without --now, a dream starts only if it is due: at least 24 hours and 5 sessions of this project after the last
        one. Changes to memories that you wrote yourself are only proposed: see `dormouse memory inbox`. To undo a whole
        dream, run `dormouse memory undo`. No terminal is needed: cron can run it in the project folder.

        Exit codes:
          0    completed, or not due
          1    failed, or the result was not usable; nothing is changed
          2    invalid command line, settings or setup
          3    another dream is already running on this memory
          130  interrupted; nothing is changed

dream-log = List past dreams and their results

recall = Find the memories that match a question best; no model needed
    .query = Question
    .explain = Why each memory was found, and whether it would be added to a conversation automatically
    .fresh = Check for changes made by other programs first

search = Search memories or past sessions; no model needed
    .sessions = Search in the past sessions of this project instead of memories
    .query = Search words

agents = List the available subagents and where each is defined
    .worktrees = List the worktrees that subagents have left in this repository, and what is only there
    .remove = Remove those in which nothing would be lost; ask about the others
    .yes = Remove the others too
    .notes = To define your own, create a markdown file in ~/.dormouse/agents or a project's .dormouse/agents: see `dormouse help agents`.

ui = Show memories, sessions, dreams and figures in a browser
    .port = Port number; 0 selects a free port
    .read-only = Refuse every change
    .no-open = Only print the address
    .notes =
        The page is served on this machine only. The address that is printed works once: it gives the browser that opens it a
        cookie. The viewer runs until it is interrupted.

acp = Serve as the agent of an editor over the Agent Client Protocol
    .model = Model of new sessions
    .effort = Effort of the model
    .permission-mode = Permission mode at the start; the editor cannot choose one that allows more
    .notes =
        The protocol uses standard input and output: the editor starts this command. docs/editors.md says how to set it up in
        Zed, JetBrains IDEs, Neovim and Emacs.

mcp = Serve this project's memory to other agents over MCP, or manage the MCP servers that Dormouse uses
    .http = Streamable HTTP on a local port, for several clients
    .port = Port number; 0 selects a free port
    .memory-tool = Also offer the Anthropic memory tool: this project's memories as files under /memories
    .notes =
        The server uses standard input and output. With --http it listens on a local port, prints its address, and accepts
        requests with the token in ~/.dormouse/mcp-token (`Authorization: Bearer TOKEN`). It offers tools (memory_save,
        memory_search, memory_recall, memory_list, memory_read, memory_update, memory_delete, memory_undo), the memories
        and their index as resources, and the memory instructions as a prompt.

mcp-list = Connect to the MCP servers that Dormouse uses and list their tools

mcp-add = Add an MCP server for Dormouse to use
    .name = Server name, used as the prefix of its tool names
    .url = Address of an HTTP server
    .header = HTTP header, as in 'Name: value'; repeatable
    .env = Environment variable of the program, as in NAME=value; repeatable
    .command = Program and its arguments

mcp-login = Log in at a remote MCP server with OAuth, in the browser
    .name = Server name

mcp-logout = End the login at a remote MCP server and remove its tokens
    .name = Server name

mcp-remove = Remove an MCP server from the settings
    .name = Server name

hooks = List hooks: which ones run at an event, where each is configured, and why others do not run
    .event = Event, such as `PreToolUse`; default: all events
    .tool = Tool name; for events without a tool, the value that the matcher sees (such as `startup`)
    .input = Tool input, for hooks with an `if` condition

hook = Provide memories to another agent through its hooks; `dormouse setup` configures it
    .event = Event name
    .notes =
        The event is read from standard input as JSON. Events: session-start prints the memory instructions and the index,
        prompt prints matching memories, stop queues the transcript for later extraction. The event names of other agents
        work as well.

        So as not to disturb the other agent, the exit code is always 0: errors are written to ~/.dormouse/hooks/hook.log.

setup = Configure another agent to use this memory, or undo that
    .agent = Agent
    .agent-claude-code = ~/.claude.json, and hooks in ~/.claude/settings.json
    .agent-codex = ~/.codex/config.toml
    .agent-gemini-cli = ~/.gemini/settings.json
    .agent-opencode = ~/.config/opencode/opencode.json or opencode.jsonc
    .agent-goose = ~/.config/goose/config.yaml
    .agent-cursor = ~/.cursor/mcp.json
    .agent-vscode = .vscode/mcp.json of this project
    .undo = Remove the added lines
    .program = Command with which the agent starts Dormouse; without it `dormouse`, or its whole path where that is not found
    .extract = Also extract memories from its sessions, in the background, within a minute of their end, at the cost of this provider: `anthropic`, `openai`, or the address of a server; only for agents with hooks
    .extract-model = The model for that; without it, the provider's default
    .notes = The changes are shown first. --undo removes only the added lines, even if the file was changed since.

plugin = Install, list, trust and remove plugins
    .notes =
        A plugin contains skills, subagents, hooks and MCP servers. Nothing in it is used until you have reviewed what it
        would run and trusted it; after a change, it must be trusted again.

plugin-install = Install or update a plugin from a folder or git URL
    .source = Folder, or git URL (https, ssh, file), optionally with #BRANCH or #TAG
    .trust = Trust without a confirmation prompt; what is trusted is still printed

plugin-list = List plugins, their contents, and whether they are enabled

plugin-trust = Show what a plugin would run, and trust its current version
    .name = Plugin name

plugin-enable = Enable a plugin
    .name = Plugin name

plugin-disable = Disable a plugin without removing it
    .name = Plugin name

plugin-remove = Remove a plugin and its data
    .name = Plugin name

team = Share memories with a team through a server of your own
    .notes =
        One member runs `dormouse team serve` and makes a token for each other member; everyone joins with theirs. Memories
        with the scope `team` then reach all members of the same repository. docs/team.md describes it in five minutes.

team-join = Join the team of this project's repository; the token is read from the terminal or DORMOUSE_TEAM_TOKEN
    .url = Address of the team server
    .repository = Name of the repository; default: its git remote
    .plain-http = Allow http:// to another machine, on a network of your own

team-leave = Leave the team; the memories stay in this project

team-sync = Send local changes and fetch those of others

team-status = Show server, repository, role and version

team-log = List the latest changes, or all versions of an entry
    .entry = Entry, such as `ci.md`
    .restore = Version to make the latest again, for everybody

team-rm = Delete an entry for everybody; its history is kept
    .entry = Entry, such as `ci.md`

team-review = List proposals, decide about them, or require a review
    .accept = Number of a proposal to accept; repeatable
    .reject = Number of a proposal to reject; repeatable
    .require = Whether changes by writers wait for an admin
    .require-on = Changes become proposals
    .require-off = Changes apply at once

team-layers = Turn layers off for everybody in the repository (admin)
    .off = Layer to turn off; repeatable
    .none = No layer is off

team-serve = Run the team server
    .config = File of settings, in JSON
    .listen = Address and port; default: 127.0.0.1:7311
    .database = Database: a file, or `postgres://…`; default: DORMOUSE_TEAM_DATABASE, or team-server/team.db in the program's folder
    .tls-cert = Certificate chain in PEM
    .tls-key = Its private key in PEM
    .max-entries = Maximum number of entries of a repository
    .rate = Maximum number of requests a second for one token; 0 for no limit
    .log = Format of the log on standard error; default: text
    .log-text = A line of text for each request
    .log-json = A line of JSON for each request
    .log-none = No log
    .notes =
        Each option can also be set by a variable (DORMOUSE_TEAM_LISTEN, DORMOUSE_TEAM_DATABASE …) or in the file, as `listen`,
        `database`, `tlsCert`, `tlsKey`, `maxEntries`, `rate` and `log`. An option counts before a variable, and a variable before
        the file.

team-token = Create, list and revoke tokens

team-token-create = Create a token and print it once
    .person = Name of its holder, shown with what they write
    .role = What the token allows
    .role-read = Reading
    .role-write = Reading and changing entries
    .role-admin = Tokens, reviews and layers as well
    .repository = The only repository that the token is for; default: all
    .database = Database: a file, or `postgres://…`; without it, the server's own or the joined server

team-token-list = List tokens, without their values
    .database = Database: a file, or `postgres://…`; without it, the server's own or the joined server

team-token-revoke = Revoke a token
    .id = Id in the list of tokens
    .database = Database: a file, or `postgres://…`; without it, the server's own or the joined server

team-backup = Write everything in the database to a file
    .file = File to write
    .database = Database: a file, or `postgres://…`; default: DORMOUSE_TEAM_DATABASE, or team-server/team.db in the program's folder

team-restore = Fill an empty database from a backup
    .file = Backup file
    .database = Database: a file, or `postgres://…`; default: DORMOUSE_TEAM_DATABASE, or team-server/team.db in the program's folder

team-purge = Revoke all tokens of a person
    .person = Name of the person
    .entries = Remove everything they wrote as well
    .database = Database: a file, or `postgres://…`; without it, the server's own or the joined server

send = Send a message to a named session
    .to = Name of a session of this project (`dormouse --name NAME`), or `uds:` and a socket path
    .text = Message text; without it, read from standard input
    .summary = Summary of 5 to 10 words for display; default: the start of the text
    .from = Sender name
    .lines = One message per line of standard input
    .notes =
        The message is queued in the session's mailbox and delivered at its next step, or when it is started again. It is
        marked as coming from an agent, not from the user.

completions = Print shell completions or the man page
    .target = Shell, or `man` for the man page
    .target-bash = Completions for bash
    .target-elvish = Completions for elvish
    .target-fish = Completions for fish
    .target-powershell = Completions for PowerShell
    .target-zsh = Completions for zsh
    .target-man = The man page
