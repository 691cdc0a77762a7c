// Package web serves an engine over HTTP: REST with an OpenAPI document, and Server-Sent Events. A
// [Door] adds another way in: package socket WebSockets, package agui the AG-UI protocol, package
// control what steers running work. Package client calls them from Go.
//
// The server calls exported methods of [thread.Engine] and keeps no state of its own that matters:
// a change is stored before it is acknowledged, runs belong to the engine, and a connection that
// drops cancels nothing and loses nothing.
//
// # Who may do what
//
// Every call says who makes it, on loopback too: by a bearer token, or in a way of
// Config.Authenticate. The operator's token may do everything and speaks for the person it names in
// the field by; the history has the operator as via then. A capability token is for one thread, or
// one interrupt of it, for some actions, until a time, and possibly for one answer:
//
//	follow   read what is said and asked: the thread, its open questions, its outbox and stream,
//	         without results of steps, and with a code and an id for the text of an error
//	inspect  read all of it: history, moments, effects, tokens, error texts, and its graph
//	answer   settle and claim what its handlers ask, in the name the token was made for
//	deliver  say something to it; a conversation takes that in the name of its user only
//	escape   ask it to pause
//	cancel   end it
//	operate  answer, escape and cancel, and what the engine asks: failed steps, effects whose
//	         end is unknown, pauses; change plans, send work elsewhere, take claims over, list
//	         and revoke its tokens
//
// Only the operator makes tokens: one made by a guest would outlive the revocation of theirs. The
// right view of tokens that older servers stored is read as follow. GET /v1/token tells a caller
// which rights the token has now. Of the streams and sockets one capability token holds a tenth at
// most. What a guest sends along with a message reaches handlers under names that begin with
// "guest.", see [Call.OwnMetadata].
//
// The operator's token is changed without a restart by [Server.SetOperatorTokens], which takes two
// at once. Behind a proxy, name it in Config.TrustedProxies: failed log-ins are limited for each
// address. Terminate TLS before the server; it serves plain HTTP.
//
// # People
//
// Config.Authenticate says who has signed in: an [Identity] with a user, who stands in the history
// byte for byte, and rights, which hold on all threads. Ready to use are package oidc for accounts
// of an OpenID Connect issuer, package usertoken for bearer tokens of people, and [TrustedProxy]
// for a proxy that signs people in; [FirstOf] puts several together, and [Roles] gives groups their
// rights. A person may not name another one in by. What a capability token is never for takes a
// right of the person: follow for lists, the inbox and the stream of all threads, deliver to start,
// answer for several answers at once, inspect for the numbers, operate to fork and to move
// deadlines. Making capability tokens stays with the operator. Their streams end, within
// Config.Beat, when they are signed in no longer or have other rights.
//
// The assignees of a question, of its node or of its kind say who may answer it, claim it and move
// its deadline: people by name, and groups, of [Identity.Groups], by "group:" and the name. A right
// does not stand in for that, operate included. The inbox has what a person or one of their groups
// may answer with mine=true. An operator names the person for whom they act, whose groups they are
// trusted to know; the holder of a capability token is in no group.
//
// A name that an operator types is stored in its [NormalName], so that spellings of one name are
// one person, for quorums and for questions that nobody may answer for themselves.
//
// Capability tokens are kept in the log of their thread. Making one is a message
// entry named grant, whose request id is the SHA-256 of the token; revoking is another one. So they
// are as durable as the thread, found with one look-up, refused by any process on the store, and
// making, using and revoking them stands in the history. An answer with a token for one answer is
// committed under a request id made of the token: it is spent in the very commit that answers, at
// most once, and repeating the same answer gets the same result.
//
// # Cursors
//
// A row of the outbox has the id thread/seq. It is the event id of the stream, goes into
// Last-Event-ID and into after, and is checked: one that was never given out, or is another
// thread's, is refused instead of silently skipping rows. Streams read the store whenever the
// reader can take more, so there is no queue to overflow: a reader that is too slow is cut, comes
// back with the last id, and misses nothing.
//
// # The same call again
//
// Every call that changes something takes an Idempotency-Key, except those that make or revoke a
// token: the same key with the same body gets the same result, with another body 422, for as long
// as the thread is stored. The use of a key stands in the log of its thread, in the commit that it
// was used for, so any process on the store knows it, and a refused call has not used its key. A
// message to a conversation is noted before it is delivered, and finds its own first result. A
// start or a fork that names its id has its key on that id.
//
// # Programs and moments
//
// Config.Programs says what can be started, and has the graph of a generated package for a page to
// draw. A start whose input does not fit the schema declared there, or that its machine refuses
// (see [thread.InputChecker]), is refused with the fields that are wrong and makes no thread. A
// [Moment] is a thread as it was after one of its entries, computed from the log without running a
// handler.
//
// # Conversations
//
// With Config.Conversation a message to a thread of its machine, nodes and flows alike, is a turn:
// the call waits for it as long as Config.Patience lasts, and returns the thread with what was
// said. A turn that takes longer continues, and the thread comes with status running; its stream
// has the rest. A message to a thread that does not exist makes it.
//
// # Refusals
//
// They are application/problem+json with one of the closed codes of [runtime.Code] and its data in
// fields. An error of user code is internal, and its text is not sent: it may quote what people
// said. The log has its type.
package web
