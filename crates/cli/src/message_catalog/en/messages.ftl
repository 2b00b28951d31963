# Notices and errors. A message says what happened, why, and what to do next.

# Lists

list-truncated =
    note: { $count ->
        [one] 1 more is
       *[other] { $count } more are
    } not listed; use --limit { $all } to list all

# Sessions

sessions-none = No sessions in this project yet.
sessions-no-match = No session of this project contains `{ $text }`.
