package generator_test

import (
	"maps"
	"slices"
	"testing"

	judge "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// reach holds what each route must cost, in the order of the contract: the records its own record
// reaches, and the fields of it that a model sees.
var reach = []struct {
	field            string
	records, visible int
}{
	{"orchestratorRequest", 0, 3},
	{"discoveryOrchestratorRequest", 0, 2},
	{"planningOrchestratorRequest", 0, 2},
	{"ticketOrchestratorRequest", 0, 2},
	{"reviewRequest", 9, 6},
	{"mergerRequest", 9, 7},
	{"contextManagerRequest", 0, 4},
	{"orchestratorCollectorRequest", 5, 3},
	{"discoveryCollectorRequest", 0, 2},
	{"planningCollectorRequest", 0, 2},
	{"ticketCollectorRequest", 0, 2},
	{"discoveryAgentRequests", 1, 4},
	{"planningAgentRequests", 1, 4},
	{"ticketAgentRequests", 1, 4},
}

const wholeUnion = 22 // records that all routes together reach, their own included

// TestNarrowedSchemas is scenario G8 by structure: the property, the definitions and the counts
// of every narrowed schema.
func TestNarrowedSchemas(t *testing.T) {
	t.Parallel()
	all := everyRoute()
	require.Len(t, all, len(reach))
	for _, d := range runtime.Dialects() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			for i, r := range all {
				doc := object(t, schemaOf(t, setOf(r), d))
				assert.Empty(t, notNarrowedTo(doc, setOf(r)))
				assert.Equal(t, reach[i].field, r.Field())
				defs := doc["$defs"].(map[string]any)
				assert.Len(t, defs, 1+reach[i].records, "%s", r)
				own := defs[r.Request()].(map[string]any)
				assert.Len(t, own["properties"], reach[i].visible, "%s", r)
				assert.Equal(t, []any{r.Field()}, doc["required"])
				assert.Equal(t, false, doc["additionalProperties"])
				for _, s := range all[:i] {
					pair := setOf(r, s)
					assert.Empty(t, notNarrowedTo(object(t, schemaOf(t, pair, d)), pair))
				}
			}
			doc := object(t, schemaOf(t, routes.AllRoutes(), d))
			assert.Empty(t, notNarrowedTo(doc, routes.AllRoutes()))
			assert.Len(t, doc["$defs"], wholeUnion)
		})
	}
}

// TestPlainShapeOfSchemas holds the plain form to the contract's shape, key by key.
func TestPlainShapeOfSchemas(t *testing.T) {
	t.Parallel()
	two := schemaOf(t, setOf(routes.RoutePlanningOrchestrator, routes.RouteTicketCollector),
		runtime.Plain)
	assert.Regexp(t,
		`^\{"type":"object","properties":\{"planningOrchestratorRequest":\{"\$ref":"#/\$defs/PlanningOrchestratorRequest"\},`+
			`"ticketCollectorRequest":\{"\$ref":"#/\$defs/TicketCollectorRequest"\}\},"additionalProperties":false,"minProperties":1,"maxProperties":1,`+
			`"\$defs":\{"PlanningOrchestratorRequest":\{.*\},"TicketCollectorRequest":\{.*\}\}\}$`,
		two)
	one := schemaOf(t, setOf(routes.RouteTicketCollector), runtime.Plain)
	assert.Regexp(t,
		`^\{"type":"object","properties":\{"ticketCollectorRequest":\{"\$ref":"#/\$defs/TicketCollectorRequest"\}\},`+
			`"required":\["ticketCollectorRequest"\],"additionalProperties":false,"minProperties":1,"maxProperties":1,"\$defs":\{"TicketCollectorRequest":`, one)
}

