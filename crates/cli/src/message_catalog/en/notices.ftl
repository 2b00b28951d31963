# Notices and errors. A message says what happened, why, and what to do next.

# Prefixes

error-line = error: { $text }
hint-line = hint: { $text }
note-line = note: { $text }

# Lists

list-truncated =
    note: { $count ->
        [one] 1 more is
       *[other] { $count } more are
    } not listed; use --limit { $all } to list all

# Sessions

session-none-to-continue = this project has no session to continue
session-none-to-continue-hint = to start a session, omit --continue
session-invalid-id = `{ $name }` is not a session id or the start of one
session-unknown = no session of this project has an id that starts with `{ $name }`
session-ambiguous = several sessions have an id that starts with `{ $name }`
session-ambiguous-hint = give more characters of the id; to list all sessions, run `dormouse sessions`
session-list-hint = to list all sessions, run `dormouse sessions`
sessions-none = No sessions in this project yet.
sessions-no-match = No session of this project contains `{ $text }`.
max-cost-without-price =
    warning: --max-cost has no effect: the price of { $model } is unknown (price list of { $dated }); add it to the setting `prices`

# Sandbox

sandbox-on = commands run in the sandbox: they write only in the project, temporary folders and package caches, and read no credentials
sandbox-on-without-network = commands run in the sandbox: they write only in the project, temporary folders and package caches, read no credentials and have no network
sandbox-off = commands run without a sandbox: the setting `sandbox.mode` is `off`
sandbox-unsupported = commands run without a sandbox: this system has none
sandbox-excluded = this command runs outside the sandbox: `sandbox.excluded` covers it
sandbox-missing = note: this system has no sandbox for commands (Linux 5.13 or later with Landlock has one); they can write wherever you can
sandbox-excluded-hint = `sandbox.excluded` has `{ $rule }`; write commands as in permission rules, such as `docker:*`

# Rewind

rewind-finished =
    { $count ->
        [one] A rewind that was cut off has been finished: 1 file restored.
       *[other] A rewind that was cut off has been finished: { $count } files restored.
    }
rewind-none = There is no message to rewind to.
rewind-how = To rewind, give the number of a message: it and everything after it are undone. Add --dry-run to preview.
rewind-how-here = /rewind N undoes message N and everything after it; /rewind N code or /rewind N conversation undoes only one of the two.
rewind-usage-here = Usage: /rewind, /rewind N, /rewind N code, /rewind N conversation; add overwrite to restore files that you changed since
rewind-no-message =
    there is no message { $number }; { $count ->
        [0] the session has none
        [one] the session has one
       *[other] the session has { $count }
    }
rewind-no-message-hint = without a number, the messages are listed
rewind-is-rewind = (a rewind; choose this number to undo it)
rewind-no-changes = no files changed
rewind-new = { $path } (new)
rewind-deleted = { $path } (deleted)
rewind-more = { $count } more
rewind-label-restore = restore
rewind-label-bring-back = bring back
rewind-label-remove = remove
rewind-label-changed = changed since
rewind-label-not-kept = not kept
rewind-branch-moved = Git was on { $then } and is on { $now } now. Files are restored; the branch is not.
rewind-incomplete = A crash cut off a command; what it changed may not be complete in this list.
rewind-dry-run = Dry run: nothing was changed.
rewind-dry-run-files = Without --dry-run, { $count ->
        [0] no file is changed
        [one] 1 file is restored
       *[other] { $count } files are restored
    }.
rewind-dry-run-conversation = Without --dry-run, message { $number } and everything after it are removed from the conversation.
rewind-dry-run-both = Without --dry-run, { $count ->
        [0] no file is changed
        [one] 1 file is restored
       *[other] { $count } files are restored
    }, and message { $number } and everything after it are removed from the conversation.
rewind-restored =
    { $count ->
        [0] No file had to be restored.
        [one] Restored one file.
       *[other] Restored { $count } files.
    }
rewind-conversation = Removed message { $number } and everything after it from the conversation.
rewind-taken-back = The rewind was undone: the messages that it removed are part of the conversation again.
rewind-skipped = left as it is: { $path } ({ $reason })
rewind-overwrite-here = Files that were changed since are left as they are. To restore them too: /rewind { $number } overwrite
rewind-no-diff = { $path }: no text, or too large to be compared here
rewind-listing-cost = Noticing what commands changed took { $seconds } s in this session.
rewind-diff-now = { $path } (now)
rewind-diff-then = { $path } (restored)

# Compaction

compacted = compacted { $method }: { $before } tokens before, { $after } after; { $percent } % of the names kept; the transcript has everything
compacted-from-notes = from the session notes, without a request
compacted-by-model = with a summary by the model
compacted-by-server = with a summary by the server
compacted-without-model = without a model
compacted-model-failed = { $notice } (no summary by the model: { $reason })

# Doctor

doctor-summary = { $ok } ok, { $warnings ->
        [one] 1 warning
       *[other] { $warnings } warnings
    }, { $problems ->
        [one] 1 problem
       *[other] { $problems } problems
    }
doctor-fix = to fix it: { $fix }
doctor-fix-value = correct or remove it

doctor-key-ok = from { $source }, for { $server }
doctor-key-ok-unused = from { $source }, for { $server }; { $unused } is also set, but not used
doctor-key-not-needed = no API key is sent to { $server }
doctor-key-fix-none =
    export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…, or OPENAI_BASE_URL=http://host:port/v1 for your own server; `dormouse demo` needs no key
doctor-key-fix-invalid = export { $variable }=… with a valid API key
doctor-key-fix-command = run the command by hand: it must print the API key and nothing else

doctor-server-ok = { $url } responds in { $milliseconds } ms
doctor-server-fix-unavailable = try again later, or configure another server
doctor-model-ok = model { $model } is available
doctor-model-first = no model is configured; using { $model }, the first one on the server
doctor-model-none-listed = the server lists no models; using { $model }
doctor-model-none = no model is configured, and the server lists none
doctor-model-fix-none = choose one with --model, DORMOUSE_MODEL or the setting `model`
doctor-model-not-listed = model { $model } is not among the { $count } models of the server
doctor-model-fix-not-listed = if requests fail, choose another one with --model; the server lists { $models }

