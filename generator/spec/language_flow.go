package spec

import "github.com/routegen/routegen/generator/report"

// flowKeys are the keys of a document for dialogue flows.
func flowKeys() []key[Spec] {
	return []key[Spec]{
		mapping("dialogue", "Settings of all flows.", talkGrammar(),
			func(s *Spec, at report.Span) *Talk {
				s.Talk = &Talk{At: at}
				return s.Talk
			}),
		entries("actions", classSnake,
			"What the program does for flows; each is a method of Actions.", actionGrammar(),
			func(s *Spec, name Text) *Action {
				s.Actions = append(s.Actions, &Action{Key: name})
				return s.Actions[len(s.Actions)-1]
			}),
		entries("validators", classSnake, "Checks of values; each is a method of Validators.",
			newGrammar("validator", true,
				text("doc", classProse, "Which values it takes.", func(v *Validator) *Text {
					return &v.Doc
				}),
				typeKey("Type of the values it takes.", func(v *Validator) **TypeExpr {
					return &v.Type
				}).must(),
				text("go_name", classGo, "Name of the Go method.", func(v *Validator) *Text {
					return &v.GoName
				}),
				texts("was", classSnake, "Earlier names.", func(v *Validator) *[]Text {
					return &v.Was
				}),
			), func(s *Spec, name Text) *Validator {
				s.Validators = append(s.Validators, &Validator{Key: name})
				return s.Validators[len(s.Validators)-1]
			}),
		responsesKey(),
		entries("flows", classSnake, "The dialogue flows.", flowGrammar(),
			func(s *Spec, name Text) *Flow {
				s.Flows = append(s.Flows, &Flow{Key: name})
				return s.Flows[len(s.Flows)-1]
			}),
	}
}

func talkGrammar() *grammar[Talk] {
	return newGrammar("dialogue", false,
		text("language", classLanguage, "Language of texts that name none; default en.",
			func(t *Talk) *Text { return &t.Language }),
		texts("languages", classLanguage, "Languages that texts may have beside it.",
			func(t *Talk) *[]Text { return &t.Languages }),
		number("max_depth", formWhole, "Flows on one stack, 1 to 32; default 8.",
			func(t *Talk) **Number { return &t.MaxDepth }),
		mapping("no_progress",
			"What happens after messages that changed nothing; default: no limit.",
			newGrammar("no_progress", false,
				number("turns", formWhole, "How many in a row.", func(t *Talk) **Number {
					return &t.NoProgress
				}).must(),
				oneOf("then", "What happens then.", func(t *Talk) *Text { return &t.NoProgThen },
					"handoff", "cancel", "fallback").must(),
			), func(t *Talk, _ report.Span) *Talk { return t }),
		text("welcome", classAny, "Flow started by a first message that starts no other.",
			func(t *Talk) *Text { return &t.Welcome }),
		text("fallback", classAny,
			"Flow started by a message that is not understood while no flow is active.", func(
				t *Talk) *Text {
				return &t.Fallback
			}),
	)
}

func actionGrammar() *grammar[Action] {
	param := fieldGrammar("parameter", classSnake)
	params := func(name, doc string, at func(*Action) *[]*Field) key[Action] {
		return entries(name, classSnake, doc, param, func(a *Action, name Text) *Field {
			to := at(a)
			*to = append(*to, &Field{Key: name})
			return (*to)[len(*to)-1]
		})
	}
	return newGrammar("action", true,
		text("doc", classProse, "What it does.", func(a *Action) *Text { return &a.Doc }),
		params("inputs", "What it is given.", func(a *Action) *[]*Field { return &a.Inputs }),
		params("outputs", "What it gives back.", func(a *Action) *[]*Field { return &a.Outputs }),
		flag("once", "It must never happen twice; default: it may be repeated under its key.",
			func(a *Action) *bool { return &a.Once }),
		text("timeout", classDuration, "How long one run may take; default 1m.",
			func(a *Action) *Text { return &a.Timeout }),
		mapping("retry", "Tries before it has failed; default: none.", retryGrammar(),
			func(a *Action, _ report.Span) *Retry {
				a.Retry = &Retry{}
				return a.Retry
			}),
		text("go_name", classGo, "Name of the Go method.", func(a *Action) *Text {
			return &a.GoName
		}),
		texts("was", classSnake, "Earlier names.", func(a *Action) *[]Text { return &a.Was }),
	)
}

