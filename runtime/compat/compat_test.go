package compat_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
)

// shapes returns a small table; edit changes it.
func shapes(edit func(map[string]*runtime.StoredShape)) []runtime.StoredShape {
	list := []*runtime.StoredShape{
		{Kind: runtime.ShapeNode, Name: "lead",
			Fields: []runtime.StoredField{{Name: "request", Type: "LeadRequest"}}},
		{Kind: runtime.ShapeRequest, Name: "LeadRequest", Fields: []runtime.StoredField{
			{Name: "goal", Type: "string", Required: true,
				Rules: []string{"max_length=80", "pattern=^a"}},
			{Name: "depth", Type: "int", Rules: []string{"min=1", "max=9"}},
			{Name: "notes", Type: "[]Note"},
			{Name: "key", Type: "Key"},
			{Name: "at", Type: "time"},
			{Name: "phase", Type: "Phase"},
		}},
		{Kind: runtime.ShapeRecord, Name: "Note",
			Fields: []runtime.StoredField{{Name: "text", Type: "string", Required: true},
				{Name: "next", Type: "Note"}}},
		{Kind: runtime.ShapeRecord, Name: "Memo",
			Fields: []runtime.StoredField{{Name: "text", Type: "string", Required: true},
				{Name: "next", Type: "Memo"}}},
		{Kind: runtime.ShapeScalar, Name: "Key",
			Fields: []runtime.StoredField{{Type: "string", Required: true,
				Rules: []string{"max_length=40"}}}},
		{Kind: runtime.ShapeEnum, Name: "Phase", Fields: []runtime.StoredField{{Name: "PLAN"},
			{Name: "WORK"}}},
		{Kind: runtime.ShapeUnion, Name: "LeadRouting",
			Fields: []runtime.StoredField{{Name: "again", Type: "LeadRequest"}}},
	}
	byName := map[string]*runtime.StoredShape{}
	for _, s := range list {
		byName[s.Name] = s
	}
	if edit != nil {
		edit(byName)
	}
	var out []runtime.StoredShape
	for _, s := range list {
		for _, kept := range byName { // a shape that was taken out of the map is gone
			if kept == s {
				out = append(out, *s)
			}
		}
	}
	return out
}

func field(s *runtime.StoredShape, name string) *runtime.StoredField {
	i := slices.IndexFunc(s.Fields, func(f runtime.StoredField) bool { return f.Name == name })
	return &s.Fields[i]
}

func without(s *runtime.StoredShape, name string) {
	s.Fields = slices.DeleteFunc(s.Fields, func(f runtime.StoredField) bool {
		return f.Name == name
	})
}

type table = map[string]*runtime.StoredShape

