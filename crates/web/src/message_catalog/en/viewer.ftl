# Texts of the viewer. Both languages have the same messages; a test compares them.

age-days = { $count } d ago
age-today = today

anchor-changed = changed since
anchor-file-gone = file is gone
anchor-fresh = unchanged
anchor-symbol-gone = symbol is gone

change-added = Added
change-changed = Changed
change-diff = Show what changed
change-index = The index
change-more = and { $count } more
change-number = change { $number }
change-removed = Removed
change-restore = Restore this version
change-sources = Based on
change-undo = Undo
change-undo-dream = Undo the whole dream
change-undone = undone

changes-none = No changes yet.
changes-title = Changes

chart-table = Show as a table

checkpoints-cut-off = A command of this turn was cut off; what it changed is not known.
checkpoints-none = This session changed no files, or its checkpoints are older than the limit.
checkpoints-not-kept = The content was not kept: too large, binary, or not a file.
checkpoints-rewind = Rewind at line { $line } of the transcript
checkpoints-turn = Turn at line { $line } of the transcript

diff-absent = Does not exist.
diff-after = After
diff-before = Before
diff-label = Changed lines
diff-none = No difference.
diff-too-long = Too long to compare line by line.

doctor-file = File
doctor-fix = Fix the index
doctor-hint = Checks the index, the files, their anchors, secrets and repeated texts. `dormouse memory lint` also finds memories that contradict each other.
doctor-message = Message
doctor-more = { $count } more are not shown; `dormouse memory doctor` lists all.
doctor-ok = No problems found.
doctor-problem = Problem
doctor-title = Doctor

done-accepted = Proposal accepted.
done-confirmed = Confirmed: the memory may be recalled from now on.
done-fixed = Index fixed.
done-refused = Proposal refused.
done-removed = Moved to the trash. It can be restored for 30 days.
done-restored = Restored.
done-saved = Saved.
done-unchanged = Nothing changed.
done-undone = Undone.

dream-actions = What it did, and why
dream-added = added
dream-before-after = Before and after
dream-completed = { $count ->
        [one] Improved 1 memory
       *[other] Improved { $count } memories
    }
dream-corrected = corrected
dream-failed = Failed: { $reason }
dream-left-out = Left out
dream-merged = merged
dream-no-actions = It changed nothing.
dream-overtaken = not done: the memory was changed meanwhile
dream-previewed = { $count ->
        [one] Would improve 1 memory
       *[other] Would improve { $count } memories
    }
dream-refusals = Refused during the dream
dream-refused = refused: { $reason }
dream-remove-new = Remove this memory
dream-removed = removed
dream-restore-old = Restore this memory
dream-stopped = Stopped; nothing was changed
dream-take-back = Take back this change
dream-unchanged = nothing had to change
dream-undo-hint = This undoes all changes of the dream together. Each file below can also be taken back alone.
dream-waits = waits in the inbox

dreams-hint = A dream merges, corrects and removes memories after several sessions.
dreams-none = No dreams yet. A dream merges and corrects memories while you are away. What it changed is shown here, and each of its changes can be undone here. `dormouse dream --now` starts one.
dreams-requests = { $count ->
        [one] 1 request
       *[other] { $count } requests
    }
dreams-sessions = { $count ->
        [one] 1 session
       *[other] { $count } sessions
    }
dreams-title = Dreams

edit-again = Edit the text again
edit-allow-secret = This is not a secret, or I want to save it anyway
edit-cancel = Cancel
edit-changes = What would change
edit-conflict = This memory was changed meanwhile.
edit-conflict-hint = Your text is below and nothing is lost. The difference shows your text against the memory as it is now; saving replaces that.
edit-findings = Problems with this text:
edit-hint = The lines between --- are the frontmatter. You see what would change before anything is saved.
edit-label = Text of the memory
edit-line = Line { $line }:
edit-preview = Show what would change
edit-refused = Not saved: { $reason }
edit-save = Save
edit-secret = Not saved: this looks like a secret ({ $rules }).
edit-title = Edit { $name }

entry-continue = Continue to the viewer
entry-foreign = Refused
entry-foreign-hint = The viewer accepts only requests of its own pages, under a name of this machine.
entry-no-cookie = Not signed in
entry-no-cookie-hint = Open the address that `dormouse ui` printed. It works once; start the command again for a new one.
entry-used = This address was already used
entry-used-hint = It works once. If you did not open it, stop the viewer and start it again.
entry-welcome = Opening the viewer…

