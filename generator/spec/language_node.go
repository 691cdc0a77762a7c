package spec

import "github.com/routegen/routegen/generator/report"

//nolint:funlen // a table
func nodeGrammar(field *grammar[Field]) *grammar[Node] {
	return newGrammar("node", true,
		text("doc", classProse, "What it does; a model reads it.",
			func(n *Node) *Text { return &n.Doc }),
		text("group", classLine, "Heading it stands under in docs.",
			func(n *Node) *Text { return &n.Group }),
		text("agent_type", classAgentType,
			"Name on the wire; default DISCOVERY_ORCHESTRATOR for discoveryOrchestrator.",
			func(n *Node) *Text { return &n.AgentType }),
		texts("aliases", classAgentType, "Other agent types that input may use.",
			func(n *Node) *[]Text { return &n.Aliases }),
		text("display_name", classLine, "Name for people.",
			func(n *Node) *Text { return &n.DisplayName }),
		text("go_name", classGo, "Stem of the Go names.", func(n *Node) *Text { return &n.GoName }),
		texts("was", classMember, "Earlier keys.", func(n *Node) *[]Text { return &n.Was }),
		flag("entry", "Work begins here; exactly one node.",
			func(n *Node) *bool { return &n.Entry }),
		oneOf("only",
			"interrupt: an interrupt subtype without a request, which no branch leads to.",
			func(n *Node) *Text { return &n.Only }, "interrupt"),
		mapping("request", "The message that activates the node.", requestGrammar(field),
			func(n *Node, at report.Span) *Request {
				n.Request = &Request{At: at}
				return n.Request
			}),
		mapping("interrupt", "What the node adds to its interrupt requests.",
			nodeInterruptGrammar(field), func(n *Node, at report.Span) *NodeInterrupt {
				n.Interrupt = &NodeInterrupt{At: at}
				return n.Interrupt
			}),
		text("routing", classType, "Name of the routing type.",
			func(n *Node) *Text { return &n.Routing }),
		entries("branches", classBranch, "Where it may go next, in this order.", branchGrammar(),
			func(n *Node, name Text) *Branch {
				n.Branches = append(n.Branches, &Branch{Key: name})
				return n.Branches[len(n.Branches)-1]
			}),
		texts("reserved", classAny, "Names of branches that must not come back.",
			func(n *Node) *[]Text { return &n.Reserved }),
		mapping("route", "How the node is returned to after an interrupt.", routeGrammar(),
			func(n *Node, at report.Span) *Route {
				n.Route = &Route{At: at}
				return n.Route
			}),
		text("escalates", classAny, "Node at which its interrupts are raised.",
			func(n *Node) *Text { return &n.Escalates }),
		mapping("dispatch", "Fans a list out to children and collects their results.",
			newGrammar("dispatch", false,
				text("each", classAny, "List field of the request.",
					func(d *Dispatch) *Text { return &d.Each }).must(),
				text("to", classAny, "Node that takes each element.",
					func(d *Dispatch) *Text { return &d.To }).must(),
				text("results", classAny, "Type that a branch names to resume this node.",
					func(d *Dispatch) *Text { return &d.Results }).must(),
			), func(n *Node, at report.Span) *Dispatch {
				n.Dispatch = &Dispatch{At: at}
				return n.Dispatch
			}),
		text("result", classAny, "Type that ends the frame.",
			func(n *Node) *Text { return &n.Result }),
		mapping("collect", "Decision table of a collector.", collectGrammar(),
			func(n *Node, at report.Span) *Collect {
				n.Collect = &Collect{At: at}
				return n.Collect
			}),
		mapping("adapt", "A second accepted type, turned into the request.",
			newGrammar("adapt", false,
				text("from", classAny, "The type.", func(n *Node) *Text { return &n.Adapt }).must(),
			), func(n *Node, _ report.Span) *Node { return n }),
		mapping("prompt", "The prompt template and what it is given.", newGrammar("prompt", false,
			text("template", classTemplate, "Name of the template.",
				func(p *Prompt) *Text { return &p.Template }),
			texts("vars", classAny, "Request fields that the template uses.",
				func(p *Prompt) *[]Text { return &p.Vars }),
			text("guidance", classProse, "What the model is told about choosing a branch.",
				func(p *Prompt) *Text { return &p.Guidance }),
		), func(n *Node, at report.Span) *Prompt {
			n.Prompt = &Prompt{At: at}
			return n.Prompt
		}),
		texts("unstick", classAny, "Branches to set instead of interrupting again.",
			func(n *Node) *[]Text { return &n.Unstick }),
		text("feedback", classAny,
			"Text field of the request in which an answer arrives when the work goes on here.",
			func(n *Node) *Text { return &n.Feedback }),
		oneOf("resolve", "Whether a model makes the continued request; default model.",
			func(n *Node) *Text { return &n.Resolve }, "model", "reuse"),
		mapping("loop", "How often it may be visited or interrupted in a row.",
			newGrammar("loop", false,
				number("warn", formWhole, "Prompts warn from here on; default 2.",
					func(l *Loop) **Number { return &l.Warn }),
				number("limit", formWhole, "Refused from here on.",
					func(l *Loop) **Number { return &l.Limit }),
				texts("exempt", classAny, "Nodes or interrupt types that do not count.",
					func(l *Loop) *[]Text { return &l.Exempt }),
			), func(n *Node, at report.Span) *Loop {
				n.Loop = &Loop{At: at}
				return n.Loop
			}),
		toolsKey(),
		texts("approval", classTool, "Tools that a person has to approve.",
			func(n *Node) *[]Text { return &n.Approval }),
		text("timeout", classDuration, "How long one visit may take.",
			func(n *Node) *Text { return &n.Timeout }),
		text("action", classMark, "Action name in histories and prompts; default: the key.",
			func(n *Node) *Text { return &n.Action }),
		text("deprecated", classProse, "Why it should not be used.",
			func(n *Node) *Text { return &n.Deprecated }),
	)
}

