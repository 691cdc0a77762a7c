package edit_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// tree is a piece of a spec before it is written: a scalar, a list of scalars, or keys with values.
type tree struct {
	text  string // of scalars; raw where it must not be quoted
	raw   bool
	list  []string
	keys  []string
	below []*tree
	// 's' scalar, 'l' list, 'm' mapping whose order has a meaning, 'f' mapping whose keys may stand
	// in any order
	kind byte
}

func word(s string) *tree           { return &tree{kind: 's', text: s} }
func rawWord(s string) *tree        { return &tree{kind: 's', text: s, raw: true} }
func words(list ...string) *tree    { return &tree{kind: 'l', list: list} }
func ordered() *tree                { return &tree{kind: 'm'} }
func record() *tree                 { return &tree{kind: 'f'} }
func (t *tree) has(key string) bool { return t.get(key) != nil }

func (t *tree) put(key string, value *tree) *tree {
	t.keys, t.below = append(t.keys, key), append(t.below, value)
	return t
}

func (t *tree) get(key string) *tree {
	for i, k := range t.keys {
		if k == key {
			return t.below[i]
		}
	}
	return nil
}

// randomSpec is a valid spec in a random layout, and the names that edits can use.
type randomSpec struct {
	text                           string
	nodes, types, enums, endings   []string
	fields, branches, values, kind []string // with their owners; kinds bare
}

// draftSpec draws a valid spec of a few nodes in a chain.
func draftSpec(t *rapid.T) (*tree, *randomSpec) {
	out := &randomSpec{}
	maybe := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
	doc := func(into *tree, text string) *tree {
		if rapid.IntRange(0, 3).Draw(t, "doc") > 0 {
			into.put("doc", word(text))
		}
		return into
	}
	root := record().put("version", rawWord("1")).put("go", record().put("package", word("routes")).
		put("out", word("generated/routes")))
	enums := ordered()
	for i := range rapid.IntRange(1, 3).Draw(t, "enums") {
		name, values := fmt.Sprintf("Enum%c", 'A'+i), ordered()
		for k := range rapid.IntRange(2, 3).Draw(t, "values") {
			value := fmt.Sprintf("V%c%d", 'A'+k, i)
			out.values = append(out.values, name+"."+value)
			switch rapid.IntRange(0, 3).Draw(t, "value form") {
			case 0:
				values.put(value, rawWord(""))
			case 1:
				values.put(value, doc(record().put("hidden", rawWord("false")), "A value, long."))
			default:
				values.put(value, word("What it means: number one."))
			}
		}
		enums.put(name, doc(record(), "A set.").put("values", values))
		out.enums = append(out.enums, name)
	}
	root.put("enums", enums)
	root.put("types", draftTypes(t, out, doc))
	root.put("results", ordered().put("Ending", doc(record(), "The end.").put("fields", ordered().
		put("decision", record().put("type", word("EnumA"))).
		put("text", doc(record().put("type", word("string")), "In words.")))))
	out.endings = []string{"Ending"}
	if maybe("interrupts") {
		kinds := ordered().put("user_escape", doc(record(), "Stopped.").
			put("clash", word("supersede")).put("deadline", word("none"))).
			put("stop", doc(record(), "Held up.").put("clash", word("supersede")).
				put("deadline", word("none"))).
			put("agent_question", doc(record(), "Asked.").put("clash", word("queue"))).
			put("ask", doc(record(), "Asked of one.").put("clash", word("queue")).
				put("deadline", record().put("after", word("24h")).put("then", word("expire")))).
			put("system_error", doc(record(), "Failed.").put("clash", word("queue")))
		out.kind = []string{"stop", "ask"}
		root.put("interrupts", record().
			put("fields", ordered().put("about", record().put("type", word("EnumA"))).
				put("reason", doc(record().put("type", word("string")), "Why."))).
			put("kinds", kinds))
	}
	root.put("nodes", draftNodes(t, root.has("interrupts"), out, doc))
	if maybe("reserved") {
		root.put("reserved", words("gone"))
	}
	if maybe("conversation") {
		root.put("conversation", record().put("turn_start", word("entry")))
	}
	return root, out
}

