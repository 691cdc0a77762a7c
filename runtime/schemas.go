package runtime

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
)

// Schemas composes the schemas of unions and records from the definitions of a generated package,
// each with exactly the definitions it reaches, sorted by name. The same call returns the same
// bytes. Safe for concurrent use.
//
// The definitions stand in one file for each dialect, "schemas/plain.json" and so on: a JSON object
// with every record under "$defs". A record without a form in the dialect is missing there. A file
// is read when its dialect is first asked for; one that is not JSON has no definitions.
//
// A union is compact JSON with its keys in this order. In the plain dialect:
//
//	type, properties, required (only for one branch), additionalProperties, minProperties,
//	maxProperties, $defs
//
// In the others, which accept no union at the root, one branch is a closed object of one property:
//
//	type, properties, required, additionalProperties, propertyOrdering (only Gemini), $defs
//
// Schemas several are the same object around the one property "route", an anyOf of closed objects
// with one property each.
type Schemas struct {
	read     func(file string) ([]byte, error)
	branches []BranchRow
	// the schemas of all branches, then those of each branch: one by one, dialect by dialect
	kept   []atomic.Pointer[string]
	sheets []atomic.Pointer[sheet] // by dialect
	recent [recentSets]atomic.Pointer[recentSet]
}

// recentSets is the number of slots for other sets; recentSize is the largest text kept. A program
// asks for few sets repeatedly, and most of the cost of a text is its memory.
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

// recentSlot returns the slot of a set.
func (s *Schemas) recentSlot(words []uint64, d Dialect) *atomic.Pointer[recentSet] {
	const odd = 0x9E3779B97F4A7C15 // spreads neighbouring words over the high bits
	hash := uint64(d) + 1
	for _, w := range words {
		hash = (hash ^ w) * odd
	}
	return &s.recent[hash>>32%recentSets]
}

// NewSchemas returns the schemas over the files that read returns. branches are those of the
// interrupt routing, so that row r-1 is route r. The slice is kept and must not change.
func NewSchemas(read func(file string) ([]byte, error), branches []BranchRow) *Schemas {
	return &Schemas{read: read, branches: branches,
		kept:   make([]atomic.Pointer[string], (1+len(branches))*len(dialectNames)),
		sheets: make([]atomic.Pointer[sheet], len(dialectNames))}
}

// Set returns the schema of the interrupt routing narrowed to the routes of a set: a set of one has
// its own form, see [Schemas]. It returns "" for a set without a known route, for an unknown
// dialect, and when a record it needs has no form in the dialect. The schema of one route, and that
// of all, is kept after its first use, and so are those of the sets asked for last: asking again
// allocates nothing.
func (s *Schemas) Set(words []uint64, d Dialect) string {
	if int(d) >= len(dialectNames) {
		return ""
	}
	if r := singleValue(words); r != 0 && r <= len(s.branches) {
		return s.composeOnce(r, s.branches[r-1:r], d)
	}
	if SetLen(words) == len(s.branches) {
		return s.composeOnce(0, s.branches, d)
	}
	place := s.recentSlot(words, d)
	if c := place.Load(); c != nil && c.dialect == d && slices.Equal(c.words, words) {
		return c.text
	}
	var few [16]BranchRow
	branches := few[:0]
	for r := range SetAll[uint32](words) {
		if int(r) <= len(s.branches) {
			branches = append(branches, s.branches[r-1])
		}
	}
	text := s.Union(branches, d)
	if len(text) <= recentSize {
		place.Store(&recentSet{slices.Clone(words), d, text})
	}
	return text
}

// composeOnce returns the schema of a route, 0 for all of them, and keeps it. Concurrent first
// callers may each compose an equal text.
func (s *Schemas) composeOnce(route int, branches []BranchRow, d Dialect) string {
	memo := &s.kept[route*len(dialectNames)+int(d)]
	if text := memo.Load(); text != nil {
		return *text
	}
	text := s.Union(branches, d)
	memo.Store(&text)
	return text
}

