package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindImplementers(t *testing.T) {
	t.Parallel()
	const imports = "import \"example.com/m/gen/routes\"\n\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"named by an assertion": {
			files: map[string]string{"a/a.go": "package a\n\n" + imports + "type T struct{}\n\nvar _ routes.Handlers = (*T)(nil)\n"},
			want:  "Handlers T a/a.go:5",
		},
		"an assertion in each form": {
			files: map[string]string{"a/a.go": "package a\n\nimport r \"example.com/m/gen/routes\"\n\ntype A struct{}\ntype B[X any] struct{}\ntype C int\n\n" +
				"var _ r.Handlers = A{}\nvar _ r.Handlers = &B[int]{}\nvar _ r.Handlers = new(C)\n"},
			want: "Handlers A a/a.go:5, Handlers B a/a.go:6, Handlers C a/a.go:7",
		},
		"half of the methods, over two files": {
			files: map[string]string{
				"a/a.go": "package a\n\n" + imports + "func (t *T) One(*routes.X) {}\n",
				"a/b.go": "package a\n\n" + imports + "type T struct{}\n\nfunc (t *T) Two(*routes.X) {}\n",
			},
			want: "Handlers T a/b.go:5",
		},
		"less than half": {
			files: map[string]string{"a/a.go": "package a\n\n" + imports + "type T struct{}\n\nfunc (T) One(*routes.X) {}\n"},
		},
		"the type in a file that does not import": {
			files: map[string]string{
				"a/a.go": "package a\n\ntype T struct{}\n",
				"a/b.go": "package a\n\n" + imports + "func (T) One(*routes.X) {}\nfunc (T) Two(*routes.X) {}\n",
			},
			want: "Handlers T a/b.go:5",
		},
		"a type that embeds what has all methods": {
			files: map[string]string{"a/a.go": "package a\n\n" + imports + "type T struct{ routes.UnimplementedHandlers }\n\nvar _ routes.Handlers = T{}\n"},
		},
		"imported with a dot, and handwritten inside": {
			files: map[string]string{
				"a/a_test.go":           "package a\n\nimport . \"example.com/m/gen/routes\"\n\ntype T struct{}\n\nvar _ Handlers = T{}\n",
				"gen/routes/hand.go":    "package routes\n\ntype own struct{}\n\nvar _ Handlers = own{}\n",
				"gen/routes/all_gen.go": goMarker + "\npackage routes\n\ntype UnimplementedHandlers struct{}\n\nvar _ Handlers = UnimplementedHandlers{}\n",
			},
			want: "Handlers T a/a_test.go:5, Handlers own gen/routes/hand.go:3",
		},
		"not looked at": {
			files: map[string]string{
				"vendor/v/v.go":    "package v\n\n" + imports + "type T struct{}\n\nvar _ routes.Handlers = T{}\n",
				"testdata/t.go":    "package t\n\n" + imports + "type T struct{}\n\nvar _ routes.Handlers = T{}\n",
				".hidden/h.go":     "package h\n\n" + imports + "type T struct{}\n\nvar _ routes.Handlers = T{}\n",
				"other/go.mod":     "module other\n",
				"other/o.go":       "package o\n\n" + imports + "type T struct{}\n\nvar _ routes.Handlers = T{}\n",
				"a/broken.go":      "package a\n\n" + imports + "type T struct{\n\nvar _ routes.Handlers = T{}\n",
				"a/elsewhere.go":   "package a\n\nimport \"example.com/elsewhere/routes\"\n\ntype T struct{}\n\nvar _ routes.Handlers = T{}\n",
				"a/other_types.go": "package a\n\n" + imports + "var _ routes.Request = U{}\n\ntype U struct{}\n",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := seeker{
				root: lay(t, c.files), pkg: "gen/routes", imports: "example.com/m/gen/routes",
				wanted: []wantedInterface{{"Handlers", []string{"One", "Two", "Three", "Four"}}},
			}
			found, err := s.find()
			require.NoError(t, err)
			var got []string
			for _, i := range found {
				got = append(got, fmt.Sprintf("%s %s %s:%d", i.Interface, i.Type, i.File, i.Line))
			}
			assert.Equal(t, c.want, strings.Join(got, ", "))
		})
	}
}

func TestFieldsOfGoTypes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field goField
		want  string
		fails string
	}{
		"plain":            {field: goField{Name: "Title", Type: "string"}, want: "fields.title.type=string"},
		"an initialism":    {field: goField{Name: "TicketID", Type: "int64"}, want: "fields.ticketID.type=int"},
		"another Go name":  {field: goField{Name: "Id", Type: "int64", Tag: "id"}, want: "fields.id.type=int fields.id.go_name=Id"},
		"all in capitals":  {field: goField{Name: "URL", Type: "string"}, want: "fields.url.type=string"},
		"a tag of its own": {field: goField{Name: "URL", Type: "string", Tag: "the-url"}, want: "fields.url.type=string fields.url.json=the-url"},
		"optional":         {field: goField{Name: "A", Type: "[]string", Tag: ",omitempty"}, want: "fields.a.type=[]string fields.a.optional=true"},
		"a pointer":        {field: goField{Name: "A", Type: "*float64"}, want: "fields.a.type=float fields.a.optional=true fields.a.presence=explicit"},
		"nested":           {field: goField{Name: "A", Type: "map[string][]time.Time"}, want: "fields.a.type=map[string][]time"},
		"a duration":       {field: goField{Name: "A", Type: "github.com/routegen/routegen/runtime.Duration"}, want: "fields.a.type=duration"},
		"a named string":   {field: goField{Name: "A", Type: "example.com/m.Key"}, fails: "field A of m.T is example.com/m.Key, and the spec has no form for that Go type"},
		"bytes":            {field: goField{Name: "A", Type: "[]uint8"}, fails: "no form for that Go type"},
		"a pointer to one": {field: goField{Name: "A", Type: "*[]string"}, fails: "no form for that Go type"},
		"not in JSON":      {field: goField{Name: "A", Type: "string", Tag: "-"}, fails: "no JSON name"},
		"no letter":        {field: goField{Name: "Ä", Type: "string"}, fails: "no JSON name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.field.Exported = true
			set, err := fieldsOf("m.T", []goField{c.field})
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, kv := range set {
				got = append(got, kv.Key+"="+kv.Value)
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}
