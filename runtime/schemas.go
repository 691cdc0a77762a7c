package runtime

import (
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
)

// Definition is one record as a JSON Schema object, once per dialect. References between definitions have the form
// {"$ref":"#/$defs/Name"} and are listed in Refs.
type Definition struct {
	Name      string
	Refs      []int  // what it refers to directly, row numbers counted from 1; cycles are legal
	Plain     string // the object, compact
	OpenAI    string // "" is the same as Plain, "-" means that the record has no form in the dialect; so too below
	Anthropic string
	Gemini    string
}

// in returns the object in a dialect, "-" when there is none.
func (def *Definition) in(d Dialect) string {
	text := ""
	switch d {
	case Plain:
	case OpenAI:
		text = def.OpenAI
	case Anthropic:
		text = def.Anthropic
	case Gemini:
		text = def.Gemini
	default:
		return noForm
	}
	if text == "" {
		return def.Plain
	}
	return text
}

const noForm = "-"

// Schemas composes the schemas of unions and records from prepared definitions, each with exactly the definitions it reaches, sorted as
// they were given. Equal questions get equal bytes. Safe for concurrent use.
//
// A union is compact JSON with its keys in this order. In the plain dialect:
//
//	type, properties, required (only for one branch), additionalProperties, minProperties, maxProperties, $defs
//
// In the other dialects, which accept no union at the root, one branch is a closed object with one property:
//
//	type, properties, required, additionalProperties, propertyOrdering (only Gemini), $defs
//
// and several are the same object around the one property "route", an anyOf of closed objects with one property each.
type Schemas struct {
	defs     []Definition
	branches []BranchRow
	closed   []closedBranch           // of the routes, by definition
	single   []atomic.Pointer[string] // one branch narrowed to: branch by branch, dialect by dialect
	whole    []atomic.Pointer[string] // all branches, by dialect
	sheets   []atomic.Pointer[sheet]  // by dialect
	recent   [recentSets]atomic.Pointer[recentSet]
}

// closedBranch is a branch's name and its closed object, without the last brace. Other branches may carry the record under another name.
type closedBranch struct{ name, text string }

// recentSets is how many other sets are remembered, the newest in each place; recentSize how long a text may be for that. A program asks
// for few sets again and again, and most of the cost of a text is the memory for it.
const (
	recentSets = 32
	recentSize = 64 << 10
)

// recentSet is a composed text with what it was asked by.
type recentSet struct {
	words   []uint64
	dialect Dialect
	text    string
}

// place returns where a set is remembered.
func (s *Schemas) place(words []uint64, d Dialect) *atomic.Pointer[recentSet] {
	const odd = 0x9E3779B97F4A7C15 // spreads neighbouring words over the high bits
	hash := uint64(d) + 1
	for _, w := range words {
		hash = (hash ^ w) * odd
	}
	return &s.recent[hash>>32%recentSets]
}

// NewSchemas returns the schemas over these definitions. branches are those of the interrupt routing, so that row r-1 is route r. Both
// slices are kept and must not change.
func NewSchemas(defs []Definition, branches []BranchRow) *Schemas {
	s := &Schemas{defs: defs, branches: branches, closed: make([]closedBranch, len(defs)),
		single: make([]atomic.Pointer[string], len(branches)*len(dialectNames)), whole: make([]atomic.Pointer[string], len(dialectNames)),
		sheets: make([]atomic.Pointer[sheet], len(dialectNames))}
	var room [512]byte
	for i := range branches { // made once: sets are composed of them
		if branch := &branches[i]; branch.Def > 0 && branch.Def <= len(defs) {
			s.closed[branch.Def-1] = closedBranch{branch.Name, string(s.appendClosed(room[:0], branch))}
		}
	}
	return s
}

