package generator_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// lenient rewrites a document the way DecodeReply reads it, so that the plain schema can judge it.
// These are all the places where the decoder takes more than the schema says:
//
//   - null is the same as absent for an optional field, and for any branch of a routing;
//   - a routing may be wrapped as {"route": ...};
//   - an enum value may have another letter case;
//   - a map may be a list of {"key", "value"} pairs, each key once.
//
// It takes less in two places, which are not drawn: NUL in a string, and a leap second.
//
// branches are all of the routing, those outside the narrowed schema too.
type lenient struct {
	defs     map[string]any
	branches []string
}

func (l lenient) reply(schema map[string]any, doc any) any {
	o, isObject := doc.(map[string]any)
	if inner, wrapped := o["route"]; isObject && wrapped && len(o) == 1 {
		doc = inner
	}
	if o, isObject := doc.(map[string]any); isObject {
		o = maps.Clone(o)
		maps.DeleteFunc(o, func(key string, v any) bool {
			return v == nil && slices.Contains(l.branches, key)
		})
		doc = o
	}
	return l.value(schema, doc)
}

func (l lenient) value(s map[string]any, v any) any {
	if ref, ok := s["$ref"].(string); ok {
		return l.value(l.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), v)
	}
	items, _ := s["items"].(map[string]any)
	rest, isMap := s["additionalProperties"].(map[string]any)
	switch v := v.(type) {
	case string:
		for _, legal := range list(s["enum"]) {
			if strings.EqualFold(legal.(string), v) {
				return legal
			}
		}
	case []any:
		if isMap {
			if m, ok := fromPairs(v); ok {
				return l.value(s, m)
			}
		}
		out := []any{}
		for _, item := range v {
			if items != nil {
				item = l.value(items, item)
			}
			out = append(out, item)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		for key, value := range v {
			inner, known := properties[key].(map[string]any)
			switch {
			case known && value == nil && !slices.Contains(list(s["required"]), any(key)):
				continue
			case known:
				value = l.value(inner, value)
			case isMap:
				value = l.value(rest, value)
			}
			out[key] = value
		}
		return out
	}
	return v
}

// fromPairs reads a list of pairs as the map it stands for; false when it stands for none.
func fromPairs(pairs []any) (map[string]any, bool) {
	out := map[string]any{}
	for _, p := range pairs {
		o, _ := p.(map[string]any)
		key, ok := o["key"].(string)
		value, there := o["value"]
		if _, twice := out[key]; !ok || !there || twice || len(o) != 2 {
			return nil, false
		}
		out[key] = value
	}
	return out, true
}

// TestDecoderAgreesWithValidator is law seven: for documents drawn from the schemas, whole and
// broken, of every routing and every route set, DecodeReply takes exactly what the independent
// validator takes.
func TestDecoderAgreesWithValidator(t *testing.T) {
	t.Parallel()
	played, taken, refused := 0, 0, 0
	check := func(t *rapid.T, node int, schema map[string]any, others []map[string]any,
		allowed func(string) bool) {
		routing := fresh(recordTypes()[program.Tables.Routings[max(node, 1)-1].Name])
		var branches []string
		for _, f := range routing.Shape().Fields {
			branches = append(branches, f.Name)
		}
		l := lenient{schema["$defs"].(map[string]any), branches}
		validator := mustCompile(t, string(compact(t, schema)))
		doc := document(t, schema)
		if other := rapid.SampledFrom(others).Draw(t, "form"); other != nil {
			if p := other["properties"].(map[string]any); p["route"] != nil {
				doc = map[string]any{"route": doc}
			}
			doc = inDialect(other, doc)
			require.True(t, accepts(mustCompile(t, string(compact(t, other))), doc),
				"the document must be valid in its dialect: %s", compact(t, doc))
		}
		for n := rapid.IntRange(0, 2).Draw(t, "mutations"); n > 0; n-- {
			doc = mutate(t, doc, extraNames)
		}
		want := accepts(validator, l.reply(schema, doc))
		played++
		err := runtime.DecodeReply(compact(t, doc), routing, allowed)
		require.Equal(t, want, err == nil, "the decoder says %v to %s", err, compact(t, doc))
		if want {
			taken++
		} else {
			refused++
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		set := setOf(rapid.SliceOfN(rapid.SampledFrom(everyRoute()), 1, 4).Draw(t, "set")...)
		schema := object(t, schemaOf(t, set, runtime.Plain))
		check(t, 1, schema, otherForms(t, func(d runtime.Dialect) string {
			return schemaOf(t, set, d)
		}), func(name string) bool {
			r, err := routes.ParseRoute(name)
			return err == nil && set.Has(r)
		})
	})
	rapid.Check(t, func(t *rapid.T) {
		routing := rapid.IntRange(2, len(program.Tables.Routings)).Draw(t, "routing")
		node := program.Tables.Routings[routing-1].Node
		schema := object(t, program.RoutingSchema(node, runtime.Plain))
		check(t, routing, schema,
			otherForms(t, func(d runtime.Dialect) string {
				return program.RoutingSchema(node, d)
			}), nil)
	})
	// A share of what was played: -short and -rapid.checks change how much that is.
	assert.Positive(t, played)
	assert.Greater(t, taken*5, played,
		"too few of %d documents were valid for the test to mean anything", played)
	assert.Greater(t, refused*5, played,
		"too few of %d documents were broken for the test to mean anything", played)
}

