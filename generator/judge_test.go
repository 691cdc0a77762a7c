package generator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	judge "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/runtime"
)

// program is the generated package as an engine sees it.
var program = routes.New(routes.UnimplementedHandlers{})

// ownSpec is the text of this repository's routes.yaml.
func ownSpec(t *testing.T) []byte {
	t.Helper()
	src, err := os.ReadFile("../routes.yaml")
	require.NoError(t, err)
	return src
}

var ownOnce struct {
	sync.Once
	result *generator.Result
}

// ownResult is what Generate makes of routes.yaml, made once; nobody writes to it.
func ownResult(t *testing.T) *generator.Result {
	t.Helper()
	src := ownSpec(t)
	ownOnce.Do(func() { ownOnce.result = generator.Generate("routes.yaml", src) })
	require.NotNil(t, ownOnce.result.Files, "%v", ownOnce.result.Findings)
	return ownOnce.result
}

// compile hands a schema to the independent validator, formats asserted. One that does not compile
// is an error: a dangling reference among them.
func compile(text string) (*judge.Schema, error) {
	doc, err := judge.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := judge.NewCompiler()
	c.DefaultDraft(judge.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema.json")
}

func mustCompile(t require.TestingT, text string) *judge.Schema {
	s, err := compile(text)
	require.NoError(t, err, "%s", text)
	return s
}

// accepts asks the validator for its verdict on a value as encoding/json makes it, numbers as
// json.Number.
func accepts(s *judge.Schema, v any) bool { return s.Validate(v) == nil }

// compact writes a value as JSON without HTML escapes.
func compact(t require.TestingT, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return bytes.TrimSpace(b.Bytes())
}

// parsed reads JSON as the validator wants it.
func parsed(t require.TestingT, text []byte) any {
	v, err := judge.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err, "%s", text)
	return v
}

// object reads a schema as a tree.
func object(t require.TestingT, text string) map[string]any {
	v, ok := parsed(t, []byte(text)).(map[string]any)
	require.True(t, ok, "%s", text)
	return v
}

// setOf is the set of routes given by their place in the contract, from 1.
func setOf(rs ...routes.Route) routes.InterruptRouteSet {
	return routes.InterruptRouteSet{}.With(rs...)
}

// everyRoute lists the routes in order.
func everyRoute() []routes.Route { return slices.Collect(routes.AllRoutes().All()) }

// schemaOf is the narrowed schema, which must exist.
func schemaOf(t require.TestingT, set routes.InterruptRouteSet, d runtime.Dialect) string {
	text := routes.InterruptRoutingSchema(set, d)
	require.NotEmpty(t, text, "%v in %s", slices.Collect(set.All()), d)
	return text
}

var plainRef = regexp.MustCompile(`^#/\$defs/[A-Za-z0-9_]+$`)

// faults looks at a composed schema with a walker of its own and names everything that narrowing
// may break: a reference of another form, one that leads nowhere, a definition that nobody reaches,
// an object that is open, a required property that is not there, a key beside a reference.
func faults(doc map[string]any) []string {
	var out []string
	defs, _ := doc["$defs"].(map[string]any)
	reached := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		s, ok := v.(map[string]any)
		if !ok {
			return
		}
		if ref, isRef := s["$ref"]; isRef {
			text, _ := ref.(string)
			name := strings.TrimPrefix(text, "#/$defs/")
			target, there := defs[name]
			switch {
			case !plainRef.MatchString(text):
				out = append(out, fmt.Sprintf("%s: reference %v is not of the form #/$defs/Name",
					at, ref))
			case !there:
				out = append(out, fmt.Sprintf("%s: reference %s leads nowhere", at, text))
			case !reached[name]:
				reached[name] = true
				walk("/$defs/"+name, target)
			}
			if len(s) != 1 {
				out = append(out, at+": there is a key beside $ref")
			}
			return
		}
		properties, _ := s["properties"].(map[string]any)
		for _, r := range list(s["required"]) {
			if _, there := properties[r.(string)]; !there {
				out = append(out, fmt.Sprintf("%s: requires %v, which is no property", at, r))
			}
		}
		if rest, closed := s["additionalProperties"]; s["type"] == "object" && !closed {
			out = append(out, fmt.Sprintf("%s: is open: %v", at, rest))
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			walk(at+"/properties/"+name, properties[name])
		}
		walk(at+"/items", s["items"])
		walk(at+"/additionalProperties", s["additionalProperties"])
		for i, part := range list(s["anyOf"]) {
			walk(fmt.Sprint(at, "/anyOf/", i), part)
		}
	}
	walk("", doc)
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if !reached[name] {
			out = append(out, "/$defs/"+name+": nobody reaches it")
		}
	}
	return out
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// branchesOf lists the routes a schema of the interrupt routing offers, sorted by name, whatever
// its form.
func branchesOf(doc map[string]any) []string {
	properties, _ := doc["properties"].(map[string]any)
	route, wrapped := properties["route"].(map[string]any)
	if !wrapped {
		return slices.Sorted(maps.Keys(properties))
	}
	var names []string
	for _, part := range list(route["anyOf"]) {
		inner, _ := part.(map[string]any)["properties"].(map[string]any)
		names = append(names, slices.Collect(maps.Keys(inner))...)
	}
	slices.Sort(names)
	return names
}

// notNarrowedTo returns what keeps a document from being the routing narrowed to exactly these
// routes.
func notNarrowedTo(doc map[string]any, set routes.InterruptRouteSet) []string {
	out := faults(doc)
	var want []string
	for r := range set.All() {
		want = append(want, r.Field())
	}
	slices.Sort(want)
	if got := branchesOf(doc); !slices.Equal(got, want) {
		out = append(out, fmt.Sprintf("offers %v, not %v", got, want))
	}
	return out
}