// responsesKey is a mapping from the names of responses to texts.
func responsesKey() key[Spec] {
	info := Key{
		Name: "responses",
		doc:  "Texts that the machine says by itself, in place of the shipped ones.",
		Form: FormEntries, keys: classSnake,
		Of: &Shape{Short: Key{Name: "a text", Form: FormWords}},
	}
	return key[Spec]{info, func(r *reader, info *Key, n *node, into *Spec) {
		r.eachEntry(info, n, func(name Text, value *node) {
			into.Responses = append(into.Responses,
				&Response{Key: name, Text: r.wordsOf(&info.Of.Short, value)})
		})
	}}
}

// slotGrammar is what a slot has of a field: it is always there and never hidden, and it has one
// name.
func slotGrammar() *grammar[Field] {
	rows := []key[Field]{
		typeKey("string, int, float, bool, time, duration, json, the name of an enum or a named "+
			"scalar, or a list of these.", func(f *Field) **TypeExpr { return &f.Type }).must(),
		text("doc", classProse, "What it holds; understanding reads it.", func(f *Field) *Text {
			return &f.Doc
		}),
		{Key{Name: "default", doc: "The value it begins with.", Form: formScalar},
			func(r *reader, info *Key, n *node, into *Field) {
				into.Default = r.scalarOf(info, n)
			}},
		text("go_name", classGo, "Name of the Go field.", func(f *Field) *Text {
			return &f.GoName
		}),
		texts("was", classSnake, "Earlier names.", func(f *Field) *[]Text { return &f.Was }),
	}
	return newGrammar("slot", true,
		append(rows, constraintKeys(func(f *Field) *Constraints { return &f.Constraints })...)...)
}

func flowGrammar() *grammar[Flow] {
	return newGrammar("flow", true,
		text("doc", classProse, "What it is for; understanding reads it.", func(f *Flow) *Text {
			return &f.Doc
		}),
		text("display_name", classLine, "Name for people.", func(f *Flow) *Text {
			return &f.DisplayName
		}),
		text("go_name", classGo, "Stem of the Go names.", func(f *Flow) *Text { return &f.GoName }),
		texts("was", classSnake, "Earlier names.", func(f *Flow) *[]Text { return &f.Was }),
		mapping("trigger", "What starts it.", newGrammar("trigger", false,
			texts("intents", classLine, "Phrases that mean it, for understanding.",
				func(f *Flow) *[]Text { return &f.Intents }),
			exprKey("when", "Expression over the inputs; it is offered only while that holds.",
				func(f *Flow) **Expr { return &f.Trigger }),
		), func(f *Flow, _ report.Span) *Flow { return f }),
		flag("hidden", "Reached by call and link only.", func(f *Flow) *bool { return &f.Hidden }),
		key[Flow]{Key{Name: "interruptible", doc: "Whether another flow may begin above it; " +
			"default true.", Form: formFlag}, func(r *reader, info *Key, n *node, into *Flow) {
			yes := r.flagOf(info, n)
			into.Interruptible = &yes
		}},
		entries("slots", classSnake, "The values it keeps.", slotGrammar(),
			func(f *Flow, name Text) *Field {
				f.Slots = append(f.Slots, &Field{Key: name})
				return f.Slots[len(f.Slots)-1]
			}),
		texts("inputs", classAny,
			"Slots that a caller or the opening sentence may give; with ? at the end they need "+
				"not be given.", func(f *Flow) *[]Text { return &f.Inputs }),
		texts("outputs", classAny, "Slots that a caller gets; with ? at the end they may be empty.",
			func(f *Flow) *[]Text { return &f.Outputs }),
		text("on_error", classAny,
			"Step, or end, after a failure that no step handles; default: the flow fails.",
			func(f *Flow) *Text { return &f.OnError }),
		texts("reserved", classAny, "Names of steps and slots that must not come back.",
			func(f *Flow) *[]Text { return &f.Reserved }),
		stepsKey("steps", "What happens, in this order.", stepGrammar(), func(f *Flow) *[]*Step {
			return &f.Steps
		}).must(),
	)
}

// stepKinds are the types of steps.
func stepKinds() []string {
	return []string{"say", "collect", "set", "branch", "while", "action", "confirm", "call", "link",
		"generate", "handoff"}
}