// otherForms are the schemas of the other dialects, nil for plain and where a record has no form.
func otherForms(t require.TestingT, of func(runtime.Dialect) string) []map[string]any {
	forms := []map[string]any{nil}
	for _, d := range []runtime.Dialect{runtime.OpenAI, runtime.Anthropic, runtime.Gemini} {
		if text := of(d); text != "" {
			forms = append(forms, object(t, text))
		}
	}
	return forms
}

// extraNames are keys worth adding to a document: hidden fields, routes, and nonsense.
var extraNames = []string{"contextId", "worktreeContext", "previousContext", "reviewRequest",
	"orchestratorRequest", "route", "unknown", ""}

const (
	goodOrchestrator = `"orchestratorRequest":{"goal":"g","phase":"PLANNING"}`
	goodTicket       = `"ticketOrchestratorRequest":{"goal":"g"}`
	asked            = `"reason":"r","phase":"p","goal":"g","workflowContext":"w"`
	key              = `ak:01ARZ3NDEKTSV4RRFFQ69G5FAV`
)

// TestReplyRefusals names, for each way a reply goes wrong, the code and the place, and whether the
// wire takes it.
func TestReplyRefusals(t *testing.T) {
	t.Parallel()
	only := setOf(routes.RouteOrchestrator)
	allowed := func(name string) bool {
		return name == routes.RouteOrchestrator.Field() &&
			only.Len() == 1
	}
	cases := []struct {
		name, doc string
		into      runtime.Record
		allowed   func(string) bool
		code      runtime.Code // "" is accepted
		pointer   string
		wire      bool // Unmarshal accepts it
	}{
		{"good", `{` + goodOrchestrator + `}`, new(routes.InterruptRouting), allowed, "", "", true},
		{"good, a null beside it", `{"reviewRequest":null,` + goodOrchestrator + `}`,
			new(routes.InterruptRouting), allowed, "", "", true},
		{"wrapped", `{"route":{` + goodOrchestrator + `}}`, new(routes.InterruptRouting), allowed,
			"", "", false},
		{"wrapped with company", `{"route":{` + goodOrchestrator + `},"why":"x"}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/why", false},
		{"company, then wrapped", `{"why":"x","route":{` + goodOrchestrator + `}}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/why", false},
		{"hidden field", `{"orchestratorRequest":{"goal":"g","phase":"p","contextId":"` + key +
			`"}}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid,
			"/orchestratorRequest/contextId", true},
		{"hidden enum value", `{"interruptRequest":{"type":"BRANCH",` + asked + `}}`,
			new(routes.OrchestratorRouting), nil, runtime.CodeInvalid, "/interruptRequest/type",
			true},
		{"other hidden value, other case", `{"interruptRequest":{"type":"prune",` + asked + `}}`,
			new(routes.OrchestratorRouting), nil, runtime.CodeInvalid, "/interruptRequest/type",
			false},
		{"enum letter case", `{"interruptRequest":{"type":"Human_Review",` + asked + `}}`,
			new(routes.OrchestratorRouting), nil, "", "", false},
		{"route outside the set", `{` + goodTicket + `}`, new(routes.InterruptRouting), allowed,
			runtime.CodeNoRoute, "", true},
		{"no route", `{}`, new(routes.InterruptRouting), allowed, runtime.CodeNoRoute, "", false},
		{"no route, all null", `{"orchestratorRequest":null,"reviewRequest":null}`,
			new(routes.InterruptRouting), nil, runtime.CodeNoRoute, "", false},
		{"two routes", `{` + goodOrchestrator + `,` + goodTicket + `}`,
			new(routes.InterruptRouting), nil, runtime.CodeManyRoutes, "", false},
		{"two routes, one allowed", `{` + goodOrchestrator + `,` + goodTicket + `}`,
			new(routes.InterruptRouting), allowed, runtime.CodeManyRoutes, "", false},
		{"duplicate key", `{"orchestratorRequest":{"goal":"g","phase":"p","goal":"h"}}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/orchestratorRequest/goal",
			false},
		{"duplicate route", `{` + goodOrchestrator + `,` + goodOrchestrator + `}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/orchestratorRequest",
			false},
		{"duplicate key, escaped",
			`{"orchestratorRequest":{"goal":"g","phase":"p","g\u006fal":"h"}}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/orchestratorRequest/goal",
			false},
		{"case variant", `{"OrchestratorRequest":{"goal":"g","phase":"p"}}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/OrchestratorRequest",
			false},
		{"case variant inside", `{"orchestratorRequest":{"Goal":"g","phase":"p"}}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/orchestratorRequest/Goal",
			false},
		{"trailing text", `{` + goodOrchestrator + `} and so on`, new(routes.InterruptRouting),
			allowed, runtime.CodeInvalid, "", false},
		{"second document", `{` + goodOrchestrator + `}{}`, new(routes.InterruptRouting), allowed,
			runtime.CodeInvalid, "", false},
		{"fenced", "```json\n{" + goodOrchestrator + "}\n```", new(routes.InterruptRouting),
			allowed, runtime.CodeInvalid, "", false},
		{"missing field", `{"orchestratorRequest":{"goal":"g"}}`, new(routes.InterruptRouting),
			allowed, runtime.CodeInvalid, "/orchestratorRequest/phase", false},
		{"null for a required field", `{"orchestratorRequest":{"goal":null,"phase":"p"}}`,
			new(routes.InterruptRouting), allowed, runtime.CodeInvalid, "/orchestratorRequest/goal",
			false},
		{"null for an optional field",
			`{"orchestratorRequest":{"goal":"g","phase":"p","feedback":null}}`,
			new(routes.InterruptRouting), allowed, "", "", true},
		{"constraint of a named scalar",
			`{"orchestratorRequest":{"goal":"g","phase":"p","contextId":"ak:1"}}`,
			new(routes.InterruptRouting), nil, runtime.CodeInvalid,
			"/orchestratorRequest/contextId", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := runtime.DecodeReply([]byte(c.doc), c.into, c.allowed)
			assert.Equal(t, c.code, runtime.CodeOf(err), "%v", err)
			if c.code == runtime.CodeInvalid {
				assert.Contains(t, pointers(t, err), c.pointer, "%v", err)
			}
			again := fresh(recordTypes()[c.into.Shape().Name])
			assert.Equal(t, c.wire, runtime.Unmarshal([]byte(c.doc), again) == nil,
				"on the wire: %v", runtime.Unmarshal([]byte(c.doc), again))
		})
	}
}

