package spec

import "github.com/routegen/routegen/generator/report"

// language is the grammar of a whole document: the one table of keys. It is built per run, so
// nothing is shared.
func language() *grammar[Spec] {
	field := fieldGrammar("field", classMember)
	typ := typeGrammar(field)
	addType := func(to *[]*Type, name Text) *Type {
		*to = append(*to, &Type{Key: name})
		return (*to)[len(*to)-1]
	}
	rows := []key[Spec]{
		{Key{Name: "version", doc: "Version of the language: 1.", Form: formWhole,
			values: []string{"1"}, required: true}, readVersion},
		mapping("go", "The Go package that is generated.", goGrammar(),
			func(s *Spec, _ report.Span) *Go {
				return &s.Go
			}).must(),
		entries("enums", classType, "Closed sets of strings.", enumGrammar(),
			func(s *Spec, name Text) *Enum {
				s.Enums = append(s.Enums, &Enum{Key: name})
				return s.Enums[len(s.Enums)-1]
			}),
		entries("types", classType, "Records used inside requests, and named scalars.", typ,
			func(s *Spec, name Text) *Type { return addType(&s.Types, name) }),
		entries("results", classType, "Records that end a frame.", typ,
			func(s *Spec, name Text) *Type { return addType(&s.Results, name) }),
		mapping("interrupts", "What all interrupt requests share.", interruptsGrammar(field),
			func(s *Spec, at report.Span) *Interrupts {
				s.Interrupts = &Interrupts{At: at}
				return s.Interrupts
			}),
		entries("nodes", classNode, "The places of work.", nodeGrammar(field),
			func(s *Spec, name Text) *Node {
				s.Nodes = append(s.Nodes, &Node{Key: name})
				return s.Nodes[len(s.Nodes)-1]
			}),
		mapping("conversation", "How plain messages are taken.", newGrammar("conversation", false,
			oneOf("turn_start", "Where a new turn begins; default entry.",
				func(c *Conversation) *Text { return &c.TurnStart }, "entry", "last"),
			oneOf("plain_text", "Whether plain text answers the one open question; default answer.",
				func(c *Conversation) *Text { return &c.PlainText }, "answer", "strict"),
		), func(s *Spec, _ report.Span) *Conversation { return &s.Conversation }),
	}
	rows = append(rows, flowKeys()...)
	rows = append(rows, texts("reserved", classAny,
		"Names of nodes, types, enums, flows, actions and validators that must not come back.",
		func(s *Spec) *[]Text { return &s.Reserved }))
	g := newGrammar("the document", false, rows...)
	g.oneOf = []string{"nodes", "flows"}
	return g
}

func readVersion(r *reader, info *Key, n *node, into *Spec) {
	if v := r.numberOf(&Key{Form: formWhole}, n); v != nil {
		into.Version = int(v.Value)
		if v.Value != 1 {
			r.report(RuleVersion, v.At, "write 1", "version %s of the language is unknown", n.Value)
		}
	}
}

func goGrammar() *grammar[Go] {
	return newGrammar("go", false,
		text("package", classPackage, "Name of the Go package.", func(g *Go) *Text {
			return &g.Package
		}).must(),
		text("out", classOut, "Folder of the package, relative to this file.", func(g *Go) *Text {
			return &g.Out
		}).must(),
		text("docs", classOut, "Folder of ROUTES.md, relative to this file; default docs beside "+
			"the package's.", func(g *Go) *Text { return &g.Docs }),
		text("prompts", classOut,
			"Folder of the prompt templates, relative to this file: each is checked against the "+
				"vars of its node.", func(g *Go) *Text { return &g.Prompts }),
	)
}