//
//nolint:funlen // a table
func stepGrammar() *grammar[Step] {
	target := func(name, doc string, at func(*Step) *Text) key[Step] {
		return text(name, classAny, doc, at)
	}
	g := newGrammar("step", false,
		text("step", classSnake, "Its id, once in the flow.", func(s *Step) *Text { return &s.ID }).
			must(),
		oneOf("type", "What it does.", func(s *Step) *Text { return &s.Kind }, stepKinds()...).
			must(),
		texts("was", classSnake, "Earlier ids.", func(s *Step) *[]Text { return &s.Was }),
		exprKey("when", "Expression; the step is skipped unless it holds.",
			func(s *Step) **Expr { return &s.When }),
		text("slot", classAny, "collect, confirm, generate: the slot it fills.",
			func(s *Step) *Text { return &s.Slot }),
		wordsKey("message", "say, collect, confirm, handoff: what is said or asked.",
			func(s *Step) *Words { return &s.Text }),
		wordsKey("instruction", "generate: what a model is told.", func(s *Step) *Words {
			return &s.Text
		}),
		key[Step]{Key{Name: "context", doc: "generate: slots that the model sees.", List: true},
			func(r *reader, info *Key, n *node, into *Step) {
				for _, t := range r.textsOf(info, n) {
					into.Inputs = append(into.Inputs,
						&Bind{Name: t, Value: &Expr{Op: "slot", Slot: t, At: t.At}, short: true})
				}
			}},
		text("validator", classAny, "collect: the check of its value.", func(s *Step) *Text {
			return &s.Validator
		}),
		flag("force", "collect: it asks although the slot is filled, or its value was said before.",
			func(s *Step) *bool { return &s.Force }),
		bindsKey("values", "set: a value for each slot, in this order. null empties the slot.",
			setGrammar(), func(s *Step) *[]*Bind { return &s.Set }),
		listKey("cases", "branch: the first that holds is taken.", newGrammar("case", false,
			exprKey("if", "Expression.", func(a *FlowArm) **Expr { return &a.If }).must(),
			text("then", classAny, "Where it goes on.", func(a *FlowArm) *Text { return &a.Then }).
				must(),
		), func(s *Step, at report.Span) *FlowArm {
			s.Arms = append(s.Arms, &FlowArm{At: at})
			return s.Arms[len(s.Arms)-1]
		}),
		target("else", "branch: where it goes on when no case holds; default: next.",
			func(s *Step) *Text { return &s.Else }),
		exprKey("condition", "while: the steps of do run as long as it holds.",
			func(s *Step) **Expr { return &s.Cond }),
		number("max_rounds", formWhole, "while: more fail with the code loop; default 100.",
			func(s *Step) **Number { return &s.MaxRounds }),
		text("call", classAny, "action: the action.", func(s *Step) *Text { return &s.Action }),
		text("flow", classAny, "call, link: the flow.", func(s *Step) *Text { return &s.Flow }),
		bindsKey("inputs", "action, call, link: what is given: the name of a slot, a number, "+
			"true or false, a text with {slot}, or {expr: ...}. Inputs of actions that are not "+
			"named are given the slot of their name.", inputGrammar(), func(s *Step) *[]*Bind {
			return &s.Inputs
		}),
		outputsKey(),
		text("queue", classMark, "handoff: who takes over.", func(s *Step) *Text {
			return &s.Queue
		}),
		number("max_attempts", formWhole,
			"collect, confirm: answers that may be refused; default 3.", func(s *Step) **Number {
				return &s.Attempts
			}),
		wordsKey("invalid_message", "collect: what is said of a value that is refused.",
			func(s *Step) *Words { return &s.Invalid }),
		text("timeout", classDuration,
			"action: of one run; collect, confirm: how long the question stays open.", func(
				s *Step) *Text {
				return &s.Timeout
			}),
		mapping("retry", "action: tries, in place of the action's own.", retryGrammar(),
			func(s *Step, _ report.Span) *Retry {
				s.Retry = &Retry{}
				return s.Retry
			}),
		flag("raise", "action: a failure asks an operator.", func(s *Step) *bool {
			return &s.Raise
		}),
		target("next", "Where it goes on: a step, end, cancel_flow, error or continue; default: "+
			"the step that follows.", func(s *Step) *Text { return &s.Next }),
		target("on_yes", "confirm: after a yes; default: next.", func(s *Step) *Text {
			return &s.OnYes
		}),
		target("on_no", "confirm: after a no; default cancel_flow.", func(s *Step) *Text {
			return &s.OnNo
		}),
		target("on_change", "confirm: after a value was corrected here; default: back to the "+
			"step that collects it, and on from there.", func(s *Step) *Text {
			return &s.OnChange
		}),
		target("on_invalid", "collect, confirm: after the last attempt.", func(s *Step) *Text {
			return &s.OnInvalid
		}),
		target("on_timeout", "collect, confirm: when the question was open too long; default "+
			"cancel_flow.", func(s *Step) *Text { return &s.OnTimeout }),
		target("on_cancel", "collect, confirm: when the user cancels here; default cancel_flow.",
			func(s *Step) *Text { return &s.OnCancel }),
		target("on_error", "action, call, generate: after a failure.", func(s *Step) *Text {
			return &s.OnError
		}),
	)
	g.insertAfter("max_rounds", stepsKey("do", "while: the steps of one round.", g,
		func(s *Step) *[]*Step { return &s.Do }))
	return g
}
