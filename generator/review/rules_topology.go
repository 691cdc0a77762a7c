package review

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
)

func thingRules() []rule {
	return slices.Concat(
		table(report.Error, CategoryWireJSON,
			entry{"NODE_NO_DELETE", "A node is gone.",
				"Threads that wait at it, or hold one of its messages, cannot go on.",
				"-  merger: {doc: Merges., request: {fields: {goal: {type: string}}}}",
				" merger:\n+  deprecated: nothing leads here   # until no thread waits at it",
				"take its branches away first, and the node when no thread waits at it"},
			entry{"MESSAGE_NO_DELETE", "A request, interrupt request or result is gone.",
				"Stored messages of it have no type.",
				" merger:\n-  interrupt: {fields: {reason: {type: string}}}",
				" merger:\n   interrupt: {fields: {reason: {type: string}}}   # and no branch " +
					"that raises it", "take away what leads to it first, and the type when " +
					"nothing stored has it"},
			entry{"ENUM_VALUE_NO_DELETE", "A value of an enum is gone.",
				"A stored message that has it is refused.",
				" values:\n-  BRANCH: Fork.",
				" values:\n   BRANCH: {doc: Fork., hidden: true, deprecated: no longer offered}",
				"hide it: models no longer see it, and stored data is still read"},
			entry{"KIND_NO_DELETE", "An interrupt kind is gone.",
				"Open interrupts of it have no kind.",
				"kinds:\n-  audit: {clash: queue}",
				"kinds:\n   audit: {clash: queue}   # raised by nobody",
				"take away what raises it, and the kind when none is open"},
			entry{"WIRE_VALUE_SAME", "A name that stands in stored data changed.",
				"was: tells reviewers and tools what became of a name; the store and the decoder " +
					"read the names of the spec alone.",
				"-  planner: {...}\n+  planning: {was: [planner]}",
				"planner: {display_name: Planning, go_name: Planning}",
				"keep the name on the wire and change the names that people see: display_name, " +
					"go_name"},
			entry{"AGENT_TYPE_SAME", "An agent type changed and the old one is not accepted.",
				"Stored threads, reroutes and other programs name nodes by it.",
				"-agent_type: MERGER\n+agent_type: COMBINER",
				"agent_type: COMBINER\naliases: [MERGER]", "add the old one to aliases"},
		),
		table(report.Error, CategorySource,
			entry{"NODE_SAME_REQUEST", "A node takes or raises another message.",
				"Its handler takes another type, and does not compile.",
				"-request: {name: MergeRequest}\n+request: {name: CombineRequest}",
				"request: {name: MergeRequest}", "keep the type, or add a node"},
			entry{"ROUTE_SAME_REQUEST", "A route carries another message.",
				"Code reads the Go field as the old one, and models write the new one.",
				"+route: {returns: ContextRoutingRequest}", "a new node whose route carries the " +
					"new message", "add a node for the new message"},
			entry{"BRANCH_SAME_TYPE", "A branch carries another message.",
				"Code reads the Go field as the old one, and models write the new one.",
				" branches:\n-  next: PlanningRequest\n+  next: MergerRequest",
				" branches:\n   next: PlanningRequest\n+  merge: MergerRequest",
				"add a branch with another name"},
		),
	)
}

