// Package web is the way to an engine over HTTP: REST with an OpenAPI document, Server-Sent Events, a WebSocket, and a Go client. It calls
// the methods of [thread.Engine] that everybody may call and keeps no state that counts: what it is told is in the store before it answers,
// runs belong to the engine, and a connection that drops cancels nothing and loses nothing.
//
// # Who may do what
//
// Every call carries a bearer token, on loopback too. The operator's token may do everything and speaks for the person it names in the field
// by. A capability token is for one thread, or one interrupt of it, for some actions, until a time, and possibly for one answer:
//
//	view     read the thread, its interrupts, history and outbox, and follow its stream
//	answer   settle and claim its interrupts, in the name the token was made for
//	deliver  say something to it; a conversation takes that in the name of its user only
//	escape   ask it to pause
//	cancel   end it
//
// GET /v1/token tells a caller which of these the token allows now. Of the streams and sockets one capability token holds a tenth at most.
//
// Capability tokens are kept where they count: in the log of their thread. Making one is a message entry named grant, whose request id is
// the SHA-256 of the token; revoking is another one. So they are as durable as the thread, found with one look-up, refused by any process on
// the store, and making, using and revoking them stands in the history. An answer with a token for one answer is committed under a request
// id made of the token: it is spent in the very commit that answers, at most once, and repeating the same answer gets the same result.
//
// # Cursors
//
// A row of the outbox has the id thread/seq. It is the event id of the stream, goes into Last-Event-ID and into after, and is checked: one
// that was never given out, or is another thread's, is refused instead of silently skipping rows. Streams read the store whenever the reader
// can take more, so there is no queue to overflow: who reads too slowly is cut, comes back with the last id, and misses nothing. A socket is
// closed with 1013, try again later, when it takes the message that was too slow within as much time again; else nothing can reach it.
//
// # The WebSocket
//
// A client sends JSON messages {type, payload, id}; a reply has the id of its message, and a refused message gets an error with a [Problem]
// and leaves the connection open. Replies come in the order of their messages, rows of the followed thread between them:
//
//	thread_context {thread_id, user_id, session_id, after}            thread_context_ack {success, thread_id, error}; rows follow
//	interrupt      {thread_id, reason, mode}                          interrupt_ack {success, thread_id, message}: requested,
//	                                                                  already_pending or not_running
//	resume         {thread_id, user_input | value, interrupt_id}      resume_ack {success, thread_id, message}
//	                                                                  row, with the id of the row: a [Row]
//
// user_input is a JSON string, or an object with message and no more. On a paused thread it says how the work shall change; empty, that it shall not.
//
// # The same call again
//
// Every call that changes something takes an Idempotency-Key, but for those that make or revoke a token and those on plans: the same key with
// the same body gets the same result, with another body 422, for as long as the thread is stored. What a key was used for stands in the log of
// its thread, in the commit that it was used for, so any process on the store knows it, and a call that was refused has not used its key. A
// reroute event and a message to a conversation are noted before they are carried out; each finds its own first result. A start or a fork that
// names its id has its key on that id. The calls on plans need none: one that was carried out is refused the second time.
//
// # Programs, moments and plans
//
// Config.Programs says what can be started, and has the graph of a generated package for a page to
// draw. A start whose input does not fit, by the schema declared there or by its machine, see
// [thread.InputChecker], is refused with the fields that are wrong and makes no thread. A [Moment]
// is a thread as it was after one of its entries, computed from the log; no handler runs. The plan
// of a paused plan thread can be changed on trial, and the change made, undone and redone; these
// calls need the right to answer, since they answer the pause, and a token for one answer will not
// do.
//
// # Conversations
//
// With Config.Conversation a message to a thread of a workflow is a turn: the call waits for it as long as Config.Patience lasts, and returns
// the thread with what was said. A turn that takes longer goes on, and the thread comes with status running; its stream has the rest. A message
// to a thread that does not exist makes it.
//
// # Refusals
//
// They are application/problem+json with one of the closed codes of [runtime.Code] and its data in fields. An error of foreign code is
// internal, and its text goes nowhere: it may quote what people said. The log has its type.
package web
