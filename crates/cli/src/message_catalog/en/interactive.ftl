# Interactive mode. The texts of the terminal interface, of permission prompts and of slash commands.

# Header, composer and status line

session-resumed-header = resumed session
session-header-hint = /help for keys and commands, Ctrl-D to leave
first-session-init = New here: /init has an AGENTS.md written from what is in the project
first-session-import = Other agents know this project: { $agents }. /memory import lists it, nothing is taken over unasked
session-saved = Session saved. Continue it with: dormouse --continue
connecting = Connecting to the model server…
hint-leave = Press Ctrl-C again or Ctrl-D to leave.
hint-rewind = Press Esc again to go back to an earlier message.
hint-after-turn = This key works when the turn has ended.
hint-leaving = Leaving when the turn ends · Esc: stay
hint-answer = Tab to answer the question.
hint-queued = Enter again: send with the next request · Up: edit · else after the turn
label-queued = queued:
label-steered = with the next request:
status-window = window { $bar } { $percent } %
status-cache = cache { $percent } %
status-cost-unknown = cost unknown
status-background = of it background { $cost }
status-default-mode = default
status-line-failed = The `statusLine` command failed: { $problem }
status-line-no-reason = the command failed
status-line-kind = `statusLine.type` is `{ $kind }`; only `command` is supported
terminal-unreadable = error: cannot read the terminal: { $reason }
terminal-failed = cannot read the terminal: { $error }
terminal-mode-failed = cannot set up the terminal: { $error }
history-not-saved = Not saved in the prompt history: { $error }
command-unknown-here = Unknown command /{ $name }.{ $hint } /help lists all commands.
argument-error = /{ $name }: { $problem }{ $similar } /{ $name } --help shows its arguments.
argument-unknown-command = no command `{ $given }`.
argument-unknown-option = no option `{ $given }`.
argument-too-many = `{ $given }` is one argument too many.
argument-missing = { $argument } is missing.
argument-no-value = { $argument } needs a value.
argument-value = { $argument } cannot be `{ $given }`.
argument-value-of = { $argument } must be one of { $valid }.
argument-suggestion = { " " }Did you mean `{ $name }`?
command-suggestion = { " " }Did you mean /{ $name }?

# Progress of a turn

progress-waiting = waiting for the model
progress-first-token = waiting for the model's first token
progress-more-text = waiting for the rest of the answer
progress-thinking = thinking
progress-writing = writing
progress-compacting = compacting the conversation
progress-retry = waiting for the model, attempt { $retry } of { $of }
task-made-way = Stopped so that your message goes first: { $tasks }. It is tried again after the turn.
echo-more = … { $count } more lines
skill-only-model = /{ $name } is a command of the program, so only the model can call it
skill-hidden = hidden by the program's own /{ $name }; rename it
export-exists = { $path } exists, and an export never replaces a file; give another name
export-no-folder = there is no folder { $folder }
progress-retrying = retrying in { $seconds } s ({ $retry } of { $of })
duration-seconds = { $seconds } s
duration-minutes = { $minutes } min { $seconds } s
duration-hours = { $hours } h { $minutes } min
progress-stopping = stopping
progress-more = { $label } and { $count } more
progress-esc = Esc to interrupt
progress-control-c = Ctrl-C to interrupt
thinking-folded =
    thought: { $count ->
        [one] 1 line
       *[other] { $count } lines
    } · Alt-T shows it
thinking-none = The model has not thought yet, or its server does not show it.
response-discarded = Partial response discarded; the request is retried.
changed-by-hook = { $label } (changed by a hook)
context-left = Context left until auto-compaction: { $percent } %. /compact does it now.

# The end of a turn

turn-interrupted = Interrupted.
turn-truncated = Response truncated at the output token limit. Send `continue` to get the rest.
turn-refused = The model refused to respond.
turn-empty = The model sent an empty response. Try again.
turn-max-turns = --max-turns reached before the model finished. Send `continue` to go on.
turn-max-cost = Cost limit (--max-cost) reached. No more requests in this run.
turn-repeating = Stopped: the model made the same { $tool } call three times, with the same result and nothing new in between. Tell it what to do instead.
turn-halted = A hook stopped the turn: { $reason }
turn-blocked = A hook blocked the prompt; it was not sent: { $reason }
turn-no-prompt = Not sent: { $reason }
turn-retry-hint = The conversation is saved: send `continue` to try again.
turn-too-long-hint = /context shows what fills the context window; /clear starts a new session.

# Tool calls