func moveRules() []rule {
	return slices.Concat(
		table(report.Error, CategoryTopology,
			entry{"ROUTE_NO_DELETE", "The route back to a node is gone.",
				"No interrupt can be sent there any more: not by its own node, not by a reroute, " +
					"not by an answer.",
				" merger:\n+  route: none",
				" merger:\n   deprecated: routed to planning from now on",
				"keep the route until no thread holds a reroute or a choice that names it"},
			entry{"BRANCH_NO_DELETE", "A branch of a routing is gone.",
				"A model that was told to take it has no way to, and a stored routing that took " +
					"it is refused.",
				" branches:\n-  planningRequest: PlanningRequest",
				" branches:\n   planningRequest: PlanningRequest   # no longer in guidance",
				"change the guidance first, and take the branch away when nothing stored has it"},
			entry{"BRANCH_SAME_TARGET", "A branch leads somewhere else.",
				"The same reply of a model now starts other work.",
				" branches:\n-  next: PlanningRequest\n+  next: MergerRequest",
				" branches:\n   next: PlanningRequest\n+  merge: MergerRequest",
				"add a branch with another name"},
			entry{"ROUTE_SAME_TAG", "The tag of a route changed.",
				"A filter that names the old tag keeps or hides nothing, and nobody is told.",
				"-route: {tag: DiscoveryRoute}\n+route: {tag: ExploreRoute}",
				"route: {tag: DiscoveryRoute}",
				"keep the tag: it is a name that code holds, not a label"},
			entry{"DISPATCH_SAME", "A fan-out came, went or hands out something else.",
				"One request becomes many or the other way round; threads in the middle of it do " +
					"not fit.",
				"-dispatch: {each: requests, to: agent, results: AgentResults}",
				"a new node that dispatches, beside the old one",
				"add a node for the new way, and let the old one finish"},
			entry{"ENTRY_SAME", "Runs start at another node.",
				"What starts a run sends another request.",
				" planning:\n+  entry: true", " orchestrator:\n   entry: true",
				"tell everybody who starts runs"},
			entry{"COLLECT_CHANGED", "The decision table of a collector changed.",
				"The same decision of a model leads somewhere else, or carries something else.",
				"-on: {ADVANCE_PHASE: planningRequest}\n+on: {ADVANCE_PHASE: mergerRequest}",
				"a new value of the enum, with its own row",
				"check the guidance of the collector against the table"},
			entry{"NODE_SAME_RESULT", "The frame of a node ends with another result.",
				"Whoever waits for the frame gets another type.",
				"-result: Report\n+result: Summary", "result: Report   # with more optional fields",
				"add optional fields to the result in place of a new type"},
			entry{"ORIGIN_ROUTE_NO_DELETE",
				"After an interrupt of a node the model can no longer go on where it could.",
				"The filter of that origin leaves the route out.",
				"-escalates: discoveryDispatch\n+escalates: orchestrator",
				"escalates: discoveryDispatch", "see the table of who can now go where"},
		),
	)
}

func additionRules() []rule {
	return slices.Concat(
		table(report.Expected, CategorySource,
			entry{"NODE_ADDED", "A node is new.",
				"Interfaces gain a method for it, so every implementer stops compiling until it " +
					"is there. That is what they are for.",
				"+ merger: {doc: Merges., request: ...}   # and no handler",
				"+ merger: {doc: Merges., request: ...}   # and its method in every implementer",
				"write the method in each implementer"},
			entry{"METHOD_ADDED", "An interface gains a method without a new node.",
				"A node that takes or raises another message has one more method; implementers " +
					"stop compiling until it is there.",
				" merger:\n+  interrupt: {fields: {reason: {type: string}}}   # and no method",
				"the same edit, and VisitMergerInterruptRequest in every visitor",
				"write the method in each implementer"},
		),
		table(report.Notice, CategoryTopology,
			entry{"ROUTE_ADDED", "There is one more route.",
				"A reroute or an answer may send any interrupt there.",
				"-route: none", "-route: none   # and a doc that tells models what the node is for",
				"check the doc of the route: models read it"},
			entry{"ORIGIN_ROUTE_ADDED",
				"After an interrupt of a node the model may go on somewhere new.",
				"The filter of that origin keeps one more route.",
				"+escalates: orchestrator",
				"+escalates: orchestrator   # and its guidance says what to do with it",
				"see the table of who can now go where"},
			entry{"BRANCH_ADDED", "A routing has one more branch.",
				"A model may choose it from now on, whether or not its guidance speaks of it.",
				" branches:\n+  merge: MergerRequest",
				" branches:\n+  merge: MergerRequest\n prompt: {guidance: Set merge only when " +
					"all is done.}", "say in the guidance when to take it"},
			entry{"KIND_ADDED", "An interrupt kind is new.",
				"Kinds before it win every clash, kinds after it lose.",
				"kinds:\n+  audit: {clash: queue}   # in first place",
				"kinds:\n   ...\n+  audit: {clash: queue}   # last",
				"check its place: order is priority"},
			entry{"KIND_CHANGED", "An interrupt kind is treated another way.",
				"Clash, deadline, retry or who wins decide how long people have and what happens " +
					"without them.",
				"-deadline: {after: 24h, then: expire}\n+deadline: {after: 1h, then: expire}",
				"the same edit, told to those who answer", "tell those who answer interrupts"},
			entry{"NODE_POLICY_CHANGED", "A node is run another way.",
				"Loop bounds, timeouts, approvals and the like change when work stops.",
				"-loop: {warn: 2, limit: 6}\n+loop: {warn: 2, limit: 2}",
				"the same edit, after a look at how often it is visited",
				"look at which runs stop sooner now, or later"},
		),
	)
}