doctor-mcp-ok = `{ $name }` responds (protocol { $protocol }), tools: { $tools }
doctor-mcp-timeout = `{ $name }` did not respond within { $seconds } s
doctor-mcp-fix-server = edit `mcpServers.{ $name }` in { $file }, or run `dormouse mcp remove { $name } --scope { $scope }`
doctor-mcp-fix-file = edit the entry of `{ $name }` in { $file }
doctor-mcp-fix-entry = correct or remove the entry; see `dormouse help mcp`

doctor-embeddings-file = word vectors in { $path }
doctor-embeddings-fix-prepare = run `dormouse memory embed`
doctor-embeddings-fix-setting = correct the setting, or remove it to search memories by words only

doctor-guards-fix-file = correct the file, or move it away
doctor-guard-ok = `{ $name }`, in { $settings }
doctor-guard-memory-missing = guard `{ $name }` in { $settings } is active, but its memory no longer exists
doctor-guard-fix-memory-missing = to remove the guard, run `{ $command }`
doctor-guard-lines-missing = guard `{ $name }` is missing from { $settings }, or incomplete
doctor-guard-fix-lines-missing = to remove it, run `{ $command }`; to restore it, use `--install`

doctor-folder-ok = { $path }: private, { $megabytes } MB free
doctor-folder-missing = { $path }: not created yet, { $megabytes } MB free
doctor-folder-unreadable = cannot read { $path }: { $error }
doctor-folder-not-a-folder = { $path } is not a folder
doctor-folder-fix-not-a-folder = move it away, or set DORMOUSE_HOME to a folder
doctor-folder-read-only = { $path } cannot be written
doctor-folder-cannot-create = { $path } does not exist and cannot be created in { $parent }
doctor-project-file-damaged = { $path } is damaged: it says whose sessions and memories are in its folder
doctor-project-file-fix = start dormouse once in that project, which writes it anew
doctor-folder-fix-permissions = check owner and permissions, or set DORMOUSE_HOME to your own folder
doctor-folder-not-private = { $path } contains conversations, and other users can read it (mode { $mode })
doctor-folder-disk-full = disk full: { $path } has { $megabytes } MB free
doctor-folder-low-space = low disk space: { $path } has { $megabytes } MB free
doctor-folder-fix-space = free some space, or set DORMOUSE_HOME to a folder on another disk

doctor-locks-no-sessions = no sessions yet
doctor-locks-free =
    { $count ->
        [one] 1 session is
       *[other] { $count } sessions are
    } closed
doctor-locks-open = session { $session } is open in process { $pid } on { $host }
doctor-locks-open-unknown = session { $session } is open in another process
doctor-locks-orphaned = session { $session } is locked, but process { $pid } on { $host } has ended: one of its child processes may still run
doctor-locks-fix-orphaned = find it with `fuser` on the session's session.lock, and stop it
doctor-locks-fix-unreadable = check owner and permissions of the folder

doctor-transcripts-none = none in this project yet
doctor-transcripts-checked = { $checked } of { $all } checked, { $damaged } with damaged lines
doctor-transcripts-damaged =
    { $file }: { $lines ->
        [one] 1 damaged line
       *[other] { $lines } damaged lines
    }; { $first }
doctor-transcripts-fix = the rest of the session is usable; restore the damaged lines from a backup if you have one
doctor-transcripts-fix-unreadable = check owner and permissions of the file

doctor-settings-none = no settings file; yours would be { $path }
doctor-settings-fix-file = correct the file, or move it away to use the defaults
doctor-settings-fix-key = correct or remove it in { $path }
doctor-settings-forbidden = a project cannot set `{ $key }`; it has no effect
doctor-settings-fix-forbidden = remove it from { $path }
doctor-settings-untrusted = some settings of this project have no effect until you trust it
doctor-settings-fix-untrusted = run `dormouse permissions trust` to review and trust them

doctor-git-repository = repository { $path } is readable
doctor-git-old = { $version } is older than { $minimum }: git commands are not treated as read-only
doctor-git-fix-old = install a newer version
doctor-git-fix-missing = install git; without it the model gets no information about branches and changes
doctor-git-owner = git does not trust { $path }: it belongs to another user
doctor-git-fix-owner = if you trust it, run: git config --global --add safe.directory '{ $path }'
doctor-git-unreadable = git cannot read { $path }: { $error }
doctor-git-fix-unreadable = run `git status` there for details

doctor-shell-missing = { $error }: commands run in sh, and every command needs confirmation
doctor-shell-old = { $version } is older than 4.4: every command needs confirmation
doctor-shell-unknown = unknown bash version `{ $version }`
doctor-shell-fix = install bash 4.4 or newer, and make sure that it is first in PATH

doctor-terminal-none = standard output is not a terminal
doctor-terminal-fix-narrow = make the terminal at least 80 columns wide: tables are truncated otherwise
doctor-locale-not-utf8 = { $variable }={ $value } is not a UTF-8 locale: non-English text may be garbled
doctor-locale-none = no locale is set: non-English text may be garbled
doctor-locale-fix = export { $variable }=C.UTF-8, or a UTF-8 locale of your language

# Common

nothing-changed = Nothing changed.
did-you-mean = did you mean `{ $name }`?

# Memory

memory-unknown = no memory is called `{ $name }`
memory-unknown-hint = to list all memories, run `dormouse memory list`
memory-ambiguous = `{ $name }` matches several memories: { $memories }
memory-ambiguous-hint = use the file name; add --scope if it exists in several scopes
memory-scope-hint = select one with --scope
memory-unreadable-files =
    note: { $count ->
        [one] 1 file
       *[other] { $count } files
    } could not be read; run `dormouse memory doctor` for details
memory-no-repo-scope = `--scope repo` is not available in your home directory
memory-no-repo-scope-hint = omit `--scope repo`, or change to a project folder
memory-directory-variable-hint = change or unset { $name }
memory-directory-setting-hint = change or unset the setting `autoMemoryDirectory`
memory-repository-moved = note: this repository was at { $path } before; its memories were moved here
memory-external-changes-skipped = note: changes made by other programs are not shown: { $error }
memory-secret-confirm = This looks like a secret ({ $rules }). Everyone who can read the file could read it. Save it anyway? [y/N]
memory-secret-found = not saved: the text contains what looks like a secret ({ $rules })
memory-secret-hint = to save it anyway, use --allow-secret
memory-change-held = the write policy held the change back
memory-change-held-hint = to review it, run `dormouse memory inbox`