error-not-found = Not found
error-title = That did not work

evidence-body = it has words of the text
evidence-correction = the text is about the last answer only
evidence-general = the text asks for general knowledge
evidence-matched = it has many of the words of a sentence
evidence-presentation = the text is about wording or looks
evidence-wording = memories often help with texts worded like this
evidence-wording-low = memories seldom help with texts worded like this
evidence-rank = other memories rank before it
evidence-subject = its name or description has words of the text
evidence-margin = it matches better than other memories
evidence-margin-low = other memories match better
evidence-missing-names = it lacks names that are in the text
evidence-common = the text has words that any project has
evidence-strength = it has many or rare words of the text
evidence-strength-low = it has few words of the text
evidence-name = its name is in the text
evidence-similarity-margin = closer in meaning than any other memory
evidence-similarity-margin-low = another memory is closer in meaning
evidence-files = it is about a file that is open
fact-anchors = About these files
fact-changed = Changed
fact-created = Created
fact-file = File
fact-sources = Sources
fact-supersedes = Replaces
fact-trust = Trust
fact-type = Type

figures-all-projects = All projects
figures-breaks = Cache breaks
figures-by-model = By model
figures-by-task = By task
figures-cache-hit = Read from the cache
figures-cache-tooltip = { $day }: { $tokens } input tokens, { $rate } read from the cache
figures-cited = Cited in an answer
figures-corrected = Corrected or undone
figures-cost = Cost
figures-cost-by-day = Cost by day
figures-day = Day
figures-days = Last { $count } days
figures-helped = Times a memory helped
figures-helpful = Helpful (cited or followed)
figures-kept-messages = User messages kept
figures-kept-names = Identifiers kept
figures-layers = Context layers
figures-memory-by-day = Memories by day
figures-memory-tooltip = { $day }: { $recalled } recalled, { $written } saved, { $corrected } corrected or undone
figures-name = Name
figures-none = No figures in this period.
figures-period = Period
figures-pollution = Pollution
figures-projects = Projects
figures-put-in = Put into a conversation
figures-recall = Recall: put in, cited, helpful
figures-recall-how = Counted at the end of each turn: a memory that stays in the context can help in several.
figures-recall-none = No memory was recalled, cited or followed in this period.
figures-recalled = Memories recalled
figures-requests = Requests
figures-sessions = Sessions
figures-show = Show
figures-summaries = Summaries
figures-this-project = This project
figures-title = Figures
figures-tokens-by-day = Input tokens by day
figures-written = Saved

filter-age = Age
filter-age-day = 1 day
filter-age-month = 30 days
filter-age-older = over 90 days
filter-age-week = 7 days
filter-all = all
filter-anchors = Files
filter-anchors-broken = gone
filter-anchors-changed = changed
filter-anchors-fresh = unchanged
filter-anchors-none = names none
filter-scope = Scope
filter-state = State
filter-trust = Trust
filter-type = Type

history-none = The history has no changes of this memory.
history-title = History of { $name }

inbox-accept = Accept
inbox-accept-edited = Accept as edited
inbox-edit = Edit before accepting
inbox-effect = Proposal { $id }: adds { $added }, changes { $changed }, removes { $removed }
inbox-empty = Nothing is waiting.
inbox-hint = Proposed changes that need your decision.
inbox-refuse = Refuse
inbox-title = Inbox

layer-auto-compact = summary when the window is nearly full
layer-cache-edits = old results deleted in the server's cache
layer-collapse = old spans folded into summaries
layer-named = { $does } ({ $name })
layer-notes-compaction = summary from the session notes
layer-server-clearing = old results cleared by the server
layer-server-compaction = summary written by the server
layer-snip = oldest rounds dropped
layer-stored-results = long results stored in files
layer-time-clearing = old results cleared
match-company = “{ $term }” often occurs with words of the message
match-family = “{ $word }” matches “{ $term }”, a form of the same word
match-related = “{ $word }” is related to “{ $term }”
match-same = “{ $word }” is in the memory as “{ $term }”
match-typo = “{ $word }” is close to “{ $term }”
match-work = “{ $word }” is about the work at hand
match-file = it is about the open file { $file }

memories-count = { $count ->
        [one] 1 memory
       *[other] { $count } memories
    }
