package spec

import "sync"

// language is the grammar of a whole document: the one table of keys. It is built once, and never
// written to.
var language = sync.OnceValue(func() *Shape {
	field := fieldShape("field", classMember)
	typ := typeShape(field)
	keys := []Key{
		readBy(Key{Name: "version", doc: "Version of the language: 1.", Form: formWhole,
			values: []string{"1"}}, readVersion).must(),
		mapping("go", "The Go package that is generated.", goShape()).must(),
		texts(includeKey, classFile,
			"Other files of this spec, relative to this one: sections, without version and go."),
		entries("enums", classType, "Closed sets of strings.", enumShape()),
		entries("types", classType, "Records used inside requests, and named scalars.", typ),
		entries("results", classType, "Records that end a frame.", typ),
		mapping("interrupts", "What all interrupt requests share.", interruptsShape(field)),
		entries("nodes", classNode, "The places of work.", nodeShape(field)),
		mapping("conversation", "How plain messages are taken.",
			newShape[Conversation]("conversation",
				oneOf("turn_start", "Where a new turn begins; default entry.", "entry", "last"),
				oneOf("plain_text", "Whether plain text answers the one open question; default "+
					"answer.", "answer", "strict"),
			)),
	}
	keys = append(keys, flowKeys()...)
	keys = append(keys, texts("reserved", classAny,
		"Names of nodes, types, enums, flows, actions and validators that must not come back."))
	s := newShape[Spec]("the document", keys...)
	s.oneOf = []string{"nodes", "flows"}
	return s
})

func readVersion(r *reader, info *Key, n *node, into *Spec) {
	if v := r.numberOf(&Key{Form: formWhole}, n); v != nil {
		into.Version = int(v.Value)
		if v.Value != 1 {
			r.report(RuleVersion, v.At, "write 1", "version %s of the language is unknown", n.Value)
		}
	}
}

func goShape() *Shape {
	return newShape[Go]("go",
		text("package", classPackage, "Name of the Go package.").must(),
		text("out", classOut, "Folder of the package, relative to this file.").must(),
		text("docs", classOut,
			"Folder of ROUTES.md, relative to this file; default docs beside the package's."),
		text("prompts", classOut,
			"Folder of the prompt templates, relative to this file: each is checked against the "+
				"vars of its node."),
	)
}

func enumShape() *Shape {
	value := newShape[EnumValue]("enum value",
		text("doc", classProse, "What the value means."),
		text("go_name", classGo, "Name of the Go constant."),
		flag("hidden", "Legal in Go and on the wire, never offered to a model."),
		texts("was", classValue, "Earlier names: it is a rename, not a removal and an addition."),
		text("deprecated", classProse, "Why it should not be used."),
	).orShort(Key{Name: "its doc", class: classProse, orNull: true}.into("Doc"))
	return newShape[Enum]("enum",
		text("doc", classProse, "What is chosen."),
		text("go_name", classGo, "Name of the Go type."),
		texts("was", classType, "Earlier names."),
		texts("reserved", classAny, "Values that must not come back."),
		entries("values", classValue, "The legal strings, each with its doc.", value).must(),
	)
}

func typeShape(field *Shape) *Shape {
	keys := []Key{
		text("doc", classProse, "What it holds."),
		text("display_name", classLine, "Name for people."),
		text("go_name", classGo, "Name of the Go type."),
		text("go_type", classGoType, "An existing Go type it is bound to: module/pkg.Type."),
		texts("was", classType, "Earlier names."),
		texts("reserved", classAny, "Field names that must not come back."),
		fieldsKey("The fields of the record.", field),
		typeKey("Makes a named scalar instead of a record: string, bool, int, float, time or " +
			"duration.").into("Scalar"),
	}
	return newShape[Type]("type", append(keys, constraintKeys()...)...)
}

// fieldsKey is the key `fields`.
func fieldsKey(doc string, field *Shape) Key { return entries("fields", classMember, doc, field) }

// typeKey is the key `type`: a type expression.
func typeKey(doc string) Key { return text("type", classTypeExpr, doc) }