memory-list-empty = No memories yet. To save one, see `dormouse memory add --help`.
memory-list-no-match = No memory matches. To list all, run `dormouse memory list` without options.
memory-age-today = today
memory-age-yesterday = yesterday
memory-age-days = { $count } days ago
memory-show-header = { $path } ({ $scope }, last changed { $age })
memory-usage = recalled { $recalled ->
        [one] once
       *[other] { $recalled } times
    } ({ $tokens } tokens), cited { $cited }, followed { $followed }, violated { $violated }; { $helped }
memory-usage-helped = last helpful { $when }
memory-usage-not-helped = not helpful yet

memory-field-empty = the { $field } of a memory must not be empty
memory-added = saved for this project as “{ $name }” (type `{ $kind }`); `dormouse memory edit { $file }` changes it, `--scope user` saves for all projects
memory-added-user = saved for all projects as “{ $name }” (type `{ $kind }`); `dormouse memory edit { $file }` changes it
memory-name-confirm = A memory named “{ $name }” exists ({ $file }). Save another one beside it? [y/N]
memory-name-exists = a memory named “{ $name }” exists: { $file }
memory-name-exists-hint = change it with `dormouse memory edit { $file }`, or pass --new to save another one beside it
memory-body-prompt = Type the text of the memory; end with Ctrl-D.
memory-body-empty = no text for the memory on standard input
memory-body-empty-hint = use --body TEXT, or --body "" if the description is enough
memory-not-saved = nothing was saved
memory-not-utf8 = { $file } is not valid UTF-8
memory-not-utf8-hint = convert it to UTF-8 first
memory-edit-hint = to edit the whole file, run `dormouse memory edit` without options
memory-removed = Moved to the trash. To restore it, run `dormouse memory undo` or `dormouse memory restore FILE`.
memory-removed-guard-stays = Its guard is still active. To remove it, run `dormouse memory guard { $path } --remove`.
memory-confirmed = Confirmed. The model can use this memory now.
memory-not-quarantined = This memory was not in quarantine.

memory-no-changes = No changes yet.
memory-only-index-changed = Only the index changed.
memory-unknown-change = there is no change { $number }
memory-unknown-change-hint = to list all changes, run `dormouse memory log`
memory-ambiguous-change = change { $number } exists in several scopes: { $scopes }
memory-undone = undid change { $number } in { $scope }: { $reason } (by { $author })
memory-undo-partial = this change is in the { $scope } memory; the other changes of the same dream are undone
memory-nothing-to-undo = there is nothing to undo

memory-inbox-empty = No proposals.
memory-inbox-hint = To decide, run `dormouse memory inbox accept ID`, `edit ID` or `refuse ID`; `--all` selects all proposals.
memory-unknown-proposal = there is no proposal { $number }
memory-unknown-proposal-hint = to list all proposals, run `dormouse memory inbox`
memory-ambiguous-proposal = proposal { $number } exists in several scopes: { $scopes }

memory-index-fixed = Fixed the index ({ $scope }), change { $change }.
memory-doctor-fix-hint = To fix the indexes, run `dormouse memory doctor --fix`.
memory-check-ok = No problems found.

memory-restore-unchanged = The memory already has this content.
memory-not-removed = `{ $name }` is not in the trash
memory-not-removed-hint = to restore an earlier version, use --change N; to list changes, run `dormouse memory log`
memory-not-in-trash = no memory in the trash is called `{ $name }`
memory-not-in-trash-hint = to list the trash, run `dormouse memory restore`; memories are kept for 30 days
memory-trash-empty = The trash is empty. Removed memories are kept for 30 days.

memory-export-empty = No memories to export.
memory-export-exists = { $path } already exists
memory-export-exists-hint = nothing was written; choose another folder
memory-import-skipped = skipped: { $reason }
memory-import-done = { $added } imported, { $known } already known, { $skipped } skipped
memory-import-undo = `dormouse memory undo { $number } --scope { $scope }` takes it back
memory-import-how = { $count } of them: `dormouse memory import --from { $agent }` imports them
memory-import-none = no other agent has memories about this project; give the path of a folder or an export to import
memory-import-nothing = { $agent } has no memories about this project (looked in { $path })
memory-import-nothing-hint = `dormouse memory import` lists what other agents know
memory-import-failed = cannot import { $path }: { $reason }
memory-import-failed-hint = `dormouse memory import --help` lists the formats; use --format to select one
memory-import-unknown-json = JSON of an unknown format
memory-import-not-json = not a folder, a markdown file or valid JSON ({ $error })
memory-import-invalid = the export cannot be read ({ $error }); export it again
not-a-folder = `{ $path }` is not a folder: { $error }

editor-failed = the editor `{ $editor }` failed; nothing was changed
output-none = No tool call has printed anything yet.
user-command-empty = Type a command after the exclamation mark, as in: !git status
rule-saved = Saved { $rule } in { $file }
editor-failed-hint = set VISUAL or EDITOR, or use options such as --body and --description
editor-no-terminal = there is no terminal for the editor `{ $editor }`
editor-no-terminal-hint = change it with --body TEXT (`--body -` reads standard input), --description or --name; or set EDITOR to a program that needs no terminal
editor-empty = `{ $editor }` saved no text; nothing was changed
editor-empty-hint = to remove a memory, run `dormouse memory rm`
editor-not-utf8 = the text saved by `{ $editor }` is not valid UTF-8
editor-text-kept = your text is in { $path }

embed-not-configured = no embedding model is configured; memories are searched by words
embed-not-configured-hint = set `embeddings.file`, or `embeddings.baseUrl` and `embeddings.model`, in your settings: see `dormouse help memory`
embed-failed-hint = embeddings computed so far are kept; run it again when the model is available
embed-busy = note: another process is computing embeddings; they are used as well
embed-prepared = note: prepared { $words } words with { $dimensions } dimensions, { $kilobytes } kB
embed-result = { $count } of { $all } memories have embeddings, { $new } of them new
embed-result-unknown = { $count } are in a language that the model does not support
embed-result-missing = { $count } have none yet

# Recall and search

search-empty = no search words given
recall-no-match = No memory matches `{ $query }`.
recall-index-age = note: time since the last check for changes by other programs: { $age }; use --fresh to check first
recall-explain =
    { $file } ({ $scope }, { $age }): score { $score }, { $confidence } % likely to help, about { $tokens } tokens; { $verdict }