func TestCompareShapes(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(table)
		want []string // cause, shape.field, and what that is now where it is another
	}{
		"nothing": {nil, nil},
		"optional from required": {func(s table) {
			field(s["LeadRequest"], "goal").Required = false
		}, nil},
		"required from optional": {func(s table) {
			field(s["LeadRequest"], "depth").Required = true
		}, []string{"required LeadRequest.depth"}},
		"new and optional": {func(s table) {
			s["Note"].Fields = append(s["Note"].Fields,
				runtime.StoredField{Name: "by", Type: "string"})
		}, nil},
		"new and required": {func(s table) {
			s["Note"].Fields = append(s["Note"].Fields,
				runtime.StoredField{Name: "by", Type: "string", Required: true})
		}, []string{"required Note. Note.by"}},
		"field gone": {func(s table) { without(s["Note"], "next") },
			[]string{"removed Note.next Note."}},
		"field renamed": {func(s table) {
			*field(s["LeadRequest"], "depth") = runtime.StoredField{Name: "deep",
				Was: []string{"depth"}, Type: "int"}
		}, []string{"renamed LeadRequest.depth LeadRequest.deep"}},
		"field renamed and still read": {func(s table) {
			*field(s["LeadRequest"], "depth") = runtime.StoredField{Name: "deep",
				Accepts: []string{"depth"}, Type: "int"}
		}, nil},
		"int to float": {func(s table) {
			field(s["LeadRequest"], "depth").Type = "float"
		}, nil},
		"int to string": {func(s table) {
			field(s["LeadRequest"], "depth").Type = "string"
		}, []string{"type LeadRequest.depth"}},
		"time to string": {func(s table) {
			field(s["LeadRequest"], "at").Type = "string"
		}, nil},
		"string to time": {func(s table) {
			field(s["LeadRequest"], "goal").Type = "time"
		}, []string{"type LeadRequest.goal"}},
		"anything to json": {func(s table) {
			field(s["LeadRequest"], "notes").Type = "json"
		}, nil},
		"many to one": {func(s table) {
			field(s["LeadRequest"], "notes").Type = "Note"
		}, []string{"cardinality LeadRequest.notes"}},
		"list to map": {func(s table) {
			field(s["LeadRequest"], "notes").Type = "map[string]Note"
		}, []string{"type LeadRequest.notes"}},
		"a record of the same form": {func(s table) {
			field(s["LeadRequest"], "notes").Type = "[]Memo"
		}, nil},
		"a record of another form": {func(s table) {
			field(s["LeadRequest"], "notes").Type = "[]LeadRequest"
		}, []string{"type LeadRequest.notes"}},
		"enum to string": {func(s table) {
			field(s["LeadRequest"], "phase").Type = "string"
		}, nil},
		"enum to a bounded string": {func(s table) {
			field(s["LeadRequest"], "phase").Type = "Key"
		}, []string{"tightened LeadRequest.phase"}},
		"string to enum": {func(s table) {
			field(s["LeadRequest"], "goal").Type = "Phase"
		}, []string{"type LeadRequest.goal"}},
		"scalar to its form": {func(s table) {
			field(s["LeadRequest"], "key").Type = "string"
		}, nil},
		"string to a tighter scalar": {func(s table) {
			field(s["LeadRequest"], "goal").Type = "Key"
		}, []string{"tightened LeadRequest.goal"}},
		"value added": {func(s table) {
			s["Phase"].Fields = append(s["Phase"].Fields, runtime.StoredField{Name: "REST"})
		}, nil},
		"value gone": {func(s table) { without(s["Phase"], "WORK") },
			[]string{"removed Phase.WORK Phase."}},
		"value renamed": {func(s table) {
			*field(s["Phase"], "WORK") = runtime.StoredField{Name: "JOB", Was: []string{"WORK"}}
		}, []string{"renamed Phase.WORK Phase.JOB"}},
		"bound tightened": {func(s table) {
			field(s["LeadRequest"], "depth").Rules = []string{"min=2", "max=9"}
		}, []string{"tightened LeadRequest.depth"}},
		"bound loosened": {func(s table) {
			field(s["LeadRequest"], "depth").Rules = []string{"max=10"}
		}, nil},
		"pattern gone": {func(s table) {
			field(s["LeadRequest"], "goal").Rules = []string{"max_length=80"}
		}, nil},
		"another pattern": {func(s table) {
			field(s["LeadRequest"], "goal").Rules = []string{"max_length=80", "pattern=^b"}
		}, []string{"tightened LeadRequest.goal"}},
		"scalar tightened": {func(s table) {
			s["Key"].Fields[0].Rules = []string{"max_length=4"}
		}, []string{"tightened Key."}},
		"branch gone": {func(s table) { without(s["LeadRouting"], "again") },
			[]string{"removed LeadRouting.again LeadRouting."}},
		"branch of another message": {func(s table) {
			field(s["LeadRouting"], "again").Type = "Memo"
		}, []string{"type LeadRouting.again"}},
		"node takes another message": {func(s table) {
			field(s["lead"], "request").Type = "Note"
		}, []string{"type lead.request"}},
		"node renamed": {func(s table) {
			s["lead"].Name, s["lead"].Was = "boss", []string{"lead"}
		}, []string{"renamed lead. boss."}},
		"message renamed and still read": {func(s table) {
			s["LeadRequest"].Accepts = []string{"Old"}
		}, nil},
		"record renamed": {func(s table) {
			s["Note"].Name, s["Note"].Was = "Remark", []string{"Note"}
			field(s["LeadRequest"], "notes").Type, field(s["Note"], "next").Type = "[]Remark",
				"Remark"
		}, nil},
		"record that became a result": {func(s table) { s["Note"].Kind = runtime.ShapeResult },
			nil},
		"request no more": {func(s table) {
			s["LeadRequest"].Kind = runtime.ShapeRecord
		}, []string{"removed LeadRequest."}},
		"record of no use gone": {func(s table) { delete(s, "Memo") }, nil},
		"message gone": {func(s table) { delete(s, "lead") },
			[]string{"removed lead. ."}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, b := range compat.Compare(shapes(nil), shapes(c.edit)) {
				place := b.Shape + "." + b.Field
				if is := b.NewShape + "." + b.NewField; is != place {
					place += " " + is
				}
				got = append(got, b.Cause+" "+place)
				assert.NotEmpty(t, b.Reason)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestFingerprint(t *testing.T) {
	want := compat.Fingerprint(shapes(nil))
	assert.Len(t, want, 64)
	mixed := shapes(nil)
	slices.Reverse(mixed)
	for i := range mixed {
		slices.Reverse(mixed[i].Fields)
		mixed[i].Was = []string{"former"}
	}
	assert.Equal(t, want, compat.Fingerprint(mixed), "order and earlier names do not count")
	for name, edit := range map[string]func(table){
		"type":     func(s table) { field(s["LeadRequest"], "depth").Type = "float" },
		"required": func(s table) { field(s["LeadRequest"], "depth").Required = true },
		"rule":     func(s table) { field(s["LeadRequest"], "depth").Rules = nil },
		"value":    func(s table) { without(s["Phase"], "WORK") },
		"kind":     func(s table) { s["Note"].Kind = runtime.ShapeResult },
	} {
		assert.NotEqual(t, want, compat.Fingerprint(shapes(edit)), name)
	}
}

// TestShapesAreStored: a table survives JSON, in which a store keeps it.
func TestShapesAreStored(t *testing.T) {
	text, err := json.Marshal(shapes(nil))
	require.NoError(t, err)
	var back []runtime.StoredShape
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, compat.Fingerprint(shapes(nil)), compat.Fingerprint(back))
	assert.Empty(t, compat.Compare(shapes(nil), back))
	assert.NotContains(t, string(text), "null", strings.TrimSpace(string(text)))
}

func TestTightened(t *testing.T) {
	assert.Empty(t, compat.Tightened([]string{"min=1", "max_length=10"},
		[]string{"min=0", "max_length=10"}))
	assert.Equal(t, []string{"min=2"}, compat.Tightened([]string{"min=1"}, []string{"min=2"}))
	assert.Equal(t, []string{"max_items=3"}, compat.Tightened(nil, []string{"max_items=3"}))
	assert.Equal(t, []string{"format=email"},
		compat.Tightened([]string{"format=uri"}, []string{"format=email"}))
	assert.Equal(t, []string{"pattern=2"},
		compat.Tightened([]string{"pattern=3"}, []string{"pattern=2"}), "a pattern is no number")
}

// TestStoredFlows: a conversation stands at a step of a flow and holds what slots were told;
// earlier names that are read are no break.
func TestStoredFlows(t *testing.T) {
	t.Parallel()
	flow := func(fields ...runtime.StoredField) []runtime.StoredShape {
		return []runtime.StoredShape{{Kind: runtime.ShapeFlow, Name: "send", Fields: fields}}
	}
	iban, ask := runtime.StoredField{Name: "slot iban",
		Type: "string"}, runtime.StoredField{Name: "step ask", Type: "step collect"}
	old := flow(iban, ask)
	for name, c := range map[string]struct {
		now  []runtime.StoredShape
		want []string
	}{
		"same": {flow(ask, iban), nil},
		"more": {flow(iban, ask,
			runtime.StoredField{Name: "step bye", Type: "step say"},
			runtime.StoredField{Name: "slot bye", Type: "bool"}), nil},
		"gone flow": {nil, []string{"removed "}},
		"gone step": {flow(iban), []string{"removed step ask"}},
		"gone slot": {flow(ask), []string{"removed slot iban"}},
		"other kind": {flow(iban,
			runtime.StoredField{Name: "step ask", Type: "step confirm"}),
			[]string{"type step ask"}},
		"other type": {flow(runtime.StoredField{Name: "slot iban", Type: "int"}, ask),
			[]string{"type slot iban"}},
		"accepted step": {flow(iban,
			runtime.StoredField{Name: "step ask_iban", Type: "step collect",
				Accepts: []string{"step ask"}}), nil},
		"a node of its name": {[]runtime.StoredShape{{Kind: runtime.ShapeNode, Name: "send"},
			{Kind: runtime.ShapeRecord, Name: "send"}}, []string{"removed "}},
		"accepted flow": {[]runtime.StoredShape{{Kind: runtime.ShapeFlow, Name: "pay",
			Accepts: []string{"send"}, Fields: []runtime.StoredField{iban, ask}}}, nil},
		"renamed flow": {[]runtime.StoredShape{{Kind: runtime.ShapeFlow, Name: "pay",
			Was: []string{"send"}, Fields: []runtime.StoredField{iban, ask}}},
			[]string{"renamed "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, b := range compat.Compare(old, c.now) {
				got = append(got, b.Cause+" "+b.Field)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