// Union returns the schema of a routing of which exactly one of these branches may be set. It
// returns "" where [Schemas.Set] does.
func (s *Schemas) Union(branches []BranchRow, d Dialect) string {
	if len(branches) == 0 {
		return ""
	}
	var few fewDefinitions
	found := s.newReached(&few, d)
	for i := range branches {
		def, ok := found.index[branches[i].Type]
		if !ok {
			return ""
		}
		found.addDefinition(def)
	}
	if !found.addReferenced() {
		return ""
	}
	var buf [4096]byte
	head := buf[:0]
	switch {
	case d == Plain:
		head = appendPlain(head, branches)
	case len(branches) == 1:
		head = appendClosed(head, &branches[0])
		if d == Gemini {
			head = append(appendName(append(head, `,"propertyOrdering":[`...), branches[0].Name),
				']')
		}
	default:
		head = append(head, `{"type":"object","properties":{"`+wrapper+`":{"anyOf":[`...)
		for i := range branches {
			if i > 0 {
				head = append(head, ',')
			}
			head = append(appendClosed(head, &branches[i]), '}')
		}
		head = append(head, `]}},"required":["`+wrapper+`"],"additionalProperties":false`...)
		if d == Gemini {
			head = append(head, `,"propertyOrdering":["`+wrapper+`"]`...)
		}
	}
	return found.writeDefinitions(head)
}

// Def returns the definition of a record as a schema of its own: its object with "$defs" added at
// the end for what it reaches, which is the record itself when it is recursive. It returns "" for
// an unknown name, and where [Schemas.Set] does.
func (s *Schemas) Def(name string, d Dialect) string {
	var few fewDefinitions
	found := s.newReached(&few, d)
	i, ok := found.index[name]
	if !ok || !found.has(i) {
		return ""
	}
	for _, ref := range found.refs[i] {
		found.addDefinition(ref)
	}
	if !found.addReferenced() {
		return ""
	}
	// the sheet has a comma, the name in quotes and a colon before the object
	object := found.text[found.at[i]+len(name)+len(`,"":`) : found.at[i+1]]
	if found.size == 0 {
		return object
	}
	return found.writeDefinitions([]byte(strings.TrimSuffix(object, "}")))
}

// Definitions returns the file of a dialect, nil for an unknown one.
func (s *Schemas) Definitions(d Dialect) []byte {
	if int(d) >= len(dialectNames) {
		return nil
	}
	text, err := s.read("schemas/" + d.String() + ".json")
	if err != nil {
		return nil
	}
	return text
}

// appendPlain appends a union as JSON Schema has it, without $defs and the last brace.
func appendPlain(b []byte, branches []BranchRow) []byte {
	b = append(b, `{"type":"object","properties":{`...)
	for i := range branches {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendProperty(b, &branches[i])
	}
	b = append(b, '}')
	if len(branches) == 1 {
		b = append(appendName(append(b, `,"required":[`...), branches[0].Name), ']')
	}
	return append(b, `,"additionalProperties":false,"minProperties":1,"maxProperties":1`...)
}

// appendClosed appends the object that has this branch and nothing else, without the last brace.
func appendClosed(b []byte, branch *BranchRow) []byte {
	b = appendProperty(append(b, `{"type":"object","properties":{`...), branch)
	b = appendName(append(b, `},"required":[`...), branch.Name)
	return append(b, `],"additionalProperties":false`...)
}

func appendProperty(b []byte, branch *BranchRow) []byte {
	b = append(appendName(b, branch.Name), `:{"$ref":"#/$defs/`...)
	return append(append(b, branch.Type...), `"}`...)
}

// sheet has all definitions of a dialect as members of $defs, in the order of their names, each
// compact and with a comma before it. Adjacent ones are copied at once: most sets reach most
// definitions.
type sheet struct {
	text  string
	at    []int          // where each begins, and where the last ends; without a form it is empty
	names []string       // of the definitions, the same in all dialects
	index map[string]int // of names
	refs  [][]int        // what each refers to directly; cycles are legal
}