recall-explain-sure = a session adds it to the conversation
recall-explain-likely = a session names it in one line, unless the list at the start of the session does
recall-explain-not-sure = a session does not add it by itself; the small model may select it
recall-explain-confidence = the probability, as log odds: { $base } for any memory, then { $parts }
recall-explain-work = topic: { $word }
recall-explain-file = open file: { $file }
recall-explain-not-searched = a session does not search for one word, or for a message such as “go on”
recall-explain-repo = never added: it is stored in the repository (the setting `memory.inRepository` changes that)
recall-explain-same = { $word } as `{ $term }`
recall-explain-family = { $word } as `{ $term }`, same word family
recall-explain-related = { $word } as `{ $term }`, related word
recall-explain-typo = { $word } as `{ $term }`, one letter different
recall-explain-company = `{ $term }`: not in the query, but frequent in the best matches
recall-explain-file-missing = lower score: a file that it refers to no longer exists
recall-explain-file-changed = lower score: a file that it refers to changed since
recall-explain-ranks = rank by words: { $words } (score { $score }); by embeddings: { $vectors } (similarity { $similarity })
recall-explain-no-rank = none
recall-without-embeddings = note: ranked by words only: { $reason }

# Guards

guard-suggested =
    { $name }: corrected { $violated ->
        [one] once
       *[other] { $violated } times
    }; to show the guard, run `dormouse memory guard { $file }`
guard-none = No guards. One is suggested after a `feedback` memory was corrected { $corrections } times.
guard-proposal =
    { $name } ({ $file }): corrected { $violated ->
        [one] once
       *[other] { $violated } times
    }
guard-confirm = Install this guard? [y/N]
guard-installed = Guard installed. To remove it, use `--remove`.
guard-not-installed = Nothing changed. To install the guard, use `--install`; to decline it, use `--refuse`.
guard-already-there = All lines are there already; installing would only link them to the memory.
guard-explain-rule = Denied calls do not run; calls under `ask` need confirmation.
guard-explain-reminder = The memory names no command or path that a rule could deny. These hooks remind the model of it when its topic comes up.
guard-active = This guard is active. To remove it, use `--remove`.
guard-incomplete = Some lines of this guard are missing. To remove the rest, use `--remove`.
guard-refused = Declined. The guard is suggested again after { $corrections } more corrections.
guard-removed = Guard removed. The rest of the file is unchanged.
guard-removed-partly = Guard removed. Some of its lines were missing already.
guard-unknown = no guard is installed for `{ $name }`
guard-unknown-hint = to list all guards, run `dormouse memory guard`
guard-no-settings = there is no settings file for the guard
guard-no-program = cannot determine the path of this program: { $error }
guard-program-not-utf8 = the path of this program is not valid UTF-8: { $path }
guard-program-not-utf8-hint = install it in a folder with a valid name

# Settings files

config-invalid-value = cannot set `{ $key }`: { $problem }
config-unchanged = nothing was changed
settings-fix-first = correct the file first; nothing was changed
settings-no-project = `--scope project` and `--scope local` are not available in your home directory
settings-no-project-hint = omit `--scope`, or change to a project folder
settings-invalid-path = { $path } is not a valid path for a settings file
settings-changed-meanwhile = { $path } was changed meanwhile
try-again = try again

# Sessions: search

search-sessions-empty-hint = give an error message, a path or the name of a function
search-sessions-no-match = No session of this project contains `{ $query }`.

# Input and confirmation

no-terminal-for-confirmation = no terminal for confirmation
stdin-unreadable = cannot read standard input: { $error }
nothing-was-changed-hint = nothing was changed

# Setup of other agents

setup-done = Setup complete. Restart the agent.
setup-undone = Setup removed.
setup-already-done = Already set up.
setup-nothing-to-undo = Nothing to remove.
setup-confirm = Make these changes? [y/N]
setup-confirm-hint = review the changes above, then run the command again with --yes
setup-no-home = HOME is not set, so the agent's configuration cannot be found
setup-no-home-hint = set HOME

# Hooks

hook-unknown-event = there is no hook event `{ $name }`
hooks-none = No hooks.
hooks-none-for-event = No hooks for { $event }.
hooks-invalid = warning: a hook will not run: { $problem }
hooks-events-hint = events: { $events }
hooks-input-not-json = --input is not valid JSON: { $error }
hooks-input-hint = it is the tool input, as in '{ "{" }"command":"git push"{ "}" }'

# Messages to sessions

send-empty = the message is empty
send-empty-hint = give the message as an argument or on standard input
send-summary-hint = set it with --summary

# Settings

config-set = { $key } set
config-unset = { $key } unset
config-was-not-set = { $key } was not set
config-unknown = unknown setting `{ $key }`
config-unknown-hint = nothing was changed; `dormouse config schema` lists all settings
config-not-set = `{ $key }` is not set
config-not-set-hint = `dormouse config list --all` lists the settings with a value or a default, `dormouse config schema` all settings

# Permissions and trust

permissions-unknown-tool = there is no tool `{ $name }`
permissions-unknown-tool-hint = tools: { $names }
trust-given = Trusted.
trust-revoked = Trust revoked.
trust-was-not-given = The project was not trusted.
trust-kept = note: you made this change, so it is trusted; to withdraw the trust, run `dormouse permissions trust --revoke`
trust-no-effect = note: this project is not trusted, so some of its settings have no effect ({ $keys }); to review and trust them, run `dormouse permissions trust`
trust-no-effect-changed = note: this project changed since you trusted it, so some of its settings have no effect ({ $keys }); to review and trust them, run `dormouse permissions trust`
trust-already-given = Already trusted.
trust-not-needed = Nothing to trust: the project's settings run nothing and grant no permissions.
trust-yes-hint = review the list above, then run `dormouse permissions trust --yes`

# Agent definitions

agent-problem = warning: agent definition: { $problem }
agent-not-loaded = warning: an agent definition is not used: { $problem }

# Embeddings

embeddings-unavailable = note: memories are ranked by words only: { $reason }
embeddings-hint = `dormouse help memory` explains how to set up an embedding model

# Plugins