// TestCheckersCatchFaults is the control: each broken narrowing is found by the functions that
// passed the right ones.
func TestCheckersCatchFaults(t *testing.T) {
	t.Parallel()
	set := setOf(routes.RouteReview, routes.RouteTicketDispatch)
	broken := map[string]func(doc, properties, defs map[string]any){
		"a definition is missing": func(_, _, defs map[string]any) { delete(defs, "MergeResult") },
		"a definition is left": func(_, _, defs map[string]any) {
			defs["GoalOfAnother"] = map[string]any{"type": "string"}
		},
		"a hidden route is left": func(_, p, _ map[string]any) {
			p["mergerRequest"] = map[string]any{"type": "string"}
		},
		"a kept route is gone": func(_, p, _ map[string]any) { delete(p, "reviewRequest") },
		"a reference elsewhere": func(_, p, _ map[string]any) {
			p["reviewRequest"] = map[string]any{"$ref": "#/properties/ticketAgentRequests"}
		},
		"a key beside a reference": func(_, p, _ map[string]any) {
			p["reviewRequest"].(map[string]any)["description"] = "x"
		},
		"requires what is hidden": func(doc, _, _ map[string]any) {
			doc["required"] = []any{"mergerRequest"}
		},
		"an open record": func(_, _, defs map[string]any) {
			delete(defs["MergeResult"].(map[string]any), "additionalProperties")
		},
	}
	for name, breakIt := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := object(t, schemaOf(t, set, runtime.Plain))
			require.Empty(t, notNarrowedTo(doc, set))
			breakIt(doc, doc["properties"].(map[string]any), doc["$defs"].(map[string]any))
			assert.NotEmpty(t, notNarrowedTo(doc, set))
		})
	}
}

// TestAcceptsExactlyItsRoute is scenario G8 by meaning: of one valid document per route, the
// schema of a route takes its own and refuses all others.
func TestAcceptsExactlyItsRoute(t *testing.T) {
	t.Parallel()
	all := everyRoute()
	documents := make([]any, len(all))
	for i, r := range all {
		one := object(t, schemaOf(t, setOf(r), runtime.Plain))
		documents[i] = rapid.Custom(func(t *rapid.T) any { return document(t, one) }).Example(7)
	}
	for _, d := range runtime.Dialects() {
		whole := mustCompile(t, schemaOf(t, routes.AllRoutes(), d))
		for i, r := range all {
			narrowed := mustCompile(t, schemaOf(t, setOf(r), d))
			for j, doc := range documents {
				doc = inDialect(object(t, schemaOf(t, setOf(all[j]), d)), doc)
				assert.Equal(t, i == j, accepts(narrowed, doc), "%s: the schema of %s and %s", d, r,
					compact(t, doc))
				assert.True(t, accepts(whole, pad(d, true, doc)), "%s", compact(t, doc))
			}
		}
	}
}

// pad brings a document from the form of a single route to that of several: identity in plain,
// {"route": x} elsewhere.
func pad(d runtime.Dialect, single bool, doc any) any {
	if d == runtime.Plain || !single {
		return doc
	}
	return map[string]any{"route": doc}
}

// unpad is pad backwards.
func unpad(d runtime.Dialect, single bool, doc any) any {
	if d == runtime.Plain || !single {
		return doc
	}
	return doc.(map[string]any)["route"]
}

// branchIn returns the one route set in a document of the form for one, or for several.
func branchIn(d runtime.Dialect, single bool, doc any) (string, any) {
	o, _ := doc.(map[string]any)
	if d != runtime.Plain && !single {
		o, _ = o["route"].(map[string]any)
	}
	keys := slices.Sorted(maps.Keys(o))
	if len(keys) != 1 {
		return "", nil
	}
	return keys[0], o[keys[0]]
}

// validators compiles each schema once; sets compare, so a set is a key.
type validators map[runtime.Dialect]map[routes.InterruptRouteSet]*judge.Schema

func (v validators) of(t require.TestingT, set routes.InterruptRouteSet,
	d runtime.Dialect) *judge.Schema {
	if v[d] == nil {
		v[d] = map[routes.InterruptRouteSet]*judge.Schema{}
	}
	if v[d][set] == nil {
		v[d][set] = mustCompile(t, schemaOf(t, set, d))
	}
	return v[d][set]
}

// sample is what the laws are tried on: a document of the narrowed schema, the same with one thing
// changed, and one of the full schema.
type sample struct{ mine, changed, any any }

