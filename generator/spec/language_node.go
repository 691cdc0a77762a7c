package spec

func nodeShape(field *Shape) *Shape {
	return newShape[Node]("node",
		text("doc", classProse, "What it does; a model reads it."),
		text("group", classLine, "Heading it stands under in docs."),
		text("agent_type", classAgentType,
			"Name on the wire; default DISCOVERY_ORCHESTRATOR for discoveryOrchestrator."),
		texts("aliases", classAgentType, "Other agent types that input may use."),
		text("display_name", classLine, "Name for people."),
		text("go_name", classGo, "Stem of the Go names."),
		texts("was", classNode, "Earlier keys."),
		flag("entry", "Work begins here; exactly one node."),
		oneOf("only",
			"interrupt: an interrupt subtype without a request, which no branch leads to.",
			"interrupt"),
		mapping("request", "The message that activates the node.", requestShape(field)),
		mapping("interrupt", "What the node adds to its interrupt requests.",
			nodeInterruptShape(field)),
		text("routing", classType, "Name of the routing type."),
		entries("branches", classBranch, "Where it may go next, in this order.", branchShape()),
		texts("reserved", classAny, "Names of branches that must not come back."),
		mapping("route", "How the node is returned to after an interrupt.", routeShape()),
		text("escalates", classAny, "Node at which its interrupts are raised."),
		mapping("dispatch", "Fans a list out to children and collects their results.",
			newShape[Dispatch]("dispatch",
				text("each", classAny, "List field of the request.").must(),
				text("to", classAny, "Node that takes each element.").must(),
				text("results", classAny, "Type that a branch names to resume this node.").must(),
			)),
		text("result", classAny, "Type that ends the frame."),
		mapping("collect", "Decision table of a collector.", collectShape()),
		mapping("adapt", "A second accepted type, turned into the request.", newShape[Node]("adapt",
			text("from", classAny, "The type.").into("Adapt").must(),
		)).into(sameStruct),
		mapping("prompt", "The prompt template and what it is given.", newShape[Prompt]("prompt",
			text("template", classTemplate, "Name of the template."),
			texts("vars", classAny, "Request fields that the template uses."),
			text("guidance", classProse, "What the model is told about choosing a branch."),
		)),
		texts("unstick", classAny, "Branches to set instead of interrupting again."),
		text("feedback", classAny,
			"Text field of the request in which an answer arrives when the work goes on here."),
		oneOf("resolve", "Whether a model makes the continued request; default model.", "model",
			"reuse"),
		mapping("loop", "How often it may be visited or interrupted in a row.",
			newShape[Loop]("loop",
				number("warn", formWhole, "Prompts warn from here on; default 2."),
				number("limit", formWhole, "Refused from here on."),
				texts("exempt", classAny, "Nodes or interrupt types that do not count."),
			)),
		toolsKey(),
		texts("approval", classTool, "Tools that a person has to approve."),
		text("timeout", classDuration, "How long one visit may take."),
		mapping("deadline", "How long a question of the node may stay open, and what then; "+
			"default: the deadline of agent_question.", deadlineShape()),
		texts("assignees", classAssignee, "Who may answer a question of the node: people, and "+
			"groups like group:finance; default: the assignees of agent_question."),
		text("action", classMark, "Action name in histories and prompts; default: the key."),
		text("deprecated", classProse, "Why it should not be used."),
	)
}

func requestShape(field *Shape) *Shape {
	return newShape[Request]("request",
		text("name", classType, "Name of the type; default: the node's name and Request."),
		text("doc", classProse, "What is asked."),
		text("display_name", classLine, "Name for people."),
		text("go_type", classGoType, "An existing Go type it is bound to: module/pkg.Type."),
		fieldsKey("The fields of the request.", field),
		texts("reserved", classAny, "Field names that must not come back."),
	)
}

func nodeInterruptShape(field *Shape) *Shape {
	return newShape[NodeInterrupt]("interrupt",
		text("name", classType, "Name of the type; default: the node's name and InterruptRequest."),
		text("doc", classProse, "When it is raised."),
		text("display_name", classLine, "Name for people."),
		fieldsKey("Its own fields, after the common ones.", field),
		texts("reserved", classAny, "Field names that must not come back."),
	)
}

func branchShape() *Shape {
	return newShape[Branch]("branch",
		text("type", classAny, "Type it carries, or `interrupt`.").must(),
		text("doc", classProse, "When to take it."),
		text("json", classJSON, "Name on the wire; default: the key."),
		text("go_name", classGo, "Name of the Go field."),
		texts("was", classBranch, "Earlier names."),
	).orShort(Key{Name: "the type it carries"}.into("Type"))
}

func routeShape() *Shape {
	return newShape[Route]("route",
		text("field", classBranch, "Name of its branch in the interrupt routing."),
		text("tag", classType, "Name of its tag."),
		text("returns", classAny, "Type that the interrupt routing carries for it."),
		text("doc", classProse, "When to return here."),
	).orShort(Key{Name: "none", values: []string{"none"}})
}

func collectShape() *Shape {
	return newShape[Collect]("collect",
		text("result", classAny, "Type that carries the decision.").must(),
		pairs("on", classAny, "Branch per decision, or `end`.", func(c *Collect, from, to Text) {
			c.On = append(c.On, Arm{from, to})
		}).must(),
		pairs("carry", classAny, "Fields of the next request, from fields of the result.",
			func(c *Collect, to, from Text) { c.Carry = append(c.Carry, Carry{to, from}) }),
		text("default", classAny, "Decision of a result that names none."),
	)
}

// toolsKey is a list of names, hand-overs and MCP servers.
func toolsKey() Key {
	tool := newShape[Tool]("tool",
		text("name", classTool, "Name of a tool of the program."),
		texts("transfer_to", classAny, "Nodes it may hand over to."),
		text("mcp", classTool, "MCP server whose tools are offered."),
		flag("once",
			"What the tool, or any tool of the server, does must never happen twice; default: it "+
				"may be repeated under its key."),
	).orShort(Key{Name: "the name of a tool", class: classTool}.into("Name"))
	return readBy(Key{Name: "tools", doc: "Tools the model is offered.", Form: FormMapping,
		Of: tool, List: true}, func(r *reader, info *Key, n *node, into *Node) {
		if n.Kind != SequenceNode {
			r.wrongKind(info, n)
			return
		}
		for _, item := range n.Content {
			into.Tools = append(into.Tools, Tool{})
			t := &into.Tools[len(into.Tools)-1]
			r.readMapping(tool, item, t)
			forms := 0
			for _, set := range []bool{t.Name.Set(), len(t.TransferTo) > 0, t.MCP.Set()} {
				if set {
					forms++
				}
			}
			switch {
			case item.Kind == MappingNode && forms != 1:
				r.report(RuleConflict, r.span(item), "",
					"a tool is a name, {transfer_to: [...]} or {mcp: ...}, one of them")
			case t.Once && len(t.TransferTo) > 0:
				r.report(RuleConflict, r.span(item), "remove once",
					"a hand-over is no tool that runs: it cannot have once")
			}
		}
	})
}