plugin-none = No plugins. To install one from a folder or git URL, run `dormouse plugin install`.
plugin-installed = Installed { $name } from { $source }.
plugin-installed-untrusted =
    Not trusted, so nothing in it is used. To trust it, run `dormouse plugin trust { $name }`; to remove it, run `dormouse plugin remove { $name }`.
plugin-enabled = { $name } enabled
plugin-disabled = { $name } disabled
plugin-removed = { $name } removed
plugin-contents = It would run:
plugin-contents-changed = It changed since you trusted it. It would run:
plugin-hook-invalid = a hook will not run: { $problem }
plugin-trust-confirm = Trust this plugin? Answer yes only if you know who wrote it. [y/N]
plugin-not-trusted = the plugin is not trusted
plugin-trust-yes-hint = review the list above, then run `dormouse plugin trust { $name } --yes`
plugin-unknown-hint = to list all plugins, run `dormouse plugin list`
plugin-invalid-hint = correct it, then install it again

# MCP

ui-running = The viewer runs until you press Ctrl-C. The address works once.
ui-open-it = No browser could be started: open the address yourself.
mcp-token-note = Clients must send the token in { $path }: Authorization: Bearer TOKEN
mcp-no-memory-folder = this project has no memory folder
mcp-no-memory-folder-hint = to show the memory folders, run `dormouse memory path`
mcp-none = No MCP servers. To add one, run `dormouse mcp add`.
mcp-timeout = no response within { $seconds } s
mcp-invalid = invalid entry: { $reason }
mcp-untrusted = needs trust: run `dormouse permissions trust`
mcp-switched-off = { $name } is switched off
mcp-added = Added MCP server `{ $name }` to { $file }.
mcp-replaced = Replaced MCP server `{ $name }` in { $file }.
mcp-already-configured = MCP server `{ $name }` is already configured in { $file }.
mcp-removed = Removed MCP server `{ $name }` from { $file }.
mcp-needs-trust = It is used after you trust this project: run `dormouse permissions trust`.
mcp-unknown-in-file = there is no MCP server `{ $name }` in { $file }
mcp-found-in-file = it is configured in { $file }{ $removal }
mcp-list-hint = to list all servers, run `dormouse mcp list`
mcp-login-open = Open this address in a browser to log in to `{ $name }`; waiting…
mcp-login-page = You are logged in. You can close this window.
mcp-login-failed = not logged in to `{ $name }`: { $reason }
mcp-logged-in = Logged in to `{ $name }` at { $issuer }.
mcp-logout-failed = the tokens for `{ $name }` were removed here, but { $reason }
mcp-logged-out = Logged out of `{ $name }`.
mcp-not-logged-in = There is no login for `{ $name }`.
mcp-unknown = there is no MCP server `{ $name }`
mcp-missing-dashes = `{ $word }` must come after `--`
mcp-missing-dashes-hint = write the command after `--`: `dormouse mcp add { $name } -- { $command }`
mcp-invalid-pair = `{ $text }` is not a valid { $kind }: expected `Name{ $separator }value`
mcp-url-and-command = a server has either a URL or a command, not both
mcp-no-server = no command or URL given for `{ $name }`
mcp-no-server-hint = run `dormouse mcp add { $name } -- PROGRAM ARGUMENTS` or `dormouse mcp add { $name } --url URL`

# Interactive mode: /cost

tokens = { $count } tokens
cost-new-input = new input
cost-cache-written = cache written
cost-cache-read = cache read
cost-output = output
cost-total = cost
cost-background = subagents and background tasks
cost-unknown = no price for { $model }; add it to the setting `prices`

# Command line

command-behind-options = `{ $name }` is a command, and options stand behind it: run `dormouse { $line }`, or `dormouse -p { $line }` to send it as a prompt
command-unknown = unknown command `{ $name }`
command-unknown-hint = to send it as a prompt, run `dormouse -p { $name }`
interactive-needs-terminal = interactive mode needs a terminal ({ $stream } is not a TTY)
interactive-needs-terminal-hint = use -p: dormouse -p "your question"
output-format-needs-print = --output-format needs -p

# Dreams

dream-running = Dreaming …
dream-catching-up = Extracting memories from earlier sessions …
dream-interrupted = Interrupted. Nothing changed.
dream-not-started = no dream: { $reason }
dream-now-hint = hint: use --now to dream anyway
dream-none = No dreams yet.
dream-report-unchanged = { $scope } memory: { $count ->
        [one] 1 memory
       *[other] { $count } memories
    } unchanged
dream-report-refused = refused: { $change }
dream-report-left-out = left out: { $change }
dream-memory-off = memory is switched off here, so there is nothing to dream about
dream-memory-off-hint = `dormouse config list` shows which setting switches it off
memory-saved-note = memory: { $change }; to undo it, run `dormouse memory undo`
signals-failed = cannot listen for signals: { $error }

# Statistics and profiles

stats-head-purpose = requests for
stats-head-model = model
stats-head-sent = sent
stats-head-failed = failed
stats-head-input = tokens in
stats-head-cached = cached
stats-head-output = out
stats-head-cost = cost
stats-head-time = time
stats-head-layer = layer
stats-head-fired = fired
stats-head-freed = tokens freed
stats-head-changed = changed
stats-head-summaries = summaries
stats-head-prefix = prefix changed
stats-head-tool = tool
stats-head-calls = calls
stats-head-denied = denied
stats-head-stored = stored
stats-head-task = background task
stats-head-runs = runs
stats-head-skipped = skipped
stats-head-killed = killed
stats-head-requests = requests
stats-requests = { $count ->
        [one] 1 request
       *[other] { $number } requests
    }
stats-sessions = { $count ->
        [one] 1 session
       *[other] { $number } sessions
    }
stats-period = { $first } to { $last }
stats-overview = { $when }, { $sessions }
stats-spent = { $requests }, { $input } tokens in{ $cached }, { $output } out
stats-cached = {" "}({ $percent } from the cache)
stats-cost = cost { $cost }
stats-cost-unknown = cost unknown: no price for the model of { $requests }
stats-cost-partly = cost { $cost }, and { $requests } without a known price
stats-cache-breaks = unannounced cache breaks
stats-break-model = the model changed
stats-break-system = the system prompt changed
stats-break-tools = the tools changed
stats-break-options = the options of the request changed
stats-break-head = the system prompt or the tools changed
stats-break-message = an earlier message changed
stats-break-expired = the cache had expired
stats-break-unknown = unknown: the request had not changed
stats-summaries = summaries per session: { $number }
stats-kept = kept by the summaries of { $layer }: { $names } % of names, { $messages } % of your messages
stats-memories-kept = memories: { $written } written, { $corrected } corrected, { $undone } undone, { $dropped } proposed and dropped
stats-memories-used = memories: { $recalled } recalled, { $cited } cited, { $helpful } helpful
stats-pollution = corrected or undone of those written: { $percent }
stats-breaker = circuit breaker { $name }: opened { $times ->
        [one] 1 time
       *[other] { $times } times
    }; still open in { $open }