// Set returns the schema of the interrupt routing narrowed to the routes of a set: a set of one has its own form, see [Schemas]. It
// returns "" for a set without a known route, for an unknown dialect, and when a record it needs has no form in the dialect. The schema
// of one route, and that of all, is kept after its first use, and so are those of the sets asked for last: asking again allocates nothing.
func (s *Schemas) Set(words []uint64, d Dialect) string {
	if int(d) >= len(dialectNames) {
		return ""
	}
	if r := only(words); r != 0 && r <= len(s.branches) {
		return s.kept(&s.single[(r-1)*len(dialectNames)+int(d)], s.branches[r-1:r], d)
	}
	if SetLen(words) == len(s.branches) {
		return s.kept(&s.whole[d], s.branches, d)
	}
	place := s.place(words, d)
	if c := place.Load(); c != nil && c.dialect == d && slices.Equal(c.words, words) {
		return c.text
	}
	var few [16]BranchRow
	kept := few[:0]
	for r := range SetAll[uint32](words) {
		if int(r) <= len(s.branches) {
			kept = append(kept, s.branches[r-1])
		}
	}
	text := s.Union(kept, d)
	if len(text) <= recentSize {
		place.Store(&recentSet{slices.Clone(words), d, text})
	}
	return text
}

// kept returns a text that is composed once. Two first callers may both compose it: they get equal texts.
func (s *Schemas) kept(memo *atomic.Pointer[string], branches []BranchRow, d Dialect) string {
	if text := memo.Load(); text != nil {
		return *text
	}
	text := s.Union(branches, d)
	memo.Store(&text)
	return text
}

// Union returns the schema of a routing of which exactly one of these branches may be set. It returns "" where [Schemas.Set] does.
func (s *Schemas) Union(branches []BranchRow, d Dialect) string {
	if len(branches) == 0 {
		return ""
	}
	var few fewDefinitions
	found := s.mark(&few, d)
	for i := range branches {
		found.add(branches[i].Def)
	}
	if !found.close() {
		return ""
	}
	var room [4096]byte
	head := room[:0]
	switch {
	case d == Plain:
		head = s.appendPlain(head, branches)
	case len(branches) == 1:
		head = s.appendClosed(head, &branches[0])
		if d == Gemini {
			head = append(appendName(append(head, `,"propertyOrdering":[`...), branches[0].Name), ']')
		}
	default:
		head = append(head, `{"type":"object","properties":{"`+wrapper+`":{"anyOf":[`...)
		for i := range branches {
			if i > 0 {
				head = append(head, ',')
			}
			head = append(s.appendClosed(head, &branches[i]), '}')
		}
		head = append(head, `]}},"required":["`+wrapper+`"],"additionalProperties":false`...)
		if d == Gemini {
			head = append(head, `,"propertyOrdering":["`+wrapper+`"]`...)
		}
	}
	return found.join(head)
}

// Def returns one definition, counted from 1, as a schema of its own: its object with "$defs" added at the end for what it reaches, which
// is the definition itself when it is recursive. It returns "" for a number without a row, and where [Schemas.Set] does.
func (s *Schemas) Def(i int, d Dialect) string {
	if i < 1 || i > len(s.defs) {
		return ""
	}
	object := s.defs[i-1].in(d)
	var few fewDefinitions
	found := s.mark(&few, d)
	for _, ref := range s.defs[i-1].Refs {
		found.add(ref)
	}
	if !found.close() || object == noForm {
		return ""
	}
	if found.size == 0 {
		return object
	}
	return found.join([]byte(strings.TrimSuffix(object, "}")))
}

// appendPlain appends a union as JSON Schema has it, without $defs and the last brace.
func (s *Schemas) appendPlain(b []byte, branches []BranchRow) []byte {
	b = append(b, `{"type":"object","properties":{`...)
	for i := range branches {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.appendProperty(b, &branches[i])
	}
	b = append(b, '}')
	if len(branches) == 1 {
		b = append(appendName(append(b, `,"required":[`...), branches[0].Name), ']')
	}
	return append(b, `,"additionalProperties":false,"minProperties":1,"maxProperties":1`...)
}

// appendClosed appends the object that has this branch and nothing else, without the last brace.
func (s *Schemas) appendClosed(b []byte, branch *BranchRow) []byte {
	if made := &s.closed[branch.Def-1]; made.text != "" && made.name == branch.Name {
		return append(b, made.text...)
	}
	b = s.appendProperty(append(b, `{"type":"object","properties":{`...), branch)
	b = appendName(append(b, `},"required":[`...), branch.Name)
	return append(b, `],"additionalProperties":false`...)
}

