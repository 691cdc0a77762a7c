package spec

// flowKeys are the keys of a document for dialogue flows.
func flowKeys() []Key {
	return []Key{
		mapping("dialogue", "Settings of all flows.", talkShape()).into("Talk"),
		entries("actions", classSnake,
			"What the program does for flows; each is a method of Actions.", actionShape()),
		entries("validators", classSnake,
			"Checks of values; each is a method of Validators.",
			newShape[Validator]("validator",
				text("doc", classProse, "Which values it takes."),
				typeKey("Type of the values it takes.").must(),
				text("go_name", classGo, "Name of the Go method."),
				texts("was", classSnake, "Earlier names."),
				text("deprecated", classProse, "Why it should not be used."),
			)),
		entries("responses", classSnake,
			"Texts that the machine says by itself, in place of the shipped ones.",
			newShape[Response]("").orShort(Key{Name: "a text", Form: FormWords}.into("Text"))),
		entries("flows", classSnake, "The dialogue flows.", flowShape()),
	}
}

func talkShape() *Shape {
	return newShape[Talk]("dialogue",
		text("language", classLanguage, "Language of texts that name none; default en."),
		texts("languages", classLanguage, "Languages that texts may have beside it."),
		number("max_depth", formWhole, "Flows on one stack, 1 to 32; default 8."),
		mapping("no_progress",
			"What happens after messages that changed nothing; default: no limit.",
			newShape[Talk]("no_progress",
				number("turns", formWhole, "How many in a row.").into("NoProgress").must(),
				oneOf("then", "What happens then.", "handoff", "cancel", "fallback").
					into("NoProgThen").must(),
			)).into(sameStruct),
		text("welcome", classAny, "Flow started by a first message that starts no other."),
		text("fallback", classAny,
			"Flow started by a message that is not understood while no flow is active."),
	)
}

func actionShape() *Shape {
	param := fieldShape("parameter", classSnake)
	return newShape[Action]("action",
		text("doc", classProse, "What it does."),
		entries("inputs", classSnake, "What it is given.", param),
		entries("outputs", classSnake, "What it gives back.", param),
		flag("once", "It must never happen twice; default: it may be repeated under its key."),
		text("timeout", classDuration, "How long one run may take; default 1m."),
		mapping("retry", "Tries before it has failed; default: none.", retryShape()),
		text("go_name", classGo, "Name of the Go method."),
		texts("was", classSnake, "Earlier names."),
	)
}

// slotShape is what a slot has of a field: it is always there and never hidden, and it has one
// name.
func slotShape() *Shape {
	keys := []Key{
		typeKey("string, int, float, bool, time, duration, json, the name of an enum or a named " +
			"scalar, or a list of these.").must(),
		text("doc", classProse, "What it holds; understanding reads it."),
		{Name: "default", doc: "The value it begins with.", Form: formScalar},
		text("go_name", classGo, "Name of the Go field."),
		texts("was", classSnake, "Earlier names."),
	}
	return newShape[Field]("slot", append(keys, constraintKeys()...)...)
}

func flowShape() *Shape {
	return newShape[Flow]("flow",
		text("doc", classProse, "What it is for; understanding reads it."),
		text("display_name", classLine, "Name for people."),
		text("go_name", classGo, "Stem of the Go names."),
		texts("was", classSnake, "Earlier names."),
		mapping("trigger", "What starts it.", newShape[Flow]("trigger",
			texts("intents", classLine, "Phrases that mean it, for understanding."),
			text("when", classAny,
				"Expression over the inputs; it is offered only while that holds.").into("Trigger"),
		)).into(sameStruct),
		flag("hidden", "Reached by call and link only."),
		flag("interruptible", "Whether another flow may begin above it; default true."),
		entries("slots", classSnake, "The values it keeps.", slotShape()),
		texts("inputs", classAny,
			"Slots that a caller or the opening sentence may give; with ? at the end they need "+
				"not be given."),
		texts("outputs", classAny,
			"Slots that a caller gets; with ? at the end they may be empty."),
		text("on_error", classAny,
			"Step, or end, after a failure that no step handles; default: the flow fails."),
		texts("reserved", classAny, "Names of steps and slots that must not come back."),
		mappings("steps", "What happens, in this order.", stepShape()).must(),
	)
}