stats-unknown-kind = { $count ->
        [one] 1 metric
       *[other] { $count } metrics
    } of unknown kind { $kind }
stats-unreadable = { $count ->
        [one] 1 line
       *[other] { $count } lines
    } of the log unreadable
stats-title = Metrics of { $scope }
stats-none = No requests to a model yet in { $scope }: nothing in { $folder }.
stats-none-since = No requests to a model in { $scope } since { $since }: nothing in { $folder }.
stats-none-all = No requests to a model yet: nothing in { $folder }.
stats-none-all-since = No requests to a model since { $since }: nothing in { $folder }.
stats-from = from { $folder }
stats-scope-session = session { $name }
stats-scope-all = all projects
stats-scope-project = this project (--all for all projects)
stats-invalid-since = invalid value `{ $text }` for --since
stats-invalid-since-hint = use a period or a date, as in 12h, 7d, 4w or 2026-11-02
profile-written = Written to { $path }.
profile-not-writable = cannot write `{ $path }`: { $error }
profile-not-writable-hint = use --html with a file in an existing folder
profile-window-hint = set --window to the context window of the model
profile-more-skipped = warning: { $count } more lines were skipped
profile-unpriced = warning: { $count } requests used a model without a known price and count as free; add it to the setting `prices`
profile-log-has-more = warning: the session's log has { $requests } more requests than the transcript, with { $tokens } tokens ({ $cost }): responses that broke off before anything was kept
profile-log-has-less = warning: the session's log is incomplete; the transcript is used, and requests beside the conversation are missing
profile-no-cache = none: no request read or wrote a cached prefix
profile-cache-unknown = unknown: the server reported no counts
profile-purposes = All requests of the session, by its log:
profile-status-fired = fired
profile-status-idle = on, idle
profile-status-simulated = simulated
profile-status-not-offered = not offered
profile-layers-note =
    fired: acted in this session. idle: was on, and nothing was due. simulated: was off,
    or not known; what it would have done. not offered: not by this model's server.
    kept out: tokens that the layer kept out of all requests together, or would have.
    with, without: one is the actual cost, with the layer's own calls as far as the log
    has them; the other is an estimate, for this layer alone with all else unchanged.
profile-no-file = cannot read the file `{ $name }`
profile-no-file-hint = give the path of a transcript, or the id of a session (see `dormouse sessions`)
profile-unknown-session = this project has no session `{ $session }`
profile-unknown-session-hint = to list all sessions, run `dormouse sessions`; for a session of another project, give the path of its transcript
profile-no-requests = nothing to profile: { $path } contains no model response ({ $lines } lines, { $damaged } unreadable)
profile-no-requests-hint = a transcript has one JSON object per line: see `dormouse help transcript`
profile-no-answer = nothing to show: the model has not answered yet in { $path }
file-unreadable = cannot read { $path }: { $error }

# Instruction files outside the project

include-outside = { $who } includes { $file } as instructions, which is outside the project. Read it? [y/N]
include-refused = It is not read, and you will not be asked again; to be asked again, run `dormouse permissions trust`.
include-asked-again = At the next start you are asked again about the files outside the project that you refused.

# The manual

manual-topics = Manual pages, for `dormouse help TOPIC`: { $topics }
manual-unknown = no manual page or command is named `{ $topic }`
manual-options = For the options, run `dormouse { $command } --help`.
cost-share-spent = their share of the cost is used up: only what you ask for runs; setting `background.maxShare`
short-prompt-set = note: context window of { $tokens } tokens (configured): using the short system prompt
short-prompt-name = note: context window of { $tokens } tokens (from the model name): using the short system prompt
short-prompt-server = note: context window of { $tokens } tokens (reported by the server): using the short system prompt
model-info-late = note: the server did not say within { $seconds } s how large the window of { $model } is; a usual size is assumed in this session (`contextWindows` in the settings sets it)
short-prompt-assumed = note: context window of { $tokens } tokens (assumed): using the short system prompt
setup-undo-first = It is set up already, in another way. Run `dormouse setup { $agent } --undo` first, then this again.
setup-no-hooks = `{ $agent }` has no hooks, so its sessions cannot be read; `--extract` works for claude-code
setup-no-extraction = Nothing is learned from its sessions. To turn that on, run `dormouse setup claude-code --undo`, then set it up again with `--extract PROVIDER`.
setup-cannot-extract = The agent can read and save memories. Nothing is learned from its sessions by itself: it has no hooks.
setup-unknown-provider = there is no provider `{ $provider }`
setup-unknown-provider-hint = use one of { $providers }, or the address of a server such as http://127.0.0.1:8080/v1
setup-whole-path = note: `dormouse` is not found by its name, so the agent is told its path: { $path }

## Team memory

