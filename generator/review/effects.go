package review

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// effect is one row of the table of what a change of a member does. To add a rule about a member is
// to add a row, and the rule's entry in the catalogue.
type effect struct {
	// type and name of each: Node.Timeout; Node: a node that came or went; Enum/Values: the order
	// of the values
	members string
	when    when
	only    condition // each word of it; "": always
	rule    string    // "" informs, without a rule
	to      audience  // where it is not that of the rule's category
	// {old} and {now} are the values, {member} its name, others are values of the subject; what
	// follows a bar stands in for an empty one
	text   string
	detail bool // it says what was edited, not whom it concerns
	// it is a row of the table of who can now go where, and not said again
	inAccess bool
	prompt   bool // it belongs to what the model of the node is told
}

// when says which edits of a member an effect is about. A flag that is not set is not given.
type when int

const (
	always   when = iota
	replaced      // it was given and is
	came          // it was not given and is
	went          // it was given and is not
)

// condition is what must hold of a thing for an effect.
type condition string

const (
	visible   condition = "visible" // models see it: a member, before and after
	hidden    condition = "hidden"
	byModels  condition = "models"  // models write messages that have it
	byCallers condition = "callers" // callers that start a run or answer send it
	inSchema  condition = "schema"  // it is a definition in schemas
	sameName  condition = "name"    // it has the name that it had
	newGoType condition = "go"      // its type in Go is another
	// it belongs to a message or a type of one, not to a flow or an action
	inMessages condition = "messages"
	required   condition = "required"
	optional   condition = "optional"
	forgotten  condition = "forgotten" // it is gone, and its name is not reserved
	// the JSON name that it had is that of another now, or of none
	taken condition = "taken"
	free  condition = "free"
)

var placeholder = regexp.MustCompile(`\{[\w ]+(\|[^}]*)?\}`)

// effectsByMember is the table by member. It is never written to.
var effectsByMember = sync.OnceValue(func() map[string][]effect {
	out := map[string][]effect{}
	for _, row := range slices.Concat(arrivals, effects) {
		for member := range strings.FieldsSeq(row.members) {
			out[member] = append(out[member], row)
		}
	}
	return out
})