call-interrupted = interrupted
call-declined = not run: declined
call-declined-because = not run: declined, “{ $said }”
call-not-run = not run: { $why }
call-failed = failed: { $why }
call-no-output = no output
call-image = image
call-lines =
    { $count ->
        [one] 1 line
       *[other] { $count } lines
    }
call-exit = exit code { $code }
call-signal = ended by signal { $signal }
call-exit-lines = { $exit }, { $lines }
call-more-lines = … { $count } lines more · Ctrl-O shows all

# Permission prompts

choice-yes = Yes
diff-summary =
    { $hunks ->
        [one] 1 hunk
       *[other] { $hunks } hunks
    }, +{ $added } −{ $removed }
diff-left-out = … { $count } more lines. A yes shows the whole change first; `v` shows it now.
choice-view = View the whole change
choice-always = Yes, and don't ask again for { $rule } in this session
grant-outside-sandbox = { $rule } outside the sandbox
grant-memory-changes = memory changes
choice-this-call = this
choice-rule = Yes, and edit or save the rule
choice-no = No
choice-no-because = No, and tell the model why
choice-accept = Accept
choice-accept-edits = Accept, and allow edits in this folder
choice-reject = Reject
choice-reject-because = Reject, and say what to change
choice-rule-session = Allow { $rule } in this session
choice-rule-project = Allow { $rule } in this project, for you alone (settings.local.json)
choice-rule-user = Allow { $rule } in all your projects (your settings.json)
choices-line = y yes · n no (add a reason for the model) · a always allow { $rule }
choices-line-plan = y accept · a accept, and allow edits in this folder · n reject (add what to change)
choices-line-again = Answer y, n or a. A reason after n is sent to the model.
plan-heading = Plan:
writes-to = writes to { $path }

# Permission modes

mode-default = default: asks before edits and commands
mode-accept-edits = accept-edits: edits in the working directory need no confirmation
mode-plan = plan: read-only until you accept a plan
mode-bypass = bypass: everything is allowed unless a rule denies it
plan-not-on = Plan mode is not on.
plan-none-yet = Plan mode is on; the model has not presented a plan yet. /plan off leaves plan mode.

# Memory

memory-notice = memory: { $what } · Alt-U to undo
recall-notice = { $line } · Alt-R explains
recall-listed =
    { $count ->
        [one] 1 memory listed
       *[other] { $count } memories listed
    }
recall-bodies =
    { $count ->
        [one] recalled 1 memory ({ $tokens } tokens): { $files }
       *[other] recalled { $count } memories ({ $tokens } tokens): { $files }
    }
recall-lines =
    { $count ->
        [one] named 1 memory: { $files }
       *[other] named { $count } memories: { $files }
    }
recall-lines-only =
    { $count ->
        [one] named 1 memory: { $files } ({ $tokens } tokens)
       *[other] named { $count } memories: { $files } ({ $tokens } tokens)
    }
recall-late = memory not ready in time; what it finds goes with the next request
recall-nothing = none recalled
recall-none = No recall in this turn yet.
memory-waits =
    { $count ->
        [one] 1 memory change waits
       *[other] { $count } memory changes wait
    } for your review: /memory inbox
memory-saving = Saving memories of this session… (Ctrl-C skips)
subagent-unfinished = Subagent { $name } stopped before it finished: { $task }
unclosed-quote = Unclosed quotation mark in this command.

# Pickers

replay-earlier = … earlier messages are in the transcript
age-now = now
age-minutes = { $count } min
age-hours = { $count } h
age-days =
    { $count ->
        [one] 1 day
       *[other] { $count } days
    }
picker-no-match = no match
picker-hint = type to search · ↑ ↓ Enter to choose · Esc to cancel
picker-sessions = Resume a session
picker-session-details = { $age } · { $messages ->
    [one] 1 message
   *[other] { $messages } messages
} · { $tokens }k tokens
picker-session-first = first: { $text }
picker-session-last = last: { $text }
picker-rewind = Go back to before which message?
picker-rewind-scope = What to undo from message { $number } on?
rewind-scope-both = Files and conversation
rewind-scope-conversation = Conversation only
rewind-scope-code = Files only
resume-none = There is no other session in this project.

# Slash commands

