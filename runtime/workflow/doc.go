// Package workflow runs the nodes of a generated package on durable threads. All knowledge about
// nodes is in tables: a new node is a row and a handler, and needs no code in this package.
//
// # Nodes
//
// A [Machine] follows routings. A node's handler gets its request and returns a routing with
// exactly one branch set, by itself or by [Choose], which lets a model choose. The branch says what
// comes next: another node, the fan-out of a dispatch, the decision table of a collector, the end
// of the frame, or an interrupt. In tests a handler that only computes is called; one that uses
// [Choose] or effects runs on an engine, as the example of Choose shows.
//
//	        request                    routing
//	Begin ----------> Prepare -> node ---------> Finish -> planner -+-> next node
//	                    ^                                           +-> a dispatch
//	                    |                                           +-> end, with a result
//	                    |                                           +-> interrupt
//	                    +-------- unified interrupt handler <-------+
//
// Each child of a fan-out has a frame of its own. Frames run concurrently, and one that waits for a
// person does not stop its siblings. The state of a frame, above all the last request of each node,
// is stored with every step.
//
// # Interrupts
//
// Every interrupt request of every node arrives at one handler. It finds the route that the
// interrupt goes back to, and does what its type says: HUMAN_REVIEW and PAUSE wait for a person,
// AGENT_REVIEW asks a reviewing model, STOP ends the frame and reports it to the parent ([Lost]),
// PRUNE ends the frame without a failure, BRANCH makes a thread of each option. The work goes on
// where the answer sends it, or else where a pending reroute event does, or else where it came
// from. A model writes the request that goes on, by the schema of that one route; a node with
// resolve: reuse goes on with its stored request, and no model is asked. No model ever sees, sets
// or clears a hidden field: a request that goes on keeps those of the node's last one. A node that
// never ran has none, so give them to it in Config.Prepare; and in a routing that [Choose] returns,
// the handler sets them before it returns the routing.
//
// The handler that goes on finds the answer in call.Answer: plain text as a JSON string, a chosen
// place as {"route_to": "AGENT_TYPE"} with a "note" where the person gave one, a record as it was
// sent, which only the handler decodes: runtime.Unmarshal(call.Answer, &review). A question
// that is a form, and refuses what does not fit, is asked inside a handler with [thread.Ask].
//
// A node whose own interrupt comes back to it runs again from its top, on the same visit. What it
// did before it asked is done: effects of [thread.Do] and [thread.Once] have their stored results,
// and answers of [thread.Ask] count, also where the request that came back says something else. An
// effect that has to follow the request has what differs in its name. Calls of Choose and RunTalk,
// with the tools they call, and messages are made again. Any other visit begins without results.
//
// A reply that breaks the rules goes back to the model once. A second one, a node that fails again
// and again, and a loop at its limit end with a system_error interrupt: a person edits the input of
// the step, skips it, sends the work to a node that ran before, or aborts.
//
// # Reroute events
//
// [Machine.Reroute], and [Publish] inside a handler, take an order from outside: the next interrupt
// of a running node continues elsewhere. It is stored before it is announced, used up by the commit
// that resolves the interrupt, and expires when its node ends.
//
// [Choose] tells the model of it in the prompt, and [RunTalk] before each round, as it is then; so
// does the handler. A model call that is in progress when the event comes does not see it, unless
// Config.AskAgain ends the call. A handler that asks no model reads [thread.PendingReroute].
//
// # Changes
//
// A change that a person makes at a pause is in the prompts of the handler until it was in a prompt
// of a node. A [Machine] that asks no model does not offer modify, see [Machine.Changeable].
package workflow