func requestGrammar(field *grammar[Field]) *grammar[Request] {
	return newGrammar("request", false,
		text("name", classType, "Name of the type; default: the node's name and Request.",
			func(q *Request) *Text { return &q.Name }),
		text("doc", classProse, "What is asked.", func(q *Request) *Text { return &q.Doc }),
		text("display_name", classLine, "Name for people.",
			func(q *Request) *Text { return &q.DisplayName }),
		text("go_type", classGoType, "An existing Go type it is bound to: module/pkg.Type.",
			func(q *Request) *Text { return &q.GoType }),
		fieldsKey("The fields of the request.", field,
			func(q *Request) *[]*Field { return &q.Fields }),
		texts("reserved", classAny, "Field names that must not come back.",
			func(q *Request) *[]Text { return &q.Reserved }),
	)
}

func nodeInterruptGrammar(field *grammar[Field]) *grammar[NodeInterrupt] {
	return newGrammar("interrupt", false,
		text("name", classType, "Name of the type; default: the node's name and InterruptRequest.",
			func(i *NodeInterrupt) *Text { return &i.Name }),
		text("doc", classProse, "When it is raised.",
			func(i *NodeInterrupt) *Text { return &i.Doc }),
		text("display_name", classLine, "Name for people.",
			func(i *NodeInterrupt) *Text { return &i.DisplayName }),
		fieldsKey("Its own fields, after the common ones.", field,
			func(i *NodeInterrupt) *[]*Field { return &i.Fields }),
		texts("reserved", classAny, "Field names that must not come back.",
			func(i *NodeInterrupt) *[]Text { return &i.Reserved }),
	)
}