slash-help = show keys and commands
slash-clear = start a new session; this one stays saved
slash-model = show the model, or switch to another
slash-effort = show how hard the model thinks, or set it: low, medium, high, xhigh, max, default
slash-cost = show tokens and cost of this run
slash-stats = show context usage and session statistics
slash-config = show the configuration in effect and where files are
slash-permissions = show permission mode and rules, or set the mode
slash-compact = replace the conversation with a summary; INSTRUCTIONS say what to keep
slash-context = show what fills the context window
slash-expand = restore collapsed messages: the newest, or by number from the oldest
slash-rewind = go back to before your message N: files, conversation or both; without N, list your messages
slash-resume = pick another session of this project and open it
slash-rename = give the session a title
slash-copy = copy the last answer to the clipboard
slash-export = write the conversation to a markdown file
slash-init = write an AGENTS.md for this project
slash-review = review the changes in the working tree, or WHAT
slash-doctor = check keys, folders, servers and the terminal
copy-nothing = There is no answer to copy yet.
copy-done =
    { $count ->
        [one] Sent 1 line
       *[other] Sent { $count } lines
    } to the terminal's clipboard. If nothing arrives, the terminal does not allow it (OSC 52).
copy-needs-live = Not available with `--plain`: the clipboard is reached through the terminal.
export-done = Wrote { $path }
export-no-file = that is not a file name; use `/export NAME.md`
export-user = User
export-model = Dormouse
rename-empty = Give a title: `/rename TITLE`
rename-done = This session is called “{ $title }”.
slash-snip = leave the oldest messages out of further requests; the transcript keeps them
slash-plan = turn on plan mode (read-only until you accept a plan) and send TEXT; in plan mode, show the plan
slash-skills = list skills
slash-plugins = list plugins and their state
slash-mcp = list MCP servers and their tools, or reconnect one
slash-tasks = list what runs in the background (memory, subagents, commands); show or stop one
slash-agents = list agents and running subagents; show or stop one
slash-hooks = list hooks
slash-memory = list memories; on and off for this session; or run a dormouse memory COMMAND such as undo
slash-recall = search memory; without QUERY, explain the last recall
slash-dream = consolidate memory in the background; while it runs, show progress
slash-guard = turn a repeated correction into a permission rule or hook; without MEMORY, list suggestions
slash-team = send and fetch team memories now
slash-notes = show the session notes and their path
slash-quit = leave (also Ctrl-D)

model-current = { $model }. /model NAME switches to another model.
effort-current = Effort: { $effort }. /effort LEVEL sets it: low, medium, high, xhigh, max or default.
effort-default = the server's default
effort-set = Effort set to { $effort }. The next request is not read from the cache.
model-set = Model set to { $model }
session-new = New session started. The previous one is saved: dormouse sessions lists it.
plugins-none-here = No plugins yet. Install one: dormouse plugin install FOLDER or GIT-URL
hooks-none-here = No hooks. They are set under `hooks` in the settings; see `dormouse help hooks`.
skills-none = No skills yet. A skill is a folder with a SKILL.md in ~/.dormouse/skills or .dormouse/skills.
no-requests-yet = No requests yet.
agents-stopping = Stopping { $name }.
agents-not-running = No subagent `{ $name }` is running. /agents lists them.
agents-not-run = No subagent `{ $name }` has run in this session. /agents lists them.
agents-usage = Usage: /agents, /agents show NAME, /agents stop NAME, /agents resume NAME
agents-not-interrupted = No subagent `{ $name }` was interrupted. /agents lists them.
agents-transcript = Full transcript: { $path }
tasks-none = Nothing runs in the background.
tasks-usage = /tasks show NAME shows what a task did; /tasks stop NAME ends it
tasks-unknown = No task `{ $name }` is running. /tasks lists them.
tasks-stopping = Stopping { $name }.
tasks-running = running
tasks-job =
    { $phase } · { $time } · { $turns ->
        [one] 1 turn
       *[other] { $turns } turns
    }
shell-ended = background command { $id } ended ({ $how }, after { $time }): { $command }
shell-started = running in the background as { $id }
shell-runs = running, { $printed }: { $command }
shell-stopped = stopped
compact-how = /compact from NUMBER replaces that message and all later ones with a summary; /compact upto NUMBER replaces all earlier ones
compact-unknown-message = There is no message { $number }. /compact from lists them.
compact-nothing = Nothing to compact yet.
compact-not-smaller = Not compacted: a summary would be no shorter than the conversation.
compact-blocked = A hook blocked the compaction: { $reason }
compact-interrupted = Interrupted. Conversation unchanged.
snip-done = Oldest messages left out of further requests: about { $tokens } tokens freed.
snip-nothing = Nothing can be left out.
expand-done =
    { $count ->
        [one] 1 message restored.
       *[other] { $count } messages restored.
    }