func draftTypes(t *rapid.T, out *randomSpec, doc func(*tree, string) *tree) *tree {
	types := ordered()
	for i := range rapid.IntRange(1, 4).Draw(t, "types") {
		name := fmt.Sprintf("Type%c", 'A'+i)
		fields := ordered()
		of := append([]string{"string", "[]string", "map[string]int", "EnumA", "[]EnumA"},
			out.types...)
		for k := range rapid.IntRange(1, 3).Draw(t, "fields") {
			field := fmt.Sprintf("field%c", 'A'+k)
			f := record().put("type", word(rapid.SampledFrom(of).Draw(t, "type")))
			if f.get("type").text == "EnumA" && rapid.Bool().Draw(t, "default") {
				f.put("optional", rawWord("true")).put("default", word("VA0"))
			}
			fields.put(field, doc(f, "A field: it holds one, or two."))
			out.fields = append(out.fields, name+"."+field)
		}
		typ := doc(record(), "A type.").put("fields", fields)
		if rapid.IntRange(0, 3).Draw(t, "was") == 0 {
			typ.put("was", words(fmt.Sprintf("Old%d", i)))
		}
		types.put(name, typ)
		out.types = append(out.types, name)
	}
	return types
}

func draftNodes(t *rapid.T, asks bool, out *randomSpec, doc func(*tree, string) *tree) *tree {
	nodes := ordered()
	count := rapid.IntRange(2, 4).Draw(t, "nodes")
	for i := range count {
		name := fmt.Sprintf("node%c", 'A'+i)
		fields := ordered().put("goal", doc(record().put("type", word("string")), "The aim."))
		out.fields = append(out.fields, name+".goal")
		for k := range rapid.IntRange(0, 2).Draw(t, "more") {
			field := fmt.Sprintf("extra%c", 'A'+k)
			fields.put(field, doc(record().
				put("type", word(rapid.SampledFrom(out.types).Draw(t, "type"))), "More."))
			out.fields = append(out.fields, name+"."+field)
		}
		branches := ordered().put("done", word("Ending"))
		if i+1 < count {
			branches.put("next", word(fmt.Sprintf("Node%cRequest", 'A'+i+1)))
		}
		if i > 0 && rapid.Bool().Draw(t, "back") {
			branches.put("back", doc(record().put("type", word("NodeARequest")), "When it failed."))
		}
		if asks && rapid.Bool().Draw(t, "asks") {
			branches.put("ask", word("interrupt"))
		}
		for _, b := range branches.keys {
			out.branches = append(out.branches, name+"."+b)
		}
		node := doc(record(), "Does number "+name+".")
		if i == 0 {
			node.put("entry", rawWord("true"))
		}
		node.put("request", record().put("fields", fields)).put("branches", branches)
		if rapid.Bool().Draw(t, "refers") {
			node.put("unstick", words("done")).put("feedback", word("goal"))
			node.put("prompt", record().put("template", word("work/"+name)).
				put("vars", words("goal")))
			node.put("loop", record().put("warn", rawWord("2")).put("exempt", words("nodeA")))
		}
		if i > 0 && rapid.Bool().Draw(t, "collects") {
			on := ordered()
			for _, v := range out.values {
				if value, ok := strings.CutPrefix(v, "EnumA."); ok {
					on.put(value, word(rapid.SampledFrom([]string{"done", "end"}).Draw(t, "arm")))
				}
			}
			node.put("collect", record().put("result", word("Ending")).put("on", on).
				put("default", word("VA0")))
		}
		nodes.put(name, node)
		out.nodes = append(out.nodes, name)
	}
	return nodes
}

// layout writes a tree in random style.
type layout struct {
	t             *rapid.T
	out           strings.Builder
	step          int
	apart         bool // blank lines between the entries of a section
	shuffle, loud bool // keys out of order; comments
	longBrackets  bool // brackets over several lines
}