func samples(t require.TestingT, set routes.InterruptRouteSet, d runtime.Dialect,
	whole map[string]any) *rapid.Generator[sample] {
	narrowed := object(t, schemaOf(t, set, d))
	return rapid.Custom(func(t *rapid.T) sample {
		mine := document(t, narrowed)
		return sample{mine, mutate(t, mine, []string{"contextId", "mergerRequest", "unknown",
			"route"}), document(t, whole)}
	})
}

// holdLaws holds narrowing to a set to the laws one to four.
func holdLaws(t require.TestingT, v validators, set routes.InterruptRouteSet, d runtime.Dialect,
	s sample) {
	single := set.Len() == 1
	narrowed, full := v.of(t, set, d), v.of(t, routes.AllRoutes(), d)
	require.True(t, accepts(narrowed, s.mine), "the drawn document must be valid: %s",
		compact(t, s.mine))
	for _, doc := range []any{s.mine, s.changed} {
		if !accepts(narrowed, doc) {
			continue
		}
		name, _ := branchIn(d, single, doc)
		r, err := routes.ParseRoute(name)
		require.NoError(t, err, "law 1: the narrowed schema took %s", compact(t, doc))
		require.True(t, set.Has(r), "law 1: the narrowed schema took %s", compact(t, doc))
		require.True(t, accepts(full, pad(d, single, doc)), "law 2: the full schema refused %s",
			compact(t, pad(d, single, doc)))
	}
	require.True(t, accepts(full, s.any))
	name, _ := branchIn(d, false, s.any)
	r, err := routes.ParseRoute(name)
	require.NoError(t, err)
	require.Equal(t, set.Has(r), accepts(narrowed, unpad(d, single, s.any)), "law 3: %s",
		compact(t, s.any))
	kept, value := branchIn(d, single, s.mine)
	null := pad(d, !single, map[string]any{kept: nil})
	require.False(t, accepts(narrowed, null), "law 4: %s", compact(t, null))
	none, two := pad(d, !single, map[string]any{}), pad(d, !single,
		map[string]any{kept: value, other(kept): value})
	require.False(t, accepts(narrowed, none), "%s", compact(t, none))
	require.False(t, accepts(narrowed, two), "%s", compact(t, two))
}

// other is any route but this.
func other(field string) string {
	if field == "orchestratorRequest" {
		return "reviewRequest"
	}
	return "orchestratorRequest"
}

// TestLawsOfNarrowing holds every single route, every pair and random sets to the laws of
// narrowing, in every dialect.
func TestLawsOfNarrowing(t *testing.T) {
	t.Parallel()
	all := everyRoute()
	for _, d := range runtime.Dialects() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			v, whole := validators{}, object(t, schemaOf(t, routes.AllRoutes(), d))
			for i, r := range all {
				for _, s := range all[:i+1] { // r twice is the single route
					holdLaws(t, v, setOf(r, s), d, samples(t, setOf(r, s), d, whole).
						Example(int(r)*20+int(s)))
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				set := setOf(rapid.SliceOfN(rapid.SampledFrom(all), 1, len(all)).Draw(t, "set")...)
				holdLaws(t, v, set, d, samples(t, set, d, whole).Draw(t, "sample"))
			})
		})
	}
}

// TestNarrowingIsASetOperation is law five and law eight: idempotent, independent of order, the
// empty set has no schema, equal sets give equal bytes.
func TestNarrowingIsASetOperation(t *testing.T) {
	t.Parallel()
	all := everyRoute()
	some := rapid.SliceOf(rapid.SampledFrom(all))
	rapid.Check(t, func(t *rapid.T) {
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		first, second := setOf(a...), setOf(b...)
		assert.Equal(t, first.Only(b...), second.Only(a...))
		assert.Equal(t, first.Only(b...), first.Only(b...).Only(b...))
		both := routes.InterruptRouteSet{}
		for _, r := range all {
			if slices.Contains(a, r) && slices.Contains(b, r) {
				both = both.With(r)
			}
		}
		for _, d := range runtime.Dialects() {
			text := routes.InterruptRoutingSchema(first.Only(b...), d)
			assert.Equal(t, text, routes.InterruptRoutingSchema(both, d))
			assert.Equal(t, both.Len() == 0, text == "")
		}
	})
	assert.Empty(t, routes.InterruptRoutingSchema(setOf(0, 15, 1000), runtime.Plain),
		"what is no route narrows to nothing")
	assert.Empty(t, routes.InterruptRoutingSchema(routes.AllRoutes(), runtime.Dialect(9)))
}

