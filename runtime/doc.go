// Package runtime is what generated code calls: errors, strict JSON decoding, unions, route sets,
// enum texts, tables of nodes and flows, and schema composition. It uses no clock, goroutine, disk
// or network, and imports the standard library only.
//
// # Words
//
// One word for one thing, in all packages. Of a program, described by this package:
//
//   - node: one place of work in the workflow of routes.yaml: an agent, a collector, a dispatcher.
//   - agent type: the name of a node on the wire (DISCOVERY_ORCHESTRATOR).
//   - request: the typed message that activates a node. A node has exactly one request type.
//   - routing: the typed answer of a node: a struct of nullable fields, exactly one set, that says
//     what happens next.
//   - branch: one field of a routing.
//   - route: one branch of the interrupt routing: a legal place to continue after an interrupt.
//     Carries a route tag.
//   - route set: a set of routes; filters are set operations on it.
//   - interrupt request: what a node returns when it needs a decision. One sealed interface, one
//     subtype per node.
//   - interrupt kind: where an interrupt comes from and how urgent it is: user_escape,
//     agent_question, system_error, and what the spec adds.
//   - record: a generated struct that is read from JSON, see [Record].
//   - shape: the fields of a record in the order of the spec, see [Shape] and [StoredShape].
//
// Of a run, defined in package thread:
//
//   - thread: one durable run of a user: status, version, frames, interrupts, effects, outbox.
//   - frame: one activation on a thread: a node or a flow, with its program counter and visit
//     counter. Frames form a tree.
//   - machine: code that executes one kind of frame: package workflow for nodes, dialogue for
//     flows, planner for plans.
//   - step: one call of a machine for a frame. It may run again until its transition is committed.
//   - visit: how often a frame has come to its present program counter; part of the keys of
//     effects.
//   - transition: the value that a step returns: what to change. Committed as a whole or not at
//     all.
//   - effect: a side effect with a key (thread, frame, step, visit, name) and a stored result.
//   - question: what a step asks: text, payload, answer schema, choices, who may answer.
//   - interrupt: a question as it is stored on its thread: id, kind, deadline, state.
//   - answer: what resolves one interrupt. Used at most once.
//   - reroute event: a request from outside to interrupt one node and to continue at another.
//   - entry: one numbered row of the log of a thread. The entries give the thread.
//   - change: the entries of one commit, with the thread as it is after them.
//   - outbox: the entries that are messages and events for the user, delivered from storage.
//   - lease: which engine drives a running thread, and until when.
//   - fence: the number of a lease. The store rejects commits with an older one.
//
// Of a conversation, defined in the packages of machines:
//
//   - turn: one message of the user and everything that runs until the thread waits or is done.
//
// # Order
//
// Everything keeps the order of routes.yaml: fields of a [Shape], rows of [Tables], branches of a
// schema, values of a route set. The definitions of a schema are sorted by name. Problems of a
// document come in the order of the document; what is missing from an object comes after what is
// wrong in it. The same input gives the same bytes and the same messages.
//
// # Concurrency
//
// Rows, shapes, rules and [Schemas] are written once, when a package is initialised, and may then
// be read by any number of goroutines: the memos inside them are atomic. A [Decoder] belongs to one
// call and must not be kept. Functions on the words of a route set change the caller's array and
// take no lock. Everything else is a value or a pure function.
//
// # Two readers
//
// [Unmarshal] reads what the program itself wrote to a wire or a store. [DecodeReply] reads what a
// model wrote: hidden fields and hidden enum values are refused, and so is a route outside the
// allowed ones. Both run over the same generated shapes with the same checks.
package runtime

// IsAtLeast_1 is the handshake between generated code and this package. Generated code says
//
//	const _ = runtime.IsAtLeast_1
//
// so code that needs a newer runtime does not compile. If you came here from such a compile error,
// update the runtime with go get github.com/routegen/routegen@latest, or generate again with the
// routegen of your go.mod: go tool routegen generate.
const IsAtLeast_1 = true