// fieldShape is that of the members of records; the class says what their names are.
func fieldShape(noun string, names class) *Shape {
	absent := "The value of an optional field that is absent or null."
	if noun == "parameter" {
		absent = "The value of an optional one that is absent or null, and of an input that " +
			"neither a step nor a slot of its name gives."
	}
	keys := []Key{
		typeKey("string, bool, int, float, time, duration, json, []T, map[string]T, or the name " +
			"of an enum, a type or a request.").must(),
		text("doc", classProse, "What it holds; a model reads it."),
		flag("hidden", "In Go and on the wire, never in a schema that a model sees."),
		flag("optional", "May be left out."),
		oneOf("presence", "explicit: absent and zero differ.", "explicit").into("Explicit"),
		{Name: "default", doc: absent, Form: formScalar},
		text("json", classJSON, "Name on the wire; default: the key."),
		text("go_name", classGo, "Name of the Go field."),
		texts("was", names, "Earlier names."),
		text("deprecated", classProse, "Why it should not be used."),
	}
	if noun == "field" {
		keys = append(keys, Key{Name: "default_old", Form: formScalar,
			doc: "The value that a stored thread from before gets for this required field."})
	}
	return newShape[Field](noun, append(keys, constraintKeys()...)...)
}

func constraintKeys() []Key {
	return []Key{
		number("min", formNumber, "Least value of a number."),
		number("max", formNumber, "Greatest value of a number."),
		number("min_length", formWhole, "Least number of characters."),
		number("max_length", formWhole, "Greatest number of characters."),
		text("pattern", classPattern, "Regular expression (RE2) that text must match somewhere."),
		texts("accepts_old", classPattern, "Earlier patterns of which you say: the present "+
			"pattern takes each of their values."),
		number("min_items", formWhole, "Least number of items."),
		number("max_items", formWhole, "Greatest number of items."),
		text("format", classMark, "A format of JSON Schema, such as email or uri."),
		{Name: "examples", doc: "Values that show what is meant.", Form: formScalar, List: true},
	}
}

func interruptsShape(field *Shape) *Shape {
	return newShape[Interrupts]("interrupts",
		text("interface", classType, "Name of the sealed interface; default InterruptRequest."),
		text("display_name", classLine, "Name for people."),
		mapping("handler", "The one place every interrupt request comes to.",
			newShape[Handler]("handler",
				text("name", classMember, "Action name of the handler."),
				text("display_name", classLine, "Name for people."),
				text("guidance", classProse, "What prompts say about it."),
			)),
		text("routing", classType, "Name of the union of all routes; default InterruptRouting."),
		text("answer", classType,
			"The record that people answer with. What is neither text nor null must fit it."),
		fieldsKey("Fields that every interrupt request carries.", field),
		texts("reserved", classAny, "Names of these fields that must not come back."),
		entries("kinds", classKind,
			"Where interrupts come from; order is priority, the first wins.", kindShape()),
		texts("reserved_kinds", classAny, "Names of kinds that must not come back."),
	)
}

func deadlineShape() *Shape {
	return newShape[Deadline]("deadline",
		text("after", classDuration, "How long it may stay open."),
		oneOf("then", "What happens then: expire and cancel end the turn of a conversation, and "+
			"any other work.", "expire", "default", "escalate", "reroute", "cancel"),
		jsonKey("answer", "The answer of `then: default`."),
		text("assignee", classAssignee, "Who is asked next, for `then: escalate`: a person, or "+
			"a group like group:finance."),
		text("target", classAny, "Node to go to, for `then: reroute`."),
		text("reminder", classDuration, "How long before the deadline to remind."),
	).orShort(Key{Name: "none", values: []string{"none"}})
}

func kindShape() *Shape {
	return newShape[InterruptKind]("interrupt kind",
		text("doc", classProse, "When it happens."),
		texts("was", classKind, "Earlier names."),
		oneOf("clash", "What a second one does while one is open.", "supersede", "queue"),
		mapping("deadline", "How long it may stay open, and what then.", deadlineShape()),
		mapping("retry", "Tries of a failed step before a person is asked, on system_error.",
			retryShape()),
		texts("choices", classMark, "What an answer may order, on user_escape and system_error."),
		flag("route_to", "An answer may pick a legal target."),
		texts("assignees", classAssignee, "Who may answer where the question does not say: "+
			"people, and groups like group:finance; default: anybody."),
		mapping("auto", "Answered at once, by policy.", newShape[Auto]("auto",
			jsonKey("answer", "The answer that is given.").must(),
			texts("when", classAny, "Interrupt types it holds for; all when left out."),
		)),
	)
}

func retryShape() *Shape {
	return newShape[Retry]("retry",
		number("attempts", formWhole, "How many tries.").must(),
		oneOf("backoff", "How the pause grows.", "constant", "exponential"),
		text("first", classDuration, "The first pause."),
		text("max", classDuration, "The longest pause."),
	)
}

// jsonKey is a key with any value, kept as JSON text.
func jsonKey(name, doc string) Key { return Key{Name: name, doc: doc, Form: FormAny} }