// drawSpec draws a valid spec with comments, blank lines, both styles and both line ends. Brackets
// may run over several lines; Format knows these, other edits refuse to change them.
func drawSpec(t *rapid.T, longBrackets bool) *randomSpec {
	root, out := draftSpec(t)
	w := &layout{t: t, step: rapid.SampledFrom([]int{2, 2, 4, 3}).Draw(t, "step"),
		apart: rapid.Bool().Draw(t, "apart"), shuffle: rapid.Bool().Draw(t, "shuffle"),
		loud: rapid.Bool().Draw(t, "loud"), longBrackets: longBrackets}
	if rapid.Bool().Draw(t, "header") {
		w.out.WriteString("# yaml-language-server: $schema=x.json\n")
	}
	w.block(root, 0, true)
	text := w.out.String()
	if rapid.IntRange(0, 3).Draw(t, "end") == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	if rapid.IntRange(0, 2).Draw(t, "windows") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	out.text = text
	return out
}

func (w *layout) order(m *tree) []int {
	at := make([]int, len(m.keys))
	for i := range at {
		at[i] = i
	}
	if w.shuffle && m.kind == 'f' {
		return rapid.Permutation(at).Draw(w.t, "order")
	}
	return at
}

func (w *layout) chance(n int, what string) bool {
	return rapid.IntRange(0, n).Draw(w.t, what) == 0
}

func (w *layout) block(m *tree, column int, top bool) {
	margin := strings.Repeat(" ", column)
	for n, i := range w.order(m) {
		if n > 0 && (w.apart && (top || m.kind == 'm' && column == w.step) || w.loud &&
			w.chance(12, "blank")) {
			w.out.WriteString("\n")
		}
		// one at the very top would speak of the file
		if w.loud && (n > 0 || !top) && w.chance(5, "comment") {
			w.out.WriteString(margin + "# about " + m.keys[i] + "\n")
			if w.chance(3, "two lines") {
				w.out.WriteString(margin + "# and more: about it\n")
			}
		}
		w.out.WriteString(margin + m.keys[i] + ":")
		v := m.below[i]
		if (v.kind == 'm' || v.kind == 'f') && (top && v.kind == 'm' || w.chance(1, "lines")) {
			w.remark()
			w.block(v, column+w.step, false)
			continue
		}
		if v.kind == 'l' && w.chance(2, "dashes") {
			w.out.WriteString("\n")
			for _, item := range v.list {
				w.out.WriteString(margin + strings.Repeat(" ", rapid.SampledFrom([]int{0, w.step}).
					Draw(w.t, "dash")) + "- " + item + "\n")
			}
			continue
		}
		if v.kind == 's' && !v.raw && m.keys[i] == "doc" && w.chance(6, "folded") {
			w.out.WriteString(" >-\n" + margin + strings.Repeat(" ", w.step) + v.text + "\n")
			continue
		}
		if text := w.flow(v, column+w.step, false); text != "" {
			w.out.WriteString(" " + text)
		}
		w.remark()
	}
}

func (w *layout) remark() {
	if w.loud && w.chance(8, "remark") {
		w.out.WriteString("  # a remark")
	}
	w.out.WriteString("\n")
}

func (w *layout) flow(v *tree, column int, inFlow bool) string {
	switch v.kind {
	case 's':
		return w.scalar(v, inFlow)
	case 'l':
		return "[" + strings.Join(v.list, ", ") + "]"
	}
	var parts []string
	for _, i := range w.order(v) {
		text := v.keys[i] // a colon in front of a comma would be part of the key
		if value := w.flow(v.below[i], column+w.step, true); value != "" {
			text += ": " + value
		}
		parts = append(parts, text)
	}
	if w.longBrackets && w.chance(6, "many lines") {
		margin, comma := strings.Repeat(" ", column), ""
		if w.chance(2, "last comma") {
			comma = ","
		}
		return "{\n" + margin + strings.Join(parts, ",\n"+margin) + comma + "\n" + margin + "}"
	}
	if w.chance(4, "wide") {
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (w *layout) scalar(v *tree, inFlow bool) string {
	if v.raw {
		return v.text
	}
	plain := !strings.Contains(v.text, ": ") && !strings.HasPrefix(v.text, "[") &&
		(!inFlow || !strings.ContainsAny(v.text, ",[]{}"))
	switch rapid.IntRange(0, 4).Draw(w.t, "quotes") {
	case 0:
		return "'" + v.text + "'"
	case 1:
		return `"` + v.text + `"`
	default:
		if plain {
			return v.text
		}
		return `"` + v.text + `"`
	}
}