func branchGrammar() *grammar[Branch] {
	return newGrammar("branch", true,
		text("type", classAny, "Type it carries, or `interrupt`.",
			func(b *Branch) *Text { return &b.Type }).must(),
		text("doc", classProse, "When to take it.", func(b *Branch) *Text { return &b.Doc }),
		text("json", classJSON, "Name on the wire; default: the key.",
			func(b *Branch) *Text { return &b.JSON }),
		text("go_name", classGo, "Name of the Go field.",
			func(b *Branch) *Text { return &b.GoName }),
		texts("was", classMember, "Earlier names.", func(b *Branch) *[]Text { return &b.Was }),
	).orShort(Key{Name: "the type it carries"}, func(r *reader, n *node, into *Branch) {
		into.Type = r.textOf(&Key{}, n)
	})
}

func routeGrammar() *grammar[Route] {
	return newGrammar("route", false,
		text("field", classBranch, "Name of its branch in the interrupt routing.",
			func(t *Route) *Text { return &t.Field }),
		text("tag", classType, "Name of its tag.", func(t *Route) *Text { return &t.Tag }),
		text("returns", classAny, "Type that the interrupt routing carries for it.",
			func(t *Route) *Text { return &t.Returns }),
		text("doc", classProse, "When to return here.", func(t *Route) *Text { return &t.Doc }),
	).orShort(Key{Name: "none", values: []string{"none"}},
		func(r *reader, n *node, into *Route) {
			into.None = r.textOf(&Key{values: []string{"none"}}, n).Value == "none"
		})
}

func collectGrammar() *grammar[Collect] {
	pairs := func(name, doc string, required bool,
		add func(c *Collect, left, right Text)) key[Collect] {
		info := Key{Name: name, doc: doc, Form: FormEntries, required: required,
			Of: &Shape{Short: Key{Name: "text"}}}
		return key[Collect]{info, func(r *reader, info *Key, n *node, into *Collect) {
			r.eachEntry(info, n, func(left Text, value *node) {
				if right := r.textOf(&Key{}, value); right.Set() {
					add(into, left, right)
				}
			})
		}}
	}
	return newGrammar("collect", false,
		text("result", classAny, "Type that carries the decision.",
			func(c *Collect) *Text { return &c.Result }).must(),
		pairs("on", "Branch per decision, or `end`.", true, func(c *Collect, l, t Text) {
			c.On = append(c.On, Arm{l, t})
		}),
		pairs("carry", "Fields of the next request, from fields of the result.", false,
			func(c *Collect, l, t Text) { c.Carry = append(c.Carry, Carry{l, t}) }),
		text("default", classAny, "Decision of a result that names none.",
			func(c *Collect) *Text { return &c.Default }),
	)
}

// toolsKey is a list of names, hand-overs and MCP servers.
func toolsKey() key[Node] {
	tool := newGrammar("tool", false,
		text("name", classTool, "Name of a tool of the program.",
			func(t *Tool) *Text { return &t.Name }),
		texts("transfer_to", classAny, "Nodes it may hand over to.",
			func(t *Tool) *[]Text { return &t.TransferTo }),
		text("mcp", classTool, "MCP server whose tools are offered.",
			func(t *Tool) *Text { return &t.MCP }),
		flag("once", "What the tool, or any tool of the server, does must never happen twice; "+
			"default: it may be repeated under its key.",
			func(t *Tool) *bool { return &t.Once }),
	).orShort(Key{Name: "the name of a tool"}, func(r *reader, n *node, into *Tool) {
		into.Name = r.textOf(&Key{class: classTool}, n)
	})
	return key[Node]{Key{Name: "tools", doc: "Tools the model is offered.", Form: FormMapping,
		Of: tool.Shape, List: true}, func(r *reader, info *Key, n *node, into *Node) {
		if n.Kind != SequenceNode {
			r.wrongKind(info, n)
			return
		}
		for _, item := range n.Content {
			into.Tools = append(into.Tools, Tool{})
			t := &into.Tools[len(into.Tools)-1]
			readMapping(r, tool, item, t)
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
	}}
}