expand-nothing = No messages are collapsed.
dream-usage = Usage: /dream starts a dream or shows the running one; /dream stop; /dream log
dream-off = Memory is off in this session: nothing to dream about.
dream-started = Dreaming in the background. /dream shows progress, /dream stop ends it; leaving ends it too.
dream-blocked = No dream: { $reason }
dream-stopped = Dream stopped. Nothing was changed.
dream-not-running = No dream is running.
dream-status =
    Dream running: { $phase }, { $turns ->
        [one] 1 turn
       *[other] { $turns } turns
    }
dream-files = ; files changed in its copy: { $files }

# Rows of /context, /stats, /config and /permissions

share-system = system prompt
share-tools = tool definitions
share-mcp-tools = tool definitions of MCP servers
share-instructions = instruction files, date
share-memory = memory index
share-summary = summary of compacted messages
share-program = messages of the program
share-results = tool results
share-calls = tool calls
share-thinking = thinking
share-pictures = pictures and documents
share-user = your messages and their attachments
share-answers = answers
share-free = free
share-reserved = reserved for compaction
layer-did =
    { $count ->
        [one] once
       *[other] { $count } times
    } in this session, about { $freed } tokens freed
row-messages = messages
row-context-left = context left
row-used = used
row-used-of = { $used } of { $window } tokens
row-compacts-at = auto-compaction at
row-left-until = left until then
row-model = model
row-key = key from
row-permissions = permissions
row-folder = folder
row-home = home
row-home-value = { $path } (set { $variable } to move it)
row-settings = settings
row-transcript = transcript
row-mode = mode
row-allowed = allowed
row-ask = ask
row-denied = denied
row-granted = allowed for this session
row-unknown = unknown
row-none = none

# Keys, as /help lists them

key-enter = send the message; during a turn: queue it, and again: send it with the next request
key-newline = insert a line break; also \ and Enter
key-history = earlier messages; during a turn, Up takes a queued message back
key-search = search earlier messages
key-attach = attach a file, a folder or a picture
key-command = run a command; its output goes with your next message
key-tab = complete a command
key-esc = interrupt the turn; twice at an empty prompt: go back to an earlier message
key-output = show the whole output of the last call
key-thinking = show what the model thought last
key-editor = edit the message in your editor
key-mode = next permission mode (default, accept-edits, plan)
key-undo = at an empty prompt: undo the last memory change
key-recall = at an empty prompt: explain the last recall
key-interrupt = clear the message, then interrupt the turn; twice at an empty prompt: leave
key-suspend = stop the program; fg continues it
key-leave = leave

# Notifications

notify-done = finished
notify-asks = waits for your answer

# Memory on and off, images

memory-not-in-session = Memory is off in this session since its start.
memory-turned-on = Memory is on again.
memory-turned-off = Memory is off for this session: nothing is recalled, saved or extracted. What is in the context already stays. /memory on turns it on.
clipboard-no-program = The clipboard cannot be read: install `wl-clipboard` (Wayland), `xclip` (X11) or `pngpaste` (macOS).
clipboard-no-image = There is no image in the clipboard.
key-image = attach the image in the clipboard; images can also be dragged into the terminal
memory-instruction-files = instruction files
task-failed = The background task “{ $name }” failed: { $reason }
effort-unknown = Unknown effort `{ $name }`; use low, medium, high, xhigh, max or default.
command-ends = The background command { $id } ends with the session: { $command }
notes-none = No session notes. With the switch `session_notes` they start when the conversation fills half the window, or 40,000 tokens.
hint-searching = Earlier messages · type to search · Up, Down: choose · Enter: take · Esc: back
expand-unknown = There are no collapsed messages with the number `{ $number }`; they are numbered from 1, the oldest first.

form-intro = The MCP server `{ $server }` asks you something. Your answer goes to that server: do not enter passwords or keys.
form-answer = Answer
form-numbers = Answer with the numbers, as in 1, 3
form-expects-numbers = numbers from the list ({ $range } of them)
form-yes = Yes
form-no = No
form-skip = Leave it empty
form-decline = Do not answer
form-send = Send this to `{ $server }`?
form-send-yes = Send
form-invalid = That does not fit. Expected: { $expected }.
form-expects-number = a number{ $range }
form-expects-whole-number = a whole number{ $range }
form-expects-text = a text of { $range } characters
form-plain = This cannot be answered with --plain; the server is told so.
