// Package chat turns the threads of any machine into conversations: a message of a user begins a
// turn of its thread, or answers what the thread asks. Nodes (workflow.Config.Conversation), flows
// (package dialogue) and functions ([thread.Turns]) are all talked to with the one [Conversation].
//
// # What a message does
//
//   - Its thread does not exist or is idle: it begins a turn, with the input that
//     Conversation.Begin makes of it.
//   - Its thread waits and one open question takes plain text: it answers that question. A word of
//     Cancel ends the turn instead, a word of Skip answers with null, and a message that Digress
//     recognises gets a turn on a side thread while the question stays open.
//   - It was delivered before, under the same id: nothing changes, and the caller gets the rows of
//     its turn again.
//
// Everything that a message does stands in one commit of its thread. Messages that arrive at the
// same time are decided one after the other.
package chat