func enumGrammar() *grammar[Enum] {
	value := newGrammar("enum value", true,
		text("doc", classProse, "What the value means.", func(v *EnumValue) *Text {
			return &v.Doc
		}),
		text("go_name", classGo, "Name of the Go constant.", func(v *EnumValue) *Text {
			return &v.GoName
		}),
		flag("hidden", "Legal in Go and on the wire, never offered to a model.",
			func(v *EnumValue) *bool { return &v.Hidden }),
		texts("was", classValue, "Earlier names: it is a rename, not a removal and an addition.",
			func(v *EnumValue) *[]Text { return &v.Was }),
		text("deprecated", classProse, "Why it should not be used.", func(v *EnumValue) *Text {
			return &v.Deprecated
		}),
	)
	value.orShort(Key{Name: "its doc", class: classProse},
		func(r *reader, n *node, into *EnumValue) {
			if n.Tag != TagNull {
				into.Doc = r.textOf(&Key{class: classProse}, n)
			}
		})
	return newGrammar("enum", true,
		text("doc", classProse, "What is chosen.", func(e *Enum) *Text { return &e.Doc }),
		text("go_name", classGo, "Name of the Go type.", func(e *Enum) *Text { return &e.GoName }),
		texts("was", classType, "Earlier names.", func(e *Enum) *[]Text { return &e.Was }),
		texts("reserved", classAny, "Values that must not come back.", func(e *Enum) *[]Text {
			return &e.Reserved
		}),
		entries("values", classValue, "The legal strings, each with its doc.", value,
			func(e *Enum, name Text) *EnumValue {
				e.Values = append(e.Values, &EnumValue{Key: name})
				return e.Values[len(e.Values)-1]
			}).must(),
	)
}

func typeGrammar(field *grammar[Field]) *grammar[Type] {
	rows := []key[Type]{
		text("doc", classProse, "What it holds.", func(t *Type) *Text { return &t.Doc }),
		text("display_name", classLine, "Name for people.", func(t *Type) *Text {
			return &t.DisplayName
		}),
		text("go_name", classGo, "Name of the Go type.", func(t *Type) *Text { return &t.GoName }),
		text("go_type", classGoType, "An existing Go type it is bound to: module/pkg.Type.",
			func(t *Type) *Text { return &t.GoType }),
		texts("was", classType, "Earlier names.", func(t *Type) *[]Text { return &t.Was }),
		texts("reserved", classAny, "Field names that must not come back.", func(t *Type) *[]Text {
			return &t.Reserved
		}),
		fieldsKey("The fields of the record.", field, func(t *Type) *[]*Field { return &t.Fields }),
		typeKey("Makes a named scalar instead of a record: string, bool, int, float, time or "+
			"duration.", func(t *Type) **TypeExpr { return &t.Scalar }),
	}
	return newGrammar("type", true,
		append(rows, constraintKeys(func(t *Type) *Constraints { return &t.Constraints })...)...)
}

// fieldsKey is the key `fields`.
func fieldsKey[T any](doc string, g *grammar[Field], at func(*T) *[]*Field) key[T] {
	return entries("fields", classMember, doc, g, func(into *T, name Text) *Field {
		to := at(into)
		*to = append(*to, &Field{Key: name})
		return (*to)[len(*to)-1]
	})
}

// typeKey is the key `type`: a type expression.
func typeKey[T any](doc string, at func(*T) **TypeExpr) key[T] {
	return key[T]{Key{Name: "type", doc: doc, class: classTypeExpr},
		func(r *reader, info *Key, n *node, into *T) {
			if t := r.textOf(info, n); t.Set() {
				*at(into) = r.parseType(t, n)
			}
		}}
}

