package edit

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// KeyValue sets one key of a new thing; see [Add] for the forms of both.
type KeyValue struct{ Key, Value string }

// Addition says what to add. Kind is one of Kinds, Name is written as there. The new thing comes
// last in its section, or beside the neighbour that After or Before names.
type Addition struct {
	Kind, Name    string
	Set           []KeyValue
	After, Before string
}

// Add puts something new into the spec and keeps every other byte. It is laid out like its
// neighbours; a section that does not exist is made in its place. The first interrupt kind of a
// spec comes after the shipped kinds, which are then written out.
//
// Set fills its keys, in any order. Each Key is a path of keys, separated by dots, from the new
// mapping on:
//
//	doc=Writes the report.            text is taken as it is, and quoted where YAML needs it
//	entry=true   loop.limit=5         flags, numbers, defaults and JSON are written as in YAML
//	prompt.vars=goal,phase            a list: words with commas, or in brackets as in YAML
//	request.fields.goal=string        a field: its type, or {type: string, doc: The aim.}
//	request.fields.goal.doc=The aim.  one key of it
//	branches.next=LeadRequest         a branch: its type, or {type: LeadRequest, doc: Done.}
//	route=none   deadline=none        what has a short form may have it
//
// In a request, an interrupt and a type, a key that the language does not have there names a field:
// request.goal=string. In an enum it names a value and may hold dots: HIGH=Should be followed soon.
// The words field, branch and value stand for fields, branches and values.
//
// Add returns findings and no text if it refuses: a name that exists already or that the language
// does not allow, a key that cannot be understood, or an error that the spec would then have. Their
// positions are in src; a finding about the request or about new text has none.
func Add(name string, src []byte, what Addition) ([]byte, []report.Finding) {
	return single(Files{{Name: name, Text: src}}.Add(what))
}

func (e *change) add(what Addition) {
	owner, key := splitName(what.Kind, what.Name)
	if e.at(section(what.Kind), key) == nil {
		_, key = splitName(what.Kind, what.After+what.Before)
	}
	c := e.container(what.Kind, owner, key)
	if c == nil {
		return
	}
	_, key = splitName(what.Kind, what.Name)
	things := c.things()
	if p := things.get(key); p != nil {
		e.refuse(spec.RuleEditArgument, e.spanOf(p.key), "choose another name",
			"%s %q is there already", what.Kind, what.Name)
		return
	}
	index := e.neighbour(things, what)
	n := e.build(c.entry, what.Set)
	if len(e.refused) > 0 {
		return
	}
	if things != nil {
		if n.Kind == spec.MappingNode {
			e.inLines[n] = likeNeighbour(things, index, e.inLines[n])
		}
		e.insert(things, index, key, n)
		return
	}
	nest := mappingNode("", nil)
	e.inLines[nest] = true
	if what.Kind == KindKind {
		for _, line := range spec.DefaultKindLines() {
			nest.Content = append(nest.Content, spec.ReadYAML([]byte(line)).Content...)
		}
	}
	setMember(nest, key, n)
	for _, key := range slices.Backward(c.path[1:]) {
		nest = mappingNode(key, nest)
		e.inLines[nest] = true
	}
	e.insert(c.base, spot(c.shape, c.base, c.path[0]), c.path[0], nest)
}

// neighbour returns the index at which something is put in, or refuses.
func (e *change) neighbour(things *value, what Addition) int {
	if what.After != "" && what.Before != "" {
		e.refuseArgumentf("name one of them", "it cannot come after %q and before %q", what.After,
			what.Before)
	}
	word, known := what.After+what.Before, things.keys()
	if word == "" {
		return len(known)
	}
	_, bare := splitName(what.Kind, word)
	at := max(slices.Index(known, word), slices.Index(known, bare))
	if at < 0 && len(e.refused) == 0 {
		e.unknown("neighbour", word, known)
	}
	if what.After != "" {
		at++
	}
	return at
}

// likeNeighbour reports whether an entry is written in lines: as the one before it, or the first.
func likeNeighbour(things *value, index int, usual bool) bool {
	if len(things.pairs) == 0 {
		return usual
	}
	v := things.pairs[max(0, index-1)].value
	if v.n.Kind != spec.MappingNode || len(v.pairs) == 0 {
		return usual
	}
	return !v.brackets
}