func (s *Schemas) appendProperty(b []byte, branch *BranchRow) []byte {
	b = append(appendName(b, branch.Name), `:{"$ref":"#/$defs/`...)
	return append(append(b, s.defs[branch.Def-1].Name...), `"}`...)
}

// sheet is all definitions of a dialect as members of $defs, in the order of the table, each with a comma before it. What stands together there is
// copied at once: most sets reach most definitions.
type sheet struct {
	text string
	at   []int // where each begins, and where the last ends; nothing stands where there is no form
}

// sheet returns that of a dialect. It is written when it is first asked for.
func (s *Schemas) sheet(d Dialect) *sheet {
	if int(d) >= len(s.sheets) {
		return &sheet{at: make([]int, len(s.defs)+1)}
	}
	if made := s.sheets[d].Load(); made != nil {
		return made
	}
	out := &sheet{at: make([]int, 1, len(s.defs)+1)}
	var b strings.Builder
	for i := range s.defs {
		if text := s.defs[i].in(d); text != noForm {
			b.WriteString(`,"` + s.defs[i].Name + `":` + text)
		}
		out.at = append(out.at, b.Len())
	}
	out.text = b.String()
	s.sheets[d].Store(out)
	return out
}

// reached is a set of definitions.
type reached struct {
	*sheet

	defs []Definition
	seen []uint64 // bit by bit, as a route set
	todo []uint64 // found, and their references not yet followed
	size int      // of the definitions on their sheet
	bad  bool     // a reference to no definition, or to one without a form
}

// fewDefinitions is memory on the caller's stack that is enough for most specs.
type fewDefinitions struct{ seen, todo [8]uint64 }

func (s *Schemas) mark(few *fewDefinitions, d Dialect) reached {
	r := reached{sheet: s.sheet(d), defs: s.defs, seen: few.seen[:], todo: few.todo[:]}
	if words := (len(s.defs) + 63) / 64; words > len(r.seen) {
		r.seen, r.todo = make([]uint64, words), make([]uint64, words)
	}
	return r
}

func (r *reached) add(def int) {
	if def < 1 || def > len(r.defs) {
		r.bad = true
		return
	}
	w, bit := place(uint32(def))
	r.todo[w] |= bit &^ r.seen[w]
	r.seen[w] |= bit
}

// close adds everything that is referred to. False means that a definition is missing or has no form in the dialect.
func (r *reached) close() bool {
	for again := true; again; {
		again = false
		for w := range r.todo {
			for r.todo[w] != 0 {
				i := w*64 + bits.TrailingZeros64(r.todo[w])
				r.todo[w] &= r.todo[w] - 1
				size := r.at[i+1] - r.at[i]
				r.size += size
				r.bad = r.bad || size == 0
				for _, ref := range r.defs[i].Refs {
					r.add(ref)
				}
				again = true
			}
		}
	}
	return !r.bad
}

// join returns the open object head with the definitions in the order of the table as its last key. The text is allocated once.
func (r *reached) join(head []byte) string {
	const before = `,"$defs":{`
	var b strings.Builder
	b.Grow(len(head) + len(before) + r.size + len("}}"))
	b.Write(head)
	b.WriteString(before)
	comma := 1                    // the first has none
	for w, word := range r.seen { // as SetAll, which would move the set to the heap
		for word != 0 {
			from := bits.TrailingZeros64(word)
			word += 1 << from // the carry runs through all that follow it
			to := bits.TrailingZeros64(word)
			word &= word - 1
			b.WriteString(r.text[r.at[w*64+from]+comma : r.at[w*64+to]])
			comma = 0
		}
	}
	b.WriteString("}}")
	return b.String()
}

// appendName appends a JSON name as a JSON string. Nearly every name stands for itself.
func appendName(b []byte, name string) []byte {
	if !plainText(name) {
		text, _ := Encode(name) // a string cannot be refused
		return append(b, text...)
	}
	return append(append(append(b, '"'), name...), '"')
}