team-no-directory = there is no folder for team memory here
team-no-remote = this project has no git remote, so its team cannot be named
team-no-remote-hint = add a remote, or name the repository with `--repository HOST/OWNER/REPO`
team-no-token = there is no token for the team server
team-no-token-hint = get a token from an admin of the team (`dormouse team token create NAME`), then run `dormouse team join`
team-token-variable-hint = set { $name } to a whole token, or unset it
team-token-prompt = Token (it is not shown):
team-unreachable-hint = check the address and the network; local changes are kept and sent with the next sync
team-not-joined = this project has not joined a team
team-not-joined-hint = run `dormouse team join URL`; `dormouse team serve` runs a server
team-joined = Joined { $repository } as { $person } ({ $role }).
team-layer-off = The layer `team` is off; nothing is synced.
team-layers-off = Turned off for everybody in this repository: { $layers }
team-config-hint = the keys are listen, database, tlsCert, tlsKey, maxEntries, rate and log
team-tls-half = a certificate needs its key, and a key its certificate
team-tls-half-hint = set both, or neither for plain http
team-variable = { $name } is `{ $value }`
team-variable-hint = use { $expected }
team-session-layers = { $layers }. It counts from the next session on.
team-layers-none-off = No layer is off.
team-left = Left the team. The memories stay in this project.
team-pushed = sent { $name }
team-proposed = proposed { $name }; an admin decides about it
team-waiting = waiting for a review: { $name }
team-pulled = received { $name }, by { $author }
team-came-back = { $name } came back: deleting a file here does not delete it for the team; use `dormouse team rm { $name }`
team-removed = removed { $name }; it stays in the history
team-replaced = { $name }: your version replaced one by { $author }, which stays in the history (`dormouse team log { $name }`)
team-replaced-deleted = { $name }: it had been deleted for everybody; your version brought it back
team-held-back = not synced: { $file }: { $reason }
team-postponed = not sent yet: { $name }; others were faster, run `dormouse team sync` again
team-up-to-date = Up to date.
team-status = { $repository } on { $server }, version { $version }; you are { $person } ({ $role })
team-status-review = Changes by writers need a review; open proposals: { $count }
team-log-deleted = deleted
team-restored = { $name } has the content of version { $version } again
team-rm-unconfirmed = no terminal for confirmation
team-rm-unconfirmed-hint = pass --yes
team-rm-confirm = Delete { $name } for everybody? It stays in the history. [y/N]
team-rm-done = Deleted { $name } for everybody.
team-review-on = Changes by writers need a review from now on.
team-review-off = Changes by writers apply at once from now on.
team-accepted = Accepted { $name }.
team-rejected = Rejected { $name }.
team-no-proposals = No open proposals.
team-proposal = { $id }: { $name }, by { $author }
team-first-token = The database is new. This is the admin token; it is shown only once:
team-serving = Team server: { $url }
team-serving-plain = warning: without TLS, tokens and memories cross the network in plain text; pass --tls-cert and --tls-key, or listen behind a proxy
team-stopping = Stopping; requests under way are finished.
team-token-created = Token for { $person } ({ $role }); it is shown only once:
team-token-revoked = Revoked { $id }.
team-token-revoked-mark = revoked
team-token-unknown = there is no valid token { $id }
team-token-unknown-hint = `dormouse team token list` shows the ids
team-backed-up = Wrote { $lines } rows.
team-backup-restored = Restored { $lines } rows.
team-purge-confirm = Revoke all tokens of { $person }, and with --entries remove everything they wrote? [y/N]
team-purged = Revoked tokens: { $tokens }; removed versions: { $versions }
team-session-news = Team memory: { $count ->
    [one] 1 change
   *[other] { $count } changes
} received: { $names }
team-session-failed = Team memory is not synced: { $reason }
team-session-off = Team memory is off in this session: { $reason }
memory-promote-team = this memory belongs to the team already
memory-promote-quarantined = this memory came from an external source and was not confirmed
memory-promote-quarantined-hint = review it, then run `dormouse memory confirm { $name }`
memory-promote-refused = the memory was not promoted
memory-promote-refused-hint = edit it, or pass --force
memory-promote-repeats = It only repeats { $file }.
memory-promote-contradicts = It contradicts { $file }.
memory-promote-anchor = It refers to { $path }, which is gone.
memory-promoted = Saved for the team; the next sync sends it. Your own copy stays.
memory-promoted-alone = Saved for the team. This project has not joined one: `dormouse team join URL` sends it. Your own copy stays.

acp-always = Yes, and don't ask again for such calls in this session
acp-mode-refused = there is no mode `{ $mode }` here, or it allows more than the agent was started with
acp-session-unknown = there is no session { $id }; open it with session/new or session/load
acp-max-cost = the cost limit was reached before the model finished
acp-busy = a turn of this session is running; cancel it first
acp-cwd-relative = the working directory `{ $cwd }` must be an absolute path
acp-command-terminal = this command needs the terminal: run `dormouse --resume` there
acp-servers-question = Start the MCP servers that the editor brings along?
acp-servers-always = Yes, and always in this project, as they are now
acp-server-unsupported = warning: the editor's MCP server { $name } is left out: { $kind } is not supported; use stdio or http

# Why a call may run or not

reason-agent-asks = the agent { $agent } asks: { $reason }
reason-plan-mode = { $reason }. Plan mode allows no changes.
reason-agent-reads = { $reason }. This agent may only read.
reason-rule-denies = the rule `{ $rule }` denies it
reason-rule-asks = the rule `{ $rule }` asks first
reason-rule-allows = the rule `{ $rule }` allows it
reason-rule-hides = the rule `{ $rule }` denies reading { $file }, which it can reach
reason-read-only = it only reads
reason-read-only-command = the command only reads
reason-bypass = everything is permitted in this mode
reason-edits-accepted = edits in the working directory are accepted
reason-sandboxed = it runs in the sandbox
reason-unknown-tool = { $tool } may change something
reason-request = it sends a request to `{ $host }`
reason-program = `{ $part }` is not known as a read-only command
reason-git-subcommand = `git { $part }` is not a read-only git subcommand
reason-flag = `{ $part }` may do more than read
reason-writes-file = `{ $part }` writes to a file
reason-modifies-files = `{ $part }` may modify files
reason-deletes-files = `{ $part }` deletes the files it finds
reason-changes-repository = `{ $part }` may change the repository
reason-runs-program = `{ $part }` runs a program
reason-writes = it writes { $path }
reason-credentials = it can read { $path }, which may hold keys or passwords
reason-reads-outside = it reads { $path }, outside the project
reason-outside = { $path } is outside the working directory
reason-configuration-file = { $path } is a configuration file that programs load at startup
reason-configuration-folder = { $path } is in `{ $folder }`; files there configure programs

# Notices of the engine

notice-attached = attached { $path }
notice-not-attached = not attached: { $problem }
notice-too-many-files = only the first { $most } files are attached
notice-results-cleared = { $count } old tool results are left out from now on, which is cheaper (about { $tokens } tokens less); the newest stay
notice-messages-collapsed = { $count } older messages are shown to the model as a summary from now on (about { $tokens } tokens less); /expand restores them
notice-messages-dropped = The context window is filling up: the oldest { $count } messages are left out from now on (about { $tokens } tokens); the transcript keeps them
notice-cache-broken = The server read { $read } tokens from its cache instead of { $expected }: { $cause }
notice-compaction-refused = A hook refused the compaction: { $why }
notice-turn-ended = A hook ended the turn: { $why }
notice-stop-hook = A Stop hook continued the turn { $times } times in a row; it is not asked again.