// TestEverySchemaPassesLint holds all narrowed schemas and the whole union to the provider's own
// limits.
func TestEverySchemaPassesLint(t *testing.T) {
	t.Parallel()
	for _, d := range runtime.Dialects() {
		for _, set := range append(singles(), routes.AllRoutes()) {
			found, err := schema.Lint(d, []byte(schemaOf(t, set, d)))
			require.NoError(t, err)
			for _, f := range found {
				assert.True(t, f.Notice, "%s, %v: %+v", d, slices.Collect(set.All()), f)
			}
		}
	}
}

// noStrictForm are the routings with a branch that reaches DiagramRepresentation, whose boxes and
// lines hold free JSON: openai and anthropic have no form for that.
var noStrictForm = []string{"ContextManagerResultRouting", "OrchestratorCollectorRouting",
	"DiscoveryCollectorRouting", "DiscoveryAgentRouting"}

// TestEveryRoutingPassesLint holds the schemas that the nodes' own models get to the same limits
// and structure.
func TestEveryRoutingPassesLint(t *testing.T) {
	t.Parallel()
	for _, row := range program.Tables.Routings {
		for _, d := range runtime.Dialects() {
			text := program.RoutingSchema(row.Node, d)
			if strict := d == runtime.OpenAI || d == runtime.Anthropic; strict &&
				slices.Contains(noStrictForm, row.Name) {
				assert.Empty(t, text, "%s in %s", row.Name, d)
				continue
			}
			doc := object(t, text)
			assert.Empty(t, faults(doc), "%s in %s", row.Name, d)
			assert.Len(t, branchesOf(doc), len(row.Branches))
			found, err := schema.Lint(d, []byte(text))
			require.NoError(t, err)
			for _, f := range found {
				assert.True(t, f.Notice, "%s in %s: %+v", row.Name, d, f)
			}
		}
	}
}

func singles() []routes.InterruptRouteSet {
	var out []routes.InterruptRouteSet
	for _, r := range everyRoute() {
		out = append(out, setOf(r))
	}
	return out
}

// inDialect rewrites a document valid in plain for the schema of another dialect: null for what is
// left out but required there, and pairs where a map became a list.
func inDialect(doc map[string]any, v any) any {
	defs, _ := doc["$defs"].(map[string]any)
	var walk func(s map[string]any, v any) any
	walk = func(s map[string]any, v any) any {
		if ref, ok := s["$ref"].(string); ok {
			s = defs[ref[len("#/$defs/"):]].(map[string]any)
		}
		if parts := list(s["anyOf"]); parts != nil && v != nil {
			return walk(partFor(parts, v), v)
		}
		items, isList := s["items"].(map[string]any)
		switch v := v.(type) {
		case map[string]any:
			if isList { // a map written as pairs
				pairs := []any{}
				for _, key := range slices.Sorted(maps.Keys(v)) {
					pairs = append(pairs, map[string]any{"key": key, "value": v[key]})
				}
				return pairs
			}
			out := maps.Clone(v)
			properties, _ := s["properties"].(map[string]any)
			for name, inner := range properties {
				_, given := out[name]
				if given || slices.Contains(list(s["required"]), any(name)) {
					out[name] = walk(inner.(map[string]any), out[name])
				}
			}
			return out
		case []any:
			out := []any{}
			for _, item := range v {
				out = append(out, walk(items, item))
			}
			return out
		}
		return v
	}
	return walk(doc, v)
}

// partFor picks the object of a union that has the branch v sets, or the first part.
func partFor(parts []any, v any) map[string]any {
	o, _ := v.(map[string]any)
	for _, part := range parts {
		properties, _ := part.(map[string]any)["properties"].(map[string]any)
		for name := range o {
			if len(o) == 1 && properties[name] != nil {
				return part.(map[string]any)
			}
		}
	}
	return parts[0].(map[string]any)
}