// pointers lists the places a refusal names.
func pointers(t *testing.T, err error) []string {
	t.Helper()
	var invalid *runtime.InvalidError
	require.ErrorAs(t, err, &invalid)
	var at []string
	for _, p := range invalid.Problems {
		assert.NotEmpty(t, p.Reason)
		at = append(at, p.Pointer)
	}
	return at
}

// TestSelectionErrorsNameTheChoice checks the data a repair round needs.
func TestSelectionErrorsNameTheChoice(t *testing.T) {
	t.Parallel()
	allowed := func(name string) bool { return name == "reviewRequest" }
	var refusal *runtime.SelectionError
	err := runtime.DecodeReply([]byte(`{`+goodTicket+`,`+goodOrchestrator+`}`),
		new(routes.InterruptRouting), allowed)
	require.ErrorAs(t, err, &refusal)
	want := runtime.SelectionError{Routing: "InterruptRouting",
		Set:     []string{"orchestratorRequest", "ticketOrchestratorRequest"},
		Allowed: []string{"reviewRequest"}}
	assert.Equal(t, want, *refusal)

	_, err = (&routes.InterruptRouting{ReviewRequest: &routes.ReviewRequest{},
		MergerRequest: &routes.MergerRequest{}}).Selected()
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, runtime.CodeManyRoutes, runtime.CodeOf(err))
	assert.Equal(t, []string{"reviewRequest", "mergerRequest"}, refusal.Set)
	_, err = (&routes.InterruptRouting{}).Selected()
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err))
	review := &routes.ReviewRequest{Content: "c"}
	branch, err := (&routes.InterruptRouting{ReviewRequest: review}).Selected()
	require.NoError(t, err)
	assert.Equal(t, runtime.Branch{Name: "reviewRequest", Value: review}, branch)
}

