package spec

import "slices"

// AddWhat says what to add. Kind is one of EditKinds, Name is addressed as there. The new thing comes last in its section, or
// beside the neighbour that After or Before names.
type AddWhat struct {
	Kind, Name    string
	Set           []KeyValue
	After, Before string
}

// Add puts something new into the spec and keeps every other byte. It is laid out like its neighbours; a section that is not
// there yet is made in its place. The first interrupt kind of a spec comes after the shipped kinds, which then are written out.
//
// The Set fills its keys, in any order. Each Key is a path of keys, separated by dots, from the new mapping on:
//
//	doc=Writes the report.                 text is taken as it is; quotes are put around it where YAML needs them
//	entry=true   loop.limit=5              flags, numbers, defaults and JSON are written as in YAML
//	prompt.vars=goal,phase                 a list: words with commas, or in brackets as in YAML
//	request.fields.goal=string             a field: its type, or {type: string, doc: The aim.}
//	request.fields.goal.doc=The aim.       one key of it
//	branches.next=LeadRequest              a branch: its type, or {type: LeadRequest, doc: When it is done.}
//	route=none   deadline=none             what has a short form may have it
//
// In a request, an interrupt and a type, a key that the language does not have there names a field: request.goal=string. In an
// enum it names a value and may hold dots: HIGH=Should be followed soon. The words field, branch and value stand for fields,
// branches and values.
//
// Findings and no result mean that nothing was added: a name that is there already or that the language refuses, a key that
// cannot be understood, or an error that the spec would then have. Their places are in src; what is asked for has none, and neither
// has what would only be put in.
func Add(name string, src []byte, what AddWhat) (*EditResult, []Finding) {
	e, bad := open(name, src)
	if e == nil {
		return nil, bad
	}
	owner, key := "", what.Name
	if hasOwner(what.Kind) {
		owner, key = splitTarget(what.Kind, what.Name)
	}
	c, bad := e.container(what.Kind, owner)
	if c == nil {
		return nil, bad
	}
	list := c.list()
	if m := list.get(key); m != nil {
		return nil, e.refuse(RuleEditArgument, e.spanOf(m.key), "choose another name", "%s %q is there already", what.Kind, what.Name)
	}
	index, bad := e.neighbour(list, what)
	if bad != nil {
		return nil, bad
	}
	value, bad := e.build(c.entry, what.Set)
	if bad != nil {
		return nil, bad
	}
	if list != nil {
		value.lines = e.likeNeighbour(list, index, value.lines)
		e.insert(list, index, key, value)
		return e.finish(false)
	}
	nest := &fresh{kind: freshMapping, lines: true}
	if what.Kind == EditKind {
		for _, k := range DefaultKinds() {
			nest.set(k.Key.Value, k.fresh())
		}
	}
	nest.set(key, value)
	for i := len(c.path) - 1; i > 0; i-- {
		nest = freshPair(c.path[i], nest)
		nest.lines = true
	}
	e.insert(c.base, c.shape.spot(c.base, c.path[0]), c.path[0], nest)
	return e.finish(false)
}

// neighbour returns the index at which something is put in.
func (e *edition) neighbour(list *place, what AddWhat) (int, []Finding) {
	if what.After != "" && what.Before != "" {
		return 0, e.refuse(RuleEditArgument, Span{}, "name one of them", "it cannot come after %q and before %q", what.After, what.Before)
	}
	word := what.After + what.Before
	var known []string
	for _, m := range list.members() {
		known = append(known, m.key.name())
	}
	if word == "" {
		return len(known), nil
	}
	_, bare := splitTarget(what.Kind, word)
	at := max(slices.Index(known, word), slices.Index(known, bare))
	if at < 0 {
		return 0, e.unknownWord("neighbour", word, known)
	}
	if what.After != "" {
		at++
	}
	return at, nil
}

// likeNeighbour reports whether an entry is written in lines: as the one before it is, or the first one.
func (e *edition) likeNeighbour(list *place, index int, usual bool) bool {
	if len(list.pairs) == 0 {
		return usual
	}
	v := list.pairs[max(0, index-1)].value
	if v.n.Kind != mappingNode || len(v.pairs) == 0 {
		return usual
	}
	return !v.braces
}

// fresh writes a shipped kind out.
func (k *InterruptKind) fresh() *fresh {
	f := &fresh{kind: freshMapping}
	text := func(to *fresh, key string, t Text) {
		if t.Value != "" {
			to.set(key, freshText(t.Value))
		}
	}
	text(f, "doc", k.Doc)
	text(f, "clash", k.Clash)
	if d := k.Deadline; d != nil && d.None {
		f.set("deadline", freshText("none"))
	} else if d != nil {
		inner := &fresh{kind: freshMapping}
		text(inner, "after", d.After)
		text(inner, "then", d.Then)
		f.set("deadline", inner)
	}
	if r := k.Retry; r != nil {
		inner := &fresh{kind: freshMapping}
		inner.set("attempts", &fresh{text: r.Attempts.text(), tag: tagInt})
		text(inner, "backoff", r.Backoff)
		text(inner, "first", r.First)
		text(inner, "max", r.Max)
		f.set("retry", inner)
	}
	if len(k.Choices) > 0 {
		var words []string
		for _, c := range k.Choices {
			words = append(words, c.Value)
		}
		f.set("choices", freshTexts(words...))
	}
	if k.RouteTo {
		f.set("route_to", &fresh{text: "true", tag: tagBool})
	}
	return f
}