// stepKinds are the types of steps.
func stepKinds() []string {
	return []string{"say", "collect", "set", "branch", "while", "action", "confirm", "call", "link",
		"generate", "handoff"}
}

//
//nolint:funlen // a table
func stepShape() *Shape {
	target := func(name, doc string) Key { return text(name, classAny, doc) }
	s := newShape[Step]("step",
		text("step", classSnake, "Its id, once in the flow.").into("ID").must(),
		oneOf("type", "What it does.", stepKinds()...).into("Kind").must(),
		texts("was", classSnake, "Earlier ids."),
		text("when", classAny, "Expression; the step is skipped unless it holds."),
		text("slot", classAny, "collect, confirm, generate: the slot it fills."),
		wordsKey("message", "say, collect, confirm, handoff: what is said or asked.").into("Text"),
		wordsKey("instruction", "generate: what a model is told.").into("Text"),
		readBy(Key{Name: "context", doc: "generate: slots that the model sees.", List: true},
			func(r *reader, info *Key, n *node, into *Step) {
				for _, t := range r.textsOf(info, n) {
					into.Inputs = append(into.Inputs,
						&Bind{Name: t, Value: &Expr{Op: "slot", Slot: t, At: t.At}, short: true})
				}
			}),
		text("validator", classAny, "collect: the check of its value."),
		flag("force",
			"collect: it asks although the slot is filled, or its value was said before."),
		bindsKey("values", "set: a value for each slot, in this order. null empties the slot.",
			setShape()).into("Set"),
		mappings("cases", "branch: the first that holds is taken.", newShape[FlowArm]("case",
			text("if", classAny, "Expression.").must(),
			text("then", classAny, "Where it goes on.").must(),
		)).into("Arms"),
		target("else", "branch: where it goes on when no case holds; default: next."),
		text("condition", classAny, "while: the steps of do run as long as it holds.").into("Cond"),
		number("max_rounds", formWhole, "while: more fail with the code loop; default 100."),
		mappings("do", "while: the steps of one round.", nil),
		text("call", classAny, "action: the action.").into("Action"),
		text("flow", classAny, "call, link: the flow."),
		bindsKey("inputs",
			"action, call, link: what is given: the name of a slot, a number, true or false, a "+
				"text with {slot}, or {expr: ...}. Inputs of actions that are not named are given "+
				"the slot of their name.", inputShape()),
		pairs("outputs", classSnake,
			"action, call: the slot that each output goes to. Outputs of actions that are not "+
				"named go to the slot of their name.", func(s *Step, output, slot Text) {
				s.Outputs = append(s.Outputs, &Bind{Name: output, To: slot})
			}),
		text("queue", classMark, "handoff: who takes over."),
		number("max_attempts", formWhole,
			"collect, confirm: answers that may be refused; default 3.").into("Attempts"),
		wordsKey("invalid_message",
			"collect: what is said of a value that is refused.").into("Invalid"),
		text("timeout", classDuration,
			"action: of one run; collect, confirm: how long the question stays open."),
		mapping("retry", "action: tries, in place of the action's own.", retryShape()),
		flag("raise", "action: a failure asks an operator."),
		target("next",
			"Where it goes on: a step, end, cancel_flow, error or continue; default: the step "+
				"that follows."),
		target("on_yes", "confirm: after a yes; default: next."),
		target("on_no", "confirm: after a no; default cancel_flow."),
		target("on_change",
			"confirm: after a value was corrected here; default: back to the step that collects "+
				"it, and on from there."),
		target("on_invalid", "collect, confirm: after the last attempt."),
		target("on_timeout",
			"collect, confirm: when the question was open too long; default cancel_flow."),
		target("on_cancel", "collect, confirm: when the user cancels here; default cancel_flow."),
		target("on_error", "action, call, generate: after a failure."),
	)
	s.Key("do").Of = s
	return s
}