// effects are what changes of members do, thing by thing. What comes and goes is in arrivals.
var effects = []effect{
	{members: "Node.Const Node.AgentConst Node.Method Node.AdaptMethod Node.Routing Node.Route " +
		"Enum.Name Scalar.Name Record.Name InterruptKind.Const Interrupts.Interface " +
		"Interrupts.Routing FlowStep.Const",
		when: replaced, rule: "GO_NAME_SAME", text: "{old} is {now} now"},
	{members: "Node.Deprecated EnumValue.Deprecated Field.Deprecated Validator.Deprecated",
		when: went, to: callers,
		text: "it is no longer deprecated"},
	{members: "Node.Deprecated EnumValue.Deprecated Field.Deprecated Validator.Deprecated",
		when: came, to: callers,
		text: "deprecated: {now}"},
	{members: "Node.Deprecated EnumValue.Deprecated Field.Deprecated Validator.Deprecated",
		when: replaced, to: callers,
		text: "deprecated: {now}"},
	{members: "Node.DisplayName", rule: "DISPLAY_NAME_CHANGED", text: `"{old}" is "{now}" now`},
	{members: "Record.DisplayName Flow.DisplayName", only: sameName, rule: "DISPLAY_NAME_CHANGED",
		text: `"{old}" is "{now}" now`},

	{members: "Node.AgentType", detail: true, text: "agent type {old} → {now}"},
	{members: "Node.AgentType", to: senders,
		text: "JSON and Go that write the agent type say {now} now"},
	{members: "Node.Group", detail: true, text: "group {old|none} → {now|none}"},
	{members: "Node.Request", when: replaced, rule: "NODE_SAME_REQUEST", to: callers,
		text: "the method {Method} takes {now} in place of {old}"},
	{members: "Node.Method", when: came, rule: "METHOD_ADDED",
		text: "Handlers gains {now}, which takes {Request}: what implements it stops compiling"},
	{members: "Node.AdaptMethod", when: came, rule: "METHOD_ADDED",
		text: "Handlers gains {now}, which takes {Adapt}: what implements it stops compiling"},
	{members: "Node.Method", when: went, rule: "GO_API_NO_DELETE", text: "Handlers loses {old}"},
	{members: "Node.Routing", when: went, rule: "ROUTING_NO_DELETE",
		text: "{old} is gone: the node answers nothing"},
	{members: "Node.Entry", when: came, rule: "ENTRY_SAME", to: callers,
		text: "runs start here now, and who starts one sends {Request}"},
	{members: "Node.Result", rule: "NODE_SAME_RESULT",
		text: "its frame ended with {old|no result} and ends with {now|no result}"},
	{members: "Node.LoopWarn", rule: "NODE_POLICY_CHANGED",
		text: "loop warn was {old|0} and is {now|0}"},
	{members: "Node.LoopLimit", rule: "NODE_POLICY_CHANGED",
		text: "loop limit was {old|none} and is {now|none}"},
	{members: "Node.LoopExempt", rule: "NODE_POLICY_CHANGED",
		text: "loop exempt was [{old}] and is [{now}]"},
	{members: "Node.Reuse", when: came, rule: "NODE_POLICY_CHANGED",
		text: "resolve was model and is reuse"},
	{members: "Node.Reuse", when: went, rule: "NODE_POLICY_CHANGED",
		text: "resolve was reuse and is model"},
	{members: "Node.Timeout Node.Feedback Node.Action Node.Approval", rule: "NODE_POLICY_CHANGED",
		text: "{member} was {old|not set} and is {now|not set}"},
	{members: "Node.Deadline", rule: "NODE_POLICY_CHANGED", text: "what it asks from now on: " +
		"{now|the deadline of agent_question holds} (was: {old|the deadline of agent_question})"},
	{members: "Node.Deadline", to: stored, text: "none: an open question keeps the deadline and " +
		"the reminder that it was asked with, and what follows then"},
	{members: "Node.Assignees", rule: "NODE_POLICY_CHANGED", text: "what it asks from now on, " +
		"{now|those of agent_question} may answer (was: {old|those of agent_question})"},
	{members: "Node.Assignees InterruptKind.Assignees", to: stored, text: "none: an open " +
		"question keeps whom it was asked with"},
	{members: "Node.Tools", rule: "TOOLS_CHANGED",
		text: "its model was offered {old|no tool} and is offered {now|no tool}"},
	{members: "Node.Template", prompt: true, rule: "PROMPT_TEXT_CHANGED",
		text: "its template was {old|none} and is {now|none}"},
	{members: "Node.Vars", prompt: true, rule: "PROMPT_TEXT_CHANGED",
		text: "its template may name [{now}] in place of [{old}]"},
	{members: "Node.Unstick", prompt: true, rule: "PROMPT_TEXT_CHANGED",
		text: "stuck, it is told to set [{now}] in place of [{old}]"},

	{members: "Route.Tag", rule: "ROUTE_SAME_TAG",
		text: "its tag {old} is {now}: a filter that names the old tag keeps or hides nothing"},
	{members: "Route.Field", to: models, text: "the branch {old} is named {now}"},
	{members: "Route.Go", rule: "FIELD_SAME_GO_NAME",
		text: "Go field {routing}.{old} is {now} now"},
	{members: "Route.Request", rule: "ROUTE_SAME_REQUEST", to: callers,
		text: "Go field {routing}.{Go} carries {now} in place of {old}"},
	{members: "Route.Request", to: models,
		text: "the branch {Field} asks for {now} in place of {old}"},

	{members: "Branch.Name", to: models,
		text: "the model of {node} is offered {now} in place of {old}"},
	{members: "Branch.Go", rule: "FIELD_SAME_GO_NAME",
		text: "Go field {routing}.{old} is {now} now"},
	{members: "Branch.Type", detail: true, text: "{old} → {now}"},
	{members: "Branch.Type", rule: "BRANCH_SAME_TYPE", to: callers,
		text: "Go field {routing}.{Go} carries {now} in place of {old}"},
	{members: "Branch.Type", to: models,
		text: "the model of {node} has to write {now} in place of {old}"},
	{members: "Branch.When", rule: "PROMPT_TEXT_CHANGED", text: "the model of {node} is told " +
		"when to take {Name}: {now|no more} (was: {old|not told})"},
	{members: "Branch.Node Branch.Kind", rule: "BRANCH_SAME_TARGET",
		text: "it {led}, and now {leads}"},

	{members: "EnumValue.Hidden", when: came, rule: "VISIBILITY_SAME",
		text: "models are no longer offered {Wire}, and refused when they send it"},
	{members: "EnumValue.Hidden", when: went, rule: "VISIBILITY_SAME",
		text: "models are offered {Wire}, which was hidden"},
	{members: "Scalar.Type", rule: "FIELD_SAME_GO_TYPE", text: "{Name} was {old} and is {now}"},
	{members: "Record.Name", only: inSchema, rule: "DEF_SAME_NAME",
		text: "the definition {old} is named {now} in every schema"},
	{members: "Record.GoType", rule: "BINDING_SAME",
		text: "it was bound to {old|no Go type} and is bound to {now|no Go type}"},

	{members: "Field.JSON", only: inMessages + " " + free, to: senders,
		text: "JSON sent with {old} is refused; it is {now} now"},
	{members: "Field.JSON", only: inMessages + " " + taken, to: senders,
		text: "{old} is the name of another field now; this one is {now}"},
	{members: "Field.JSON", only: visible, rule: "DEF_SAME_NAME",
		text: "the property {old} is named {now}"},
	{members: "Field.Go", rule: "FIELD_SAME_GO_NAME", text: "Go field {record}.{old} is {now} now"},
	{members: "Field.Type Field.Pointer", detail: true, text: "{type before} → {type}"},
	{members: "Field.Type Field.Pointer", only: newGoType, rule: "FIELD_SAME_GO_TYPE",
		text: "Go field {record}.{Go} was {go type before} and is {go type}"},
	{members: "Field.Type", only: visible, rule: "SCHEMA_SAME_TYPE",
		text: "the schema of {JSON} says {now} in place of {old}"},
	{members: "Field.Required", when: came, detail: true, text: "optional → required"},
	{members: "Field.Required", when: came, only: inMessages, to: senders,
		text: "a message without the key {JSON} is refused; Go sends the key, " +
			"with the zero value where nothing is set"},
	{members: "Field.Required", when: came, only: visible, to: models,
		text: "models must send {JSON}"},
	{members: "Field.Required", when: came, only: byCallers, rule: "SCHEMA_NO_TIGHTEN", to: senders,
		text: "who starts a run or answers without {JSON} is refused"},
	{members: "Field.Required", when: went, detail: true, text: "required → optional"},
	{members: "Field.Required", when: went, to: stored, text: "none: stored data has it"},
	{members: "Field.Required", when: went, to: callers,
		text: "code must be ready for messages without {JSON}"},
	{members: "Field.Required", when: went, only: visible, rule: "SCHEMA_NO_LOOSEN",
		text: "models may leave {JSON} out"},
	{members: "Field.Hidden", when: came, only: byModels, rule: "VISIBILITY_SAME",
		text: "models no longer see {JSON}, and are refused when they send it"},
	{members: "Field.Hidden", when: went, only: byModels, rule: "VISIBILITY_SAME",
		text: "models see {JSON}, which was hidden, and {must} send it"},
	{members: "Field.Default", rule: "FIELD_SAME_DEFAULT",
		text: "left out or null, it is read as {now|none} in place of {old|none}"},
	{members: "Field.Examples", rule: "DOC_CHANGED",
		text: "the examples were [{old}] and are [{now}]"},

	{members: "InterruptKind.Deadline", rule: "KIND_CHANGED", text: "{now|unanswered, it waits " +
		"for ever} (was: {old|unanswered, it waited for ever})"},
	{members: "InterruptKind.Assignees", rule: "KIND_CHANGED", text: "what is asked from now on, " +
		"{now|anybody} may answer (was: {old|anybody})"},
	{members: "InterruptKind.Clash InterruptKind.Choices InterruptKind.RouteTo " +
		"InterruptKind.Retry InterruptKind.AutoAnswer InterruptKind.AutoWhen",
		rule: "KIND_CHANGED", text: "{member} was {old|not given} and is {now|not given}"},
	{members: "InterruptKind.Clash InterruptKind.Choices InterruptKind.RouteTo " +
		"InterruptKind.Deadline " +
		"InterruptKind.Retry InterruptKind.AutoAnswer InterruptKind.AutoWhen", to: stored,
		text: "none: deadlines are stored, so open interrupts keep theirs; the rest holds from " +
			"now on"},

	{members: "Plan.Version", rule: "SPEC_VERSION_SAME",
		text: "version {old} is {now} now: names follow other rules"},
	{members: "Plan.Package Plan.Out", detail: true, text: "{member} {old} → {now}"},
	{members: "Plan.Package Plan.Out", rule: "GO_PACKAGE_SAME",
		text: "every import of the package has to be edited"},
	{members: "Interrupts.Answer", rule: "ANSWER_SAME_TYPE", to: senders,
		text: "a person answers with {now|no declared type}, not with {old|no declared type}"},
	{members: "Handler.Name", rule: "NODE_POLICY_CHANGED",
		text: "the action of the handler was {old} and is {now}"},
	{members: "Handler.DisplayName Interrupts.DisplayName", rule: "DISPLAY_NAME_CHANGED",
		text: `"{old}" is "{now}" now`},
	{members: "Convo.TurnStart", rule: "NODE_POLICY_CHANGED",
		text: "turn_start was {old} and is {now}"},
	{members: "Convo.PlainText", rule: "NODE_POLICY_CHANGED",
		text: "plain_text was {old} and is {now}"},

	{members: "Flow.Const", rule: "GO_NAME_SAME",
		text: "{old} is {now} now, and so are {Struct} and the names of its steps and slots"},
	{members: "Flow.Intents", rule: "DOC_CHANGED",
		text: "the phrases that start it were [{old}] and are [{now}]"},
	{members: "Flow.Trigger Flow.Hidden Flow.Interruptible Flow.OnError " +
		"Talk.Language Talk.Languages Talk.MaxDepth Talk.NoProgress Talk.NoProgThen Talk.Welcome " +
		"Talk.Fallback " +
		"Talk.Responses Action.Once Action.Timeout Action.Retry",
		rule: "FLOW_CHANGED", text: "{member} was {old|not given} and is {now|not given}"},
	{members: "FlowStep.Check", when: went, rule: "STEP_CHANGED",
		text: "what the user says is no longer held to {old}"},
	{members: "FlowStep.Check", when: came, rule: "STEP_CHANGED",
		text: "what the user says is held to {now}"},
	{members: "FlowStep.Check", when: replaced, rule: "STEP_CHANGED",
		text: "what the user says is held to {now}, not to {old}"},
	{members: "FlowStep.Arms FlowStep.Else FlowStep.Body FlowStep.OnInvalid FlowStep.OnTimeout " +
		"FlowStep.OnCancel FlowStep.OnError FlowStep.OnYes FlowStep.OnNo FlowStep.OnChange " +
		"FlowStep.Next", rule: "STEP_CHANGED", inAccess: true,
		text: "{member} was {old|not given} and is {now|not given}"},
	{members: "FlowStep.Kind FlowStep.When FlowStep.Slot FlowStep.Set FlowStep.Cond " +
		"FlowStep.Rounds FlowStep.Inside FlowStep.Flow FlowStep.Action " +
		"FlowStep.Inputs FlowStep.Outputs " +
		"FlowStep.Queue FlowStep.Force FlowStep.Attempts FlowStep.Timeout " +
		"FlowStep.Retry FlowStep.Raise",
		rule: "STEP_CHANGED", text: "{member} was {old|not given} and is {now|not given}"},
	{members: "Action.Method Validator.Method", rule: "GO_NAME_SAME",
		text: "method {old} is {now} now"},
	{members: "Validator.Type", only: newGoType, rule: "FIELD_SAME_GO_TYPE",
		text: "method {Method} takes {go type} in place of {go type before}"},
}