memories-matching = { $count } of { $all }
memories-no-match = No memory matches.
memories-none = No memories yet. `dormouse memory add` saves the first.
memories-title = Memories

memory-about = About
memory-confirm = Confirm
memory-edit = Edit
memory-history = History
memory-problems = There is something wrong with this memory's file:
memory-quarantined = In quarantine: its words come only from outside, so it is not recalled until you confirm it.
memory-remove = Move to the trash
memory-text = Text
memory-was-removed = This memory was removed on { $when } by { $author }. It can be restored for 30 days.

nav-changes = Changes
nav-doctor = Doctor
nav-dreams = Dreams
nav-figures = Figures
nav-inbox = Inbox
nav-label = Pages
nav-memories = Memories
nav-read-only = read-only
nav-sessions = Sessions
nav-skip = Skip to the content
nav-team = Team

pager-label = Pages of the list
pager-next = Next
pager-position = Page { $page } of { $pages }
pager-previous = Previous

profile-after = tokens after
profile-all-requests = All requests
profile-at = at
profile-before = tokens before
profile-breaks = Cache breaks
profile-broke = cache lost
profile-cache-unknown = The server reported no counts, so nothing is known about the cache.
profile-cached = read from the cache
profile-calls = model calls
profile-compactions = Compactions
profile-context = context
profile-cost = cost
profile-cost-with = cost with
profile-cost-without = cost without
profile-estimated = estimated requests
profile-fidelity = fidelity
profile-first-after = first request after
profile-freed = tokens freed
profile-here = in this session
profile-input = input tokens
profile-kept = your messages { $messages }, last request { $request }, paths { $paths }, names { $identifiers }, numbers { $numbers }, errors { $errors }, open tasks { $tasks }
profile-kept-out = tokens kept out
profile-kept-out-by = kept out by
profile-layer = layer
profile-layers = Layers
profile-layers-how = Fired: acted in this session. Idle: was on, and nothing was due. Simulated: was off, or not known; what it would have done. Not offered: not by this model's server. Of the costs with and without a layer, one is the actual cost and the other an estimate, for this layer alone.
profile-limit = compaction is due
profile-lost = { $count ->
        [one] { $tokens } cached tokens lost in one break.
       *[other] { $tokens } cached tokens lost in { $count } breaks.
    }
profile-method = summary by
profile-model = model
profile-never-lost = The cache was never lost.
profile-no-cache = The server used no prompt cache.
profile-no-layer = No layer changed anything.
profile-output = output tokens
profile-overflow = Without { $layer }, the context window would be full from request { $number } on.
profile-prices = Prices: list prices of { $date }, and the setting `prices`.
profile-purpose = purpose
profile-purposes = Requests by purpose
profile-read = read from the cache
profile-request = request
profile-requests = requests
profile-runs = runs
profile-saves = saves
profile-savings = Savings of each layer, cumulative
profile-sizes = Size of each request
profile-span = { $requests } requests, { $first } to { $last }, { $models }; window { $window }
profile-status-fired = fired
profile-status-idle = idle
profile-status-not-offered = not offered
profile-status-simulated = simulated
profile-title = Context of { $name }
profile-tokens-lost = tokens lost
profile-tooltip = request { $number }: { $tokens } tokens, { $read } read from the cache, { $written } written to it, { $uncached } uncached
profile-tooltip-lost = ; { $tokens } lost: { $reason }
profile-trigger = trigger
profile-uncached = not cached
profile-unknown = unknown
profile-warnings = Warnings
profile-why = why
profile-written = written to it

rank-against = Against it: { $parts }.
rank-confidence = Probability that it helps
rank-file-changed = A file that it is about has changed.
rank-not-searched = sessions do not search for one word, or for a message such as “go on”
rank-file-missing = A file that it is about no longer exists.
rank-for = For it: { $parts }.
rank-gain = gain
rank-helps = { $percent } % likely to help
rank-if-selected = only if the small model selects it
rank-line = would be named in the conversation
rank-never = not read by sessions
rank-reason = reason
rank-score = Score { $score }, comparable within this list.
rank-vectors = Rank by words { $words }, by embeddings { $vectors } (similarity { $similarity }).
rank-whole = would be added to the conversation
rank-why = Why?