# Subagents

agent-general-purpose = Carries out a task of several steps on its own: research over many files, a change with its tests, anything for which no other agent fits better.
agent-explore = Looks around in the code base quickly and only reads: where something is, how it works, what uses it. Say how thorough it should be.
agent-plan = Works out how to build or change something and only reads: steps, files, risks. Use it before larger work.
agent-guide = Answers questions about Dormouse itself: its commands, settings, memory, hooks, agents and plugins, from its manual.
agent-statusline-setup = Sets up the line above the prompt in Dormouse: what it shows, and the command that prints it.
agent-origin-built-in = built in
agent-origin-plugin = plugin { $name }
agent-origin-user = user
agent-origin-project = project
agent-origin-command-line = command line
agent-origin-managed = managed
agent-memory = { $scope } memory
agent-in-background = in the background
agent-done = done
worktrees-none = No worktrees of subagents are left in this repository.
worktree-clean = nothing would be lost
worktree-would-lose = uncommitted files: { $files }; commits only here: { $commits }
worktree-removed = removed
worktree-confirm = Remove it with all that is listed? [y/N]
worktrees-kept = kept because of what would be lost: { $count }
worktrees-kept-hint = merge or copy what you need, or pass --yes to remove them all the same
memory-no-agent = there is no subagent `{ $name }` with a memory
memory-no-agent-hint = subagents with a memory: { $agents }; `dormouse agents` lists all
agent-interrupted = interrupted ({ $id }); /agents resume goes on with it
agents-interrupted = { $count ->
    [one] note: a subagent was interrupted: { $names }. Ask the model to go on with it, or use /agents resume NAME.
   *[other] note: { $count } subagents were interrupted: { $names }. Ask the model to go on with them, or use /agents resume NAME.
}
agent-requests =
    { $count ->
        [one] 1 request
       *[other] { $count } requests
    }
notice-background-hook = a background hook has a message for the model
notice-agent-done = agent { $name } is done: { $task }
notice-agent-failed = agent { $name } failed: { $task }
notice-agent-stopped = agent { $name } was stopped: { $task }

# Labels of dormouse doctor

doctor-status-ok = ok
doctor-status-warning = warning
doctor-status-problem = problem
doctor-area-settings = settings
doctor-area-key = key
doctor-area-server = server
doctor-area-embeddings = embeddings
doctor-area-guards = guards
doctor-area-folders = folders
doctor-area-locks = locks
doctor-area-transcripts = transcripts
doctor-area-sandbox = sandbox
doctor-area-terminal = terminal
output-style-unknown = Output style { $name } not found; available: { $known }
web-search-no-url = webSearch needs `url`, the address of the SearXNG server
web-search-bad-url = webSearch.url is { $url }; it must be an address with http:// or https://, without a password
web-search-no-key = no key for web search: the variable { $variable } is not set
notice-web-search = searched the web: { $query }
notice-web-results = found on the web:

# The model server

server-too-long = the conversation is too long for the model: { $said }
server-too-long-by = the conversation is too long for the model ({ $used } tokens, { $limit } allowed): { $said }
server-too-long-limit = the conversation is too long for the model ({ $limit } tokens allowed): { $said }
server-too-large = the request is too large for the server (too many bytes, often images): { $said }
server-thinking = the server refused a thinking block of an earlier answer: { $said }
server-rate-limited = the server limits the rate of requests: { $said }
server-overloaded = the server is overloaded: { $said }
server-fault = the server failed with status { $status }: { $said }
server-bad-key = the server did not accept the key: { $said }
server-billing = the account's credit or spending limit is used up: { $said }
server-not-allowed = the key is not allowed to do this: { $said }
server-not-found = the server does not know this model or address: { $said }
server-invalid-request = the server refused the request (status { $status }): { $said }
server-unreachable = no connection to { $url }: { $problem }
server-none = there is no server at { $url } ({ $problem })
server-unknown-host = the host of { $url } is not known ({ $problem })
server-broken-stream = the response broke off: { $said }
server-stalled = the server sent nothing for { $seconds } seconds
server-malformed = the server's response cannot be read: { $said }
server-hint-saved = the session is saved; try again: dormouse -p --continue "continue"
server-hint-key = the key came from { $source }; set { $variable } to a valid key and try again
server-hint-no-key = no key was sent; set { $variable } to a valid key and try again
server-hint-not-allowed = the key has no access to this model; choose another with --model, or use another key
server-hint-not-found = check the model name (--model) and the server address
server-hint-billing = see the billing page of the account; a retry does not help
server-hint-too-long = start a new session without --continue; if the context window is larger, set DORMOUSE_CONTEXT_WINDOW
server-hint-too-large = start a new session with fewer or smaller images
server-hint-address = check that the server is running and its address is right (ANTHROPIC_BASE_URL, OPENAI_BASE_URL or provider.baseUrl)
server-hint-thinking = start a new session without --continue
server-hint-stalled = for a slow server, increase DORMOUSE_IDLE_TIMEOUT_MS
provider-none = no model is set up
provider-no-key = no key for { $url }: the variable { $variable } is not set
provider-bad-key = the key from { $variable } has characters that no key has (a space, a line end?)
provider-hint-export = export { $variable }=… and try again
provider-hint-value = fix or remove it
provider-hint-running = { $name } seems to be running on this machine; to use it: export OPENAI_BASE_URL={ $url } DORMOUSE_MODEL={ $model }
provider-hint-anthropic = with an Anthropic API key:  export ANTHROPIC_API_KEY=…
provider-hint-openai = with an OpenAI API key:     export OPENAI_API_KEY=…
provider-hint-own = with your own server:       export OPENAI_BASE_URL=http://host:port/v1 (or ANTHROPIC_BASE_URL)
provider-hint-demo = to try it without a model, run `dormouse demo`; memory, recall, search, sessions, context, stats, config and doctor need none
tokens-invalid = { $name } is `{ $value }`, not a number of tokens
tokens-invalid-hint = set { $name } to a whole number such as 32768, or unset it