func (s *sheet) has(i int) bool { return s.at[i] < s.at[i+1] }

// sheet returns that of a dialect. It is written when it is first asked for.
func (s *Schemas) sheet(d Dialect) *sheet {
	if int(d) >= len(s.sheets) {
		return &sheet{}
	}
	made := s.sheets[d].Load()
	if made == nil {
		made = s.newSheet(d)
		s.sheets[d].Store(made)
	}
	return made
}

// newSheet reads the file of a dialect. The plain file has every record and gives the numbers.
func (s *Schemas) newSheet(d Dialect) *sheet {
	var file struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if json.Unmarshal(s.Definitions(d), &file) != nil {
		return &sheet{}
	}
	out := &sheet{}
	if d == Plain {
		out.names = slices.Sorted(maps.Keys(file.Defs))
		out.index = make(map[string]int, len(out.names))
		for i, name := range out.names {
			out.index[name] = i
		}
	} else {
		plain := s.sheet(Plain)
		out.names, out.index = plain.names, plain.index
	}
	out.at, out.refs = make([]int, len(out.names)+1), make([][]int, len(out.names))
	var text bytes.Buffer
	for i, name := range out.names {
		if object := file.Defs[name]; object != nil {
			text.WriteString(`,"` + name + `":`)
			_ = json.Compact(&text, object) // it has been read
			out.refs[i] = out.refsIn(text.Bytes()[out.at[i]:])
		}
		out.at[i+1] = text.Len()
	}
	out.text = text.String()
	return out
}

// refsIn returns what a compact object refers to. The bytes of a reference stand nowhere else: in a
// string its quotes are escaped.
func (s *sheet) refsIn(object []byte) []int {
	var out []int
	for {
		_, rest, found := bytes.Cut(object, []byte(`"$ref":"#/$defs/`))
		if !found {
			return out
		}
		name, _, _ := bytes.Cut(rest, []byte{'"'})
		if i, ok := s.index[string(name)]; ok && !slices.Contains(out, i) {
			out = append(out, i)
		}
		object = rest
	}
}

// reached is the set of definitions that a schema needs.
type reached struct {
	*sheet

	seen []uint64 // bit by bit, as a route set
	todo []uint64 // found, and their references not yet followed
	size int      // of the definitions on their sheet
	bad  bool     // one has no form
}

// fewDefinitions is memory on the stack of the caller, enough for most specs.
type fewDefinitions struct{ seen, todo [8]uint64 }

func (s *Schemas) newReached(few *fewDefinitions, d Dialect) reached {
	r := reached{sheet: s.sheet(d), seen: few.seen[:], todo: few.todo[:]}
	if words := (len(r.index) + 63) / 64; words > len(r.seen) {
		r.seen, r.todo = make([]uint64, words), make([]uint64, words)
	}
	return r
}

func (r *reached) addDefinition(i int) {
	bit := uint64(1) << (i % 64)
	r.todo[i/64] |= bit &^ r.seen[i/64]
	r.seen[i/64] |= bit
}

// addReferenced adds everything that is referred to. False means that a definition is missing or
// has no form in the dialect.
func (r *reached) addReferenced() bool {
	for again := true; again; {
		again = false
		for w := range r.todo {
			for r.todo[w] != 0 {
				i := w*64 + bits.TrailingZeros64(r.todo[w])
				r.todo[w] &= r.todo[w] - 1
				r.size += r.at[i+1] - r.at[i]
				r.bad = r.bad || !r.has(i)
				for _, ref := range r.refs[i] {
					r.addDefinition(ref)
				}
				again = true
			}
		}
	}
	return !r.bad
}

// writeDefinitions returns the open object head with the definitions in the order of the table as
// its last key. The text is allocated once.
func (r *reached) writeDefinitions(head []byte) string {
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