// fieldGrammar is that of the members of records; the class says what their names are.
func fieldGrammar(noun string, names class) *grammar[Field] {
	absent := "The value of an optional field that is absent or null."
	if noun == "parameter" {
		absent = "The value of an optional one that is absent or null, and of an input that " +
			"neither a step nor a slot of its name gives."
	}
	rows := []key[Field]{
		typeKey("string, bool, int, float, time, duration, json, []T, map[string]T, or the name "+
			"of an enum, a type or a request.", func(f *Field) **TypeExpr { return &f.Type }).
			must(),
		text("doc", classProse, "What it holds; a model reads it.", func(f *Field) *Text {
			return &f.Doc
		}),
		flag("hidden", "In Go and on the wire, never in a schema that a model sees.",
			func(f *Field) *bool { return &f.Hidden }),
		flag("optional", "May be left out.", func(f *Field) *bool { return &f.Optional }),
		{Key{Name: "presence", doc: "explicit: absent and zero differ.",
			values: []string{"explicit"}}, func(r *reader, info *Key, n *node, into *Field) {
			into.Explicit = r.textOf(info, n).Value == "explicit"
		}},
		{Key{Name: "default", doc: absent, Form: formScalar},
			func(r *reader, info *Key, n *node, into *Field) {
				into.Default = r.scalarOf(info, n)
			}},
		text("json", classJSON, "Name on the wire; default: the key.", func(f *Field) *Text {
			return &f.JSON
		}),
		text("go_name", classGo, "Name of the Go field.", func(f *Field) *Text {
			return &f.GoName
		}),
		texts("was", names, "Earlier names.", func(f *Field) *[]Text { return &f.Was }),
		text("deprecated", classProse, "Why it should not be used.", func(f *Field) *Text {
			return &f.Deprecated
		}),
	}
	return newGrammar(noun, true,
		append(rows, constraintKeys(func(f *Field) *Constraints { return &f.Constraints })...)...)
}

func constraintKeys[T any](of func(*T) *Constraints) []key[T] {
	return []key[T]{
		number("min", formNumber, "Least value of a number.", func(t *T) **Number {
			return &of(t).Min
		}),
		number("max", formNumber, "Greatest value of a number.", func(t *T) **Number {
			return &of(t).Max
		}),
		number("min_length", formWhole, "Least number of characters.", func(t *T) **Number {
			return &of(t).MinLength
		}),
		number("max_length", formWhole, "Greatest number of characters.", func(t *T) **Number {
			return &of(t).MaxLength
		}),
		text("pattern", classPattern, "Regular expression (RE2) that text must match somewhere.",
			func(t *T) *Text { return &of(t).Pattern }),
		number("min_items", formWhole, "Least number of items.", func(t *T) **Number {
			return &of(t).MinItems
		}),
		number("max_items", formWhole, "Greatest number of items.", func(t *T) **Number {
			return &of(t).MaxItems
		}),
		text("format", classMark, "A format of JSON Schema, such as email or uri.",
			func(t *T) *Text { return &of(t).Format }),
		{Key{Name: "examples", doc: "Values that show what is meant.", Form: formScalar,
			List: true}, func(r *reader, info *Key, n *node, into *T) {
			of(into).Examples = r.scalarsOf(info, n)
		}},
	}
}

func interruptsGrammar(field *grammar[Field]) *grammar[Interrupts] {
	return newGrammar("interrupts", false,
		text("interface", classType, "Name of the sealed interface; default InterruptRequest.",
			func(i *Interrupts) *Text { return &i.Interface }),
		text("display_name", classLine, "Name for people.", func(i *Interrupts) *Text {
			return &i.DisplayName
		}),
		mapping("handler", "The one place every interrupt request comes to.",
			newGrammar("handler", false,
				text("name", classMember, "Action name of the handler.", func(h *Handler) *Text {
					return &h.Name
				}),
				text("display_name", classLine, "Name for people.", func(h *Handler) *Text {
					return &h.DisplayName
				}),
				text("guidance", classProse, "What prompts say about it.", func(h *Handler) *Text {
					return &h.Guidance
				}),
			), func(i *Interrupts, _ report.Span) *Handler { return &i.Handler }),
		text("routing", classType, "Name of the union of all routes; default InterruptRouting.",
			func(i *Interrupts) *Text { return &i.Routing }),
		text("answer", classType,
			"The record that people answer with. What is neither text nor null must fit it.",
			func(i *Interrupts) *Text { return &i.Answer }),
		fieldsKey("Fields that every interrupt request carries.", field,
			func(i *Interrupts) *[]*Field { return &i.Fields }),
		texts("reserved", classAny, "Names of these fields that must not come back.",
			func(i *Interrupts) *[]Text { return &i.Reserved }),
		entries("kinds", classKind,
			"Where interrupts come from; order is priority, the first wins.", kindGrammar(),
			func(i *Interrupts, name Text) *InterruptKind {
				i.Kinds = append(i.Kinds, &InterruptKind{Key: name})
				return i.Kinds[len(i.Kinds)-1]
			}),
		texts("reserved_kinds", classAny, "Names of kinds that must not come back.",
			func(i *Interrupts) *[]Text { return &i.ReservedKinds }),
	)
}

