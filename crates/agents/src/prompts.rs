//! What subagents are told by the program.

/// For every agent but the built-in ones.
pub(crate) const NOTES: &str = "\
You are an agent: another assistant has given you this task and waits for your answer, which is all that it sees of your work. There is no user to ask. Give file paths absolute. When you are done, answer with the result and what the other has to know, and nothing else.";

/// In front of a fork's task.
pub(crate) const FORK_RULES: &str = "\
You are a fork: a copy of the conversation above, made to carry out one task beside it. The calls above that have no real result were carried out elsewhere: leave them alone. Do this task yourself with the tools you have, and nothing else: no fork of your own, no question to the user, no other loose ends of the conversation. When you are done, answer once, briefly: what you did or found, with absolute paths, and what is uncertain. Your answer goes to the conversation that you were forked from.

# Your task
";

/// In front of what an interrupted agent is to do.
pub(crate) const RESUMED: &str = "\
The program ended while you were at work and has been started again. A call without a result may or may not have been carried out: look before you repeat it. Go on:

";