// TestTypedReplies reads replies by the methods of the routings, for every route and every set of
// one.
func TestTypedReplies(t *testing.T) {
	t.Parallel()
	for _, r := range everyRoute() {
		request := filled(recordTypes()[r.Request()], true, 1)
		inner, err := runtime.Encode(request)
		require.NoError(t, err)
		doc := `{"` + r.Field() + `":` + string(inner) + `}`
		for _, allowed := range everyRoute() {
			for _, text := range []string{doc, `{"route":` + doc + `}`} {
				var v routes.InterruptRouting
				err := v.DecodeReply([]byte(text), setOf(allowed))
				if allowed != r {
					assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err),
						"%s where only %s is allowed", r, allowed)
					continue
				}
				require.NoError(t, err, "%s", text)
				assert.Equal(t, r, v.Route())
				branch, err := v.Selected()
				require.NoError(t, err)
				assert.Equal(t, runtime.Branch{Name: r.Field(), Value: request}, branch)
			}
		}
		require.Error(t, new(routes.InterruptRouting).DecodeReply([]byte(doc), setOf()),
			"the empty set allows nothing")
	}
	var v routes.OrchestratorRouting
	require.NoError(t, v.DecodeReply(
		[]byte(`{"route":{"collectorRequest":{"goal":"g","phase":"p"}}}`)))
	assert.Equal(t, &routes.OrchestratorCollectorRequest{Goal: "g", Phase: "p"}, v.CollectorRequest)
}

// TestMapsHaveTwoForms reads a map as an object and as pairs, from a model; the wire has the object
// only.
func TestMapsHaveTwoForms(t *testing.T) {
	t.Parallel()
	doc := func(options string) []byte {
		return []byte(`{"choiceId":"c","question":"q","context":"x","recommended":"A","options":` +
			options + `}`)
	}
	want := map[string]string{"A": "one", "B": "two"}
	for _, form := range []string{`{"A":"one","B":"two"}`,
		`[{"key":"A","value":"one"},{"value":"two","key":"B"}]`} {
		var c routes.StructuredChoice
		require.NoError(t, runtime.DecodeReply(doc(form), &c, nil))
		assert.Equal(t, want, c.Options)
	}
	for form, at := range map[string]string{
		`{"A":"one","A":"two"}`:                                 "/options/A",
		`[{"key":"A","value":"one"},{"key":"A","value":"two"}]`: "/options/A",
		`[{"key":"A"}]`:                                         "/options/0/value",
		`[{"key":"A","value":"one","more":1}]`:                  "/options/0/more",
		`[{"key":"A","value":1}]`:                               "/options/0/value",
		`"A"`:                                                   "/options",
		`null`:                                                  "/options",
		`[{"key":"B","value":"b"},{"key":1,"value":"\u0041bove"}]`: "/options/1/key",
	} {
		err := runtime.DecodeReply(doc(form), new(routes.StructuredChoice), nil)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%s", form)
		assert.Contains(t, pointers(t, err), at, "%s", form)
	}
	assert.Error(t, runtime.Unmarshal(doc(`[{"key":"A","value":"one"}]`),
		new(routes.StructuredChoice)), "pairs are no wire form")
	assert.NoError(t, runtime.Unmarshal(doc(`null`), new(routes.StructuredChoice)),
		"null is an empty map on the wire")
}