func kindGrammar() *grammar[InterruptKind] {
	deadline := newGrammar("deadline", false,
		text("after", classDuration, "How long it may stay open.", func(d *Deadline) *Text {
			return &d.After
		}),
		oneOf("then", "What happens then: expire and cancel end the turn of a conversation, and "+
			"any other work.", func(d *Deadline) *Text {
			return &d.Then
		}, "expire", "default", "escalate", "reroute", "cancel"),
		jsonKey("answer", "The answer of `then: default`.", func(d *Deadline) *Text {
			return &d.Answer
		}),
		text("assignee", classLine, "Who is asked next, for `then: escalate`.",
			func(d *Deadline) *Text { return &d.Assignee }),
		text("target", classAny, "Node to go to, for `then: reroute`.", func(d *Deadline) *Text {
			return &d.Target
		}),
		text("reminder", classDuration, "How long before the deadline to remind.",
			func(d *Deadline) *Text { return &d.Reminder }),
	).orShort(Key{Name: "none", values: []string{"none"}},
		func(r *reader, n *node, into *Deadline) {
			into.None = r.textOf(&Key{values: []string{"none"}}, n).Value == "none"
		})
	return newGrammar("interrupt kind", true,
		text("doc", classProse, "When it happens.", func(k *InterruptKind) *Text { return &k.Doc }),
		texts("was", classKind, "Earlier names.", func(k *InterruptKind) *[]Text { return &k.Was }),
		oneOf("clash", "What a second one does while one is open.", func(k *InterruptKind) *Text {
			return &k.Clash
		}, "supersede", "queue"),
		mapping("deadline", "How long it may stay open, and what then.", deadline,
			func(k *InterruptKind, _ report.Span) *Deadline {
				k.Deadline = &Deadline{}
				return k.Deadline
			}),
		mapping("retry", "Tries of a failed step before a person is asked, on system_error.",
			retryGrammar(), func(k *InterruptKind, _ report.Span) *Retry {
				k.Retry = &Retry{}
				return k.Retry
			}),
		texts("choices", classMark, "What an answer may order, on user_escape and system_error.",
			func(k *InterruptKind) *[]Text { return &k.Choices }),
		flag("route_to", "An answer may pick a legal target.", func(k *InterruptKind) *bool {
			return &k.RouteTo
		}),
		mapping("auto", "Answered at once, by policy.", newGrammar("auto", false,
			jsonKey("answer", "The answer that is given.", func(a *Auto) *Text {
				return &a.Answer
			}).must(),
			texts("when", classAny, "Interrupt types it holds for; all when left out.",
				func(a *Auto) *[]Text { return &a.When }),
		), func(k *InterruptKind, _ report.Span) *Auto {
			k.Auto = &Auto{}
			return k.Auto
		}),
	)
}

func retryGrammar() *grammar[Retry] {
	return newGrammar("retry", false,
		key[Retry]{Key{Name: "attempts", doc: "How many tries.", Form: formWhole,
			required: true}, func(r *reader, info *Key, n *node, into *Retry) {
			if v := r.numberOf(info, n); v != nil {
				into.Attempts = *v
			}
		}},
		oneOf("backoff", "How the pause grows.", func(t *Retry) *Text { return &t.Backoff },
			"constant", "exponential"),
		text("first", classDuration, "The first pause.", func(t *Retry) *Text { return &t.First }),
		text("max", classDuration, "The longest pause.", func(t *Retry) *Text { return &t.Max }),
	)
}

// jsonKey is a key with any value, kept as JSON text.
func jsonKey[T any](name, doc string, at func(*T) *Text) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: FormAny},
		func(r *reader, info *Key, n *node, into *T) {
			*at(into) = r.jsonOf(info, n)
		}}
}
