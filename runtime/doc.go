// Package runtime holds the words of the project and what generated code calls: errors, strict JSON decoding, unions, route sets, enum
// text, tables and schema composition. It decides and never does: no clock, no goroutine, no disk, no network. Standard library only.
//
// # Words
//
// One word for one thing, here and everywhere:
//
//   - node: one place of work in the workflow: an agent, a collector, a dispatcher. Declared in routes.yaml.
//   - agent type: the wire name of a node (DISCOVERY_ORCHESTRATOR).
//   - request: the typed message that activates a node. A node has exactly one request type.
//   - routing: the typed answer of a node: a struct of nullable fields, exactly one set, that says what happens next.
//   - branch: one field of a routing.
//   - route: one branch of the interrupt routing: a legal place to continue after an interrupt. Carries a route tag.
//   - route set: a set of routes; filters are set operations on it.
//   - interrupt request: what a node emits when it needs a decision. One sealed interface, one subtype per node.
//   - interrupt kind: where an interrupt comes from and how urgent it is: user_escape, agent_question, system_error, and what the spec adds.
//   - interrupt: the stored record of one open question on a thread: id, kind, payload, answer schema, deadline, state.
//   - answer: what resolves one interrupt. Used at most once.
//   - reroute event: an outside order: interrupt that node, and continue over there.
//   - thread: one durable run: status, version, frames, interrupts, effects, outbox. The thing a user holds.
//   - frame: one activation on a thread: a node or a flow, with its program counter and visit counter. Frames form a tree.
//   - machine: code that executes one kind of frame: the workflow machine (nodes) and the dialogue machine (flows).
//   - transition: the value a machine returns: what to change. Committed as a whole or not at all.
//   - effect: a side effect with a key (thread, frame, step, visit, name) and a stored result.
//   - outbox: the numbered messages and events of a thread, delivered from storage.
//
// # Order
//
// Everything keeps the order of routes.yaml: fields of a [Shape], rows of [Tables], branches of a schema, values of a route set. The
// definitions of a schema are sorted by name. Problems of a document come in the order of the document; what is missing from an object
// comes after what is wrong in it. Nothing here ranges over a Go map, so the same input gives the same bytes and the same messages.
//
// # Concurrency
//
// Rows, shapes, rules, patterns and [Schemas] are written once, when a package starts, and may then be read by any number of goroutines:
// the memos inside them are atomic. A [Decoder] belongs to one call and must not be kept. Functions on the words of a route set change the
// caller's array and take no lock. Everything else is a value or a pure function.
//
// # Two readers
//
// [Unmarshal] reads what the program itself wrote to a wire or a store. [DecodeReply] reads what a model wrote: hidden fields and hidden
// enum values are refused, and so is a route outside the allowed ones. Both run over the same generated shapes with the same checks.
package runtime

// IsAtLeast_1 is the handshake between generated code and this package. Generated code says
//
//	const _ = runtime.IsAtLeast_1
//
// so code that needs a newer runtime does not compile. If you came here from such a compile error, update the runtime with
// go get github.com/routegen/routegen@latest, or generate again with the routegen of your go.mod: go tool routegen generate.
const IsAtLeast_1 = true