recalled-body = its text was shown
recalled-later = Found with an embedding that came after the request was sent.
recalled-line = it was named
recalled-score = Score { $score }, comparable within this message’s ranking.
recalled-selected = – the small model chose it
recalled-similarity = Similarity of the embeddings: { $similarity }.
recalled-unrecorded = An earlier version wrote this transcript, without the reasons. Ranking again, at the user’s message, uses the memories of now.
recalled-why = Why: { $percent } % sure then

related-contradicts = contradicts
related-files = same files
related-none = No related memories found.
related-same = says the same
related-similar = similar
related-title = Related

role-model = Model
role-tool = Tool
role-user = User

scope-project = project
scope-repo = repository
scope-team = team
scope-user = user

search-button = Search
search-label = Search memories as a session would
search-placeholder = A question or a few words; press / to get here

session-compacted = { $count ->
        [one] compacted once
       *[other] compacted { $count } times
    }
session-cost-unknown = cost unknown
session-no-requests = No requests yet: the model has not answered in this session.
session-recalled = { $count ->
        [one] 1 memory recalled
       *[other] { $count } memories recalled
    }
session-saved = { $count ->
        [one] 1 memory saved
       *[other] { $count } memories saved
    }
session-tokens = { $tokens } tokens

sessions-count = { $count ->
        [one] 1 session
       *[other] { $count } sessions
    }
sessions-no-match = No passage has these words.
sessions-none = No sessions here.
sessions-open = Open the session
sessions-search = Search what was said and what tools answered
sessions-source = Sessions of
sessions-title = Sessions
sessions-untitled = Untitled session

source-message = a message of { $when }

state-never-helped = never helped
state-pinned = pinned
state-quarantined = in quarantine

tab-checkpoints = Files changed
tab-requests = Requests and cost
tab-transcript = Transcript

tabs-label = Views of the session

team-layers-off = Layers off for everybody: { $layers }.
team-log = Who changed what
team-member = { $count ->
        [one] 1 change, last { $when }
       *[other] { $count } changes, last { $when }
    }
team-memory = Memory
team-no-proposals = No proposals are open.
team-none = This project has not joined a team. `dormouse team join` does that.
team-people = Members
team-proposals = Proposals
team-repository = Repository
team-review-off = Changes take effect at once.
team-review-on = Changes of writers need a review.
team-role = Role
team-server = Server
team-title = Team
team-version = Version
team-who = Who
team-you = You

transcript-attached = Attached context
transcript-blocks = { $count ->
        [one] 1 block
       *[other] { $count } blocks
    }
transcript-compacted = Conversation compacted
transcript-cut = [{ $count } more bytes are not shown]
transcript-document = [a document]
transcript-earlier = Show earlier messages
transcript-failed = failed
transcript-image = [an image]
transcript-left-out = Messages left out by a layer
transcript-prefix = System prompt and tools: about { $tokens } tokens
transcript-recalled = { $count ->
        [one] 1 memory recalled for this message
       *[other] { $count } memories recalled for this message
    }
transcript-recalled-text = Show as the model saw it
transcript-redacted = [thinking that only the server can read]
transcript-replaced = { $count ->
        [one] 1 earlier result shortened
       *[other] { $count } earlier results shortened
    }
transcript-summary = Summary that replaced earlier messages
transcript-thinking = Thinking
transcript-thinking-dropped = Earlier thinking is no longer sent
transcript-tokens = { $before } → { $after } tokens
transcript-unreadable = { $count ->
        [one] 1 line cannot be read.
       *[other] { $count } lines cannot be read.
    }
transcript-usage = { $input } in, { $output } out
transcript-why = Rank memories for this message again, as of now
transcript-withdrawn = undone

trash-empty = The trash is empty.
trash-hint = Removed memories can be restored for 30 days.
trash-removed = removed { $when } by { $author }
trash-restore = Restore
trash-title = Trash

trust-concluded = concluded by the model
trust-outside = from outside
trust-tool = from a tool
trust-typed = typed by the user

type-feedback = feedback
type-project = project
type-reference = reference
type-user = about the user

usage-cited = cited
usage-heeded = followed
usage-last-helped = Last helped { $when }.
usage-never-helped = Not known to have helped yet.
usage-recalled = recalled
usage-short = recalled { $recalled ->
        [one] once
       *[other] { $recalled } times
    }, helped { $helped }
usage-title = Usage
usage-violated = had to be repeated
