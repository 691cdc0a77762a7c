package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// onBoth plays a scenario on every store.
func onBoth(t *testing.T, play func(w *world)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			play(newWorld(t, store))
		})
	}
}

// turn is what a node does when it runs: it returns a routing as JSON.
type turn func(ctx context.Context, call runtime.Call, request runtime.Record) (string, error)

// world is a store with an engine that runs the shipped system, its nodes played by turns and its
// model by a stand-in.
type world struct {
	*testing.T
	store   thread.Store
	program runtime.Program
	model   *model
	cfg     workflow.Config
	clock   thread.Clock
	m       *workflow.Machine
	e       *thread.Engine

	mu     sync.Mutex
	turns  map[string][]turn
	always map[string]turn
	runs   []string
	calls  map[string][]runtime.Call
	took   map[string][]runtime.Record
}

func newWorld(t *testing.T, store string) *world {
	t.Helper()
	w := bareWorld(t)
	if store == "mem" {
		w.store = mem.Open()
		return w
	}
	disk, err := sqlite.Open(w.Context(), filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, disk.Close()) })
	w.store = disk
	return w
}

// shipped are the prompts of the shipped system.
var shipped = sync.OnceValues(func() (*prompt.Prompts, error) {
	p := routes.New(routes.UnimplementedHandlers{})
	return prompt.New(&p, templates.Prompts(nil))
})

func bareWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		T: t, turns: map[string][]turn{}, always: map[string]turn{},
		calls: map[string][]runtime.Call{},
		took:  map[string][]runtime.Record{}, program: routes.New(routes.UnimplementedHandlers{}),
	}
	tables := *w.program.Tables
	tables.Nodes = slices.Clone(tables.Nodes)
	w.program.Tables = &tables
	w.program.Invoke = w.invoke
	w.program.Adapt = func(context.Context, runtime.Call, runtime.Record) (runtime.Record, error) {
		return w.program.DecodeRequest("ContextManagerRequest",
			[]byte(w.sample("ContextManagerRequest")))
	}
	w.model = &model{world: w}
	prompts, err := shipped()
	require.NoError(t, err)
	w.cfg = workflow.Config{Model: w.model, Prompts: prompts}
	return w
}

// open starts the engine.
func (w *world) open() {
	w.Helper()
	var err error
	w.m, err = workflow.New(w.program, w.cfg)
	require.NoError(w, err)
	w.e, err = thread.Open(w.Context(), w.store, thread.Config{Owner: "u", Clock: w.clock}, w.m)
	require.NoError(w, err)
	e := w.e
	w.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(w, e.Close(ctx))
	})
}

// on adds to what a node does, run by run.
func (w *world) on(node string, turns ...turn) { w.turns[node] = append(w.turns[node], turns...) }

func (w *world) invoke(ctx context.Context, call runtime.Call, request runtime.Record) (
	runtime.Routing, error) {
	w.mu.Lock()
	w.runs = append(w.runs, call.Node)
	w.calls[call.Node] = append(w.calls[call.Node], call)
	w.took[call.Node] = append(w.took[call.Node], request)
	play := w.always[call.Node]
	if left := w.turns[call.Node]; len(left) > 0 {
		play, w.turns[call.Node] = left[0], left[1:]
	}
	w.mu.Unlock()
	if play == nil {
		return nil, thread.Permanent(fmt.Errorf("nothing says what %s does", call.Node))
	}
	text, err := play(ctx, call, request)
	if err != nil {
		return nil, err
	}
	return w.program.DecodeRouting(w.row(call.Node), []byte(text))
}

// row is the number of a node.
func (w *world) row(node string) int {
	w.Helper()
	at := slices.IndexFunc(w.program.Tables.Nodes, func(n runtime.Node) bool {
		return n.Key == node
	})
	require.GreaterOrEqual(w, at, 0, node)
	return at + 1
}

func (w *world) node(key string) *runtime.Node { return &w.program.Tables.Nodes[w.row(key)-1] }

// says returns a turn that sets a branch to the smallest legal value, with some of its fields
// changed: name, value, name, value.
func (w *world) says(node, branch string, with ...any) turn {
	return func(context.Context, runtime.Call, runtime.Record) (string, error) {
		return w.routing(node, branch, with...), nil
	}
}

func (w *world) routing(node, branch string, with ...any) string {
	w.Helper()
	rows := w.program.Tables.Routings[w.node(node).Routing-1].Branches
	at := slices.IndexFunc(rows, func(b runtime.BranchRow) bool { return b.Name == branch })
	require.GreaterOrEqual(w, at, 0, "%s has no branch %s", node, branch)
	return `{"` + branch + `":` + w.sample(rows[at].Type, with...) + `}`
}

// asks returns a turn that raises the node's interrupt.
func (w *world) asks(node, kind, reason string, with ...any) turn {
	return w.says(node, "interruptRequest",
		append([]any{"type", kind, "reason", reason}, with...)...)
}

// sample is the smallest legal value of a type, made from its schema.
func (w *world) sample(typeName string, with ...any) string {
	w.Helper()
	var doc map[string]any
	require.NoError(w, json.Unmarshal([]byte(w.program.Schemas.Def(typeName, runtime.Plain)), &doc))
	defined, _ := doc["$defs"].(map[string]any)
	value, ok := smallest(doc, defined).(map[string]any)
	require.True(w, ok)
	for i := 0; i+1 < len(with); i += 2 {
		name, ok := with[i].(string)
		require.True(w, ok)
		value[name] = with[i+1]
		if text, ok := with[i+1].(json.RawMessage); ok && text == nil {
			delete(value, name)
		}
	}
	data, err := runtime.Encode(value)
	require.NoError(w, err)
	return string(data)
}

func smallest(schema, defs map[string]any) any {
	if ref, ok := schema["$ref"].(string); ok {
		schema, _ = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	switch schema["type"] {
	case "object":
		out := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		// the routing of a node
		if one, _ := schema["maxProperties"].(float64); one == 1 && len(required) == 0 {
			required = []any{"interruptRequest"}
		}
		for _, name := range required {
			inner, _ := properties[name.(string)].(map[string]any)
			out[name.(string)] = smallest(inner, defs)
		}
		return out
	case "array":
		return []any{}
	case "integer", "number":
		return 1
	case "boolean":
		return true
	default:
		if pattern, _ := schema["pattern"].(string); strings.HasPrefix(pattern, "^ak:") {
			return "ak:" + strings.Repeat("0", 26)
		}
		return "text"
	}
}

// start begins a thread with the smallest legal request of a type.
func (w *world) start(typeName string, with ...any) *thread.Thread {
	w.Helper()
	return w.startAs("", typeName, with...)
}

// startAs begins a thread with an id.
func (w *world) startAs(id, typeName string, with ...any) *thread.Thread {
	w.Helper()
	request, err := w.program.DecodeRequest(typeName, []byte(w.sample(typeName, with...)))
	require.NoError(w, err)
	begin, err := workflow.Begin(request)
	require.NoError(w, err)
	begin.ID, begin.User = id, "ann"
	t, err := w.e.Start(w.Context(), begin)
	require.NoError(w, err)
	return w.wait(t.ID)
}

// wait returns the thread when it does not run any more, also where it waits for its next try.
func (w *world) wait(id string) *thread.Thread {
	w.Helper()
	for _, err := range w.e.Subscribe(w.Context(), thread.Filter{Thread: id}, 0) {
		require.NoError(w, err)
		t, err := w.e.Thread(w.Context(), id)
		require.NoError(w, err)
		if t.Status() != thread.StatusRunning {
			return t
		}
	}
	require.Fail(w, "the thread still runs")
	return nil
}

// answer gives a text to the one open question of a thread, or a target: "->
// DISCOVERY_ORCHESTRATOR".
func (w *world) answer(id, text string) *thread.Thread {
	w.Helper()
	a := thread.Answer{Text: text, By: "bob"}
	if target, ok := strings.CutPrefix(text, "-> "); ok {
		a.Text, a.RouteTo = "", target
	}
	_, err := w.e.Answer(w.Context(), id, a)
	require.NoError(w, err)
	return w.wait(id)
}

// order answers a question of the engine.
func (w *world) order(id, choice string) *thread.Thread {
	w.Helper()
	_, err := w.e.Answer(w.Context(), id, thread.Answer{Value: json.RawMessage(choice), By: "bob"})
	require.NoError(w, err)
	return w.wait(id)
}

// asked requires that one question is open, and returns it.
func (w *world) asked(t *thread.Thread, kind string) *thread.Interrupt {
	w.Helper()
	require.Len(w, t.Open, 1, "%s %s %+v %+v", t.Status(), t.Result, t.Failure, t.Frames)
	require.Equal(w, kind, t.Open[0].Kind, "%s %s", t.Open[0].Text, t.Open[0].Payload)
	return t.Open[0]
}

// log returns the whole history of a thread.
func (w *world) log(id string) []thread.Entry {
	w.Helper()
	rows, err := w.e.History(w.Context(), id, 0, 10_000)
	require.NoError(w, err)
	return rows
}

// model stands in for a language model: it says what its list has, and after that the smallest
// thing that its schema allows.
type model struct {
	*world
	mu    sync.Mutex
	asked []question
	says  []string
	// looks around before the reply; its error is the model's
	while func(q question) error
	// in place of the list; "" is the smallest thing
	reply func(ctx context.Context, q question) (string, error)
}

// question is what a model was asked.
type question struct {
	Name, Prompt, Schema, Key string
}

// Generate notes the request and replies.
func (m *model) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if err := r.Check(); err != nil {
		return llm.Response{}, err
	}
	q := question{Name: r.Name(), Prompt: r.Prompt, Schema: r.Schema(runtime.Plain), Key: r.Key}
	m.mu.Lock()
	m.asked = append(m.asked, q)
	var reply string
	if len(m.says) > 0 {
		reply, m.says = m.says[0], m.says[1:]
	}
	while := m.while
	m.mu.Unlock()
	if while != nil {
		if err := while(q); err != nil {
			return llm.Response{}, err
		}
	}
	if m.reply != nil {
		var err error
		if reply, err = m.reply(ctx, q); err != nil {
			return llm.Response{}, err
		}
	}
	if reply == "" {
		var doc map[string]any
		if err := json.Unmarshal([]byte(q.Schema), &doc); err != nil {
			return llm.Response{}, err
		}
		defs, _ := doc["$defs"].(map[string]any)
		data, err := runtime.Encode(smallest(doc, defs))
		if err != nil {
			return llm.Response{}, err
		}
		reply = string(data)
	}
	return r.Read(reply, nil), nil
}

// count is how often the model was asked.
func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// last is what the model was asked last.
func (m *model) last() question {
	m.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.NotEmpty(m, m.asked, "the model was not asked")
	return m.asked[len(m.asked)-1]
}

var compiled sync.Map // of *jsonschema.Schema, by their text

// narrowed requires that a schema has exactly one property and exactly the definitions it reaches,
// and that a validator which knows nothing of this project takes that route and refuses the
// thirteen others.
func (w *world) narrowed(schema, field string) {
	w.Helper()
	if _, checked := compiled.Load(schema + field); checked {
		return
	}
	var doc struct {
		Properties map[string]any            `json:"properties"`
		Required   []string                  `json:"required"`
		More       *bool                     `json:"additionalProperties"`
		Defs       map[string]map[string]any `json:"$defs"`
	}
	require.NoError(w, json.Unmarshal([]byte(schema), &doc))
	require.Equal(w, []string{field}, slices.Sorted(maps.Keys(doc.Properties)))
	require.Equal(w, []string{field}, doc.Required)
	require.False(w, *doc.More)
	reached := map[string]bool{}
	var follow func(v any)
	follow = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && !reached[ref] {
				reached[ref] = true
				require.Contains(w, doc.Defs, strings.TrimPrefix(ref, "#/$defs/"))
				follow(doc.Defs[strings.TrimPrefix(ref, "#/$defs/")])
			}
			for _, inner := range v {
				follow(inner)
			}
		case []any:
			for _, inner := range v {
				follow(inner)
			}
		}
	}
	follow(doc.Properties)
	require.Len(w, doc.Defs, len(reached), "definitions that nothing reaches")

	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	require.NoError(w, err)
	c := jsonschema.NewCompiler()
	require.NoError(w, c.AddResource("mem:schema", parsed))
	validator, err := c.Compile("mem:schema")
	require.NoError(w, err)
	hidden := 0
	for _, b := range w.program.Tables.Routings[0].Branches {
		reply, err := jsonschema.UnmarshalJSON(
			strings.NewReader(`{"` + b.Name + `":` + w.sample(b.Type) + `}`))
		require.NoError(w, err)
		if b.Name == field {
			require.NoError(w, validator.Validate(reply))
		} else {
			require.Error(w, validator.Validate(reply), b.Name)
			hidden++
		}
	}
	require.Equal(w, 13, hidden)
	compiled.Store(schema+field, true)
}

// event is a reroute event for what a frame runs.
func event(id, frame, source, target string) workflow.Event {
	return workflow.Event{
		EventID: id, NodeID: frame, SourceAgentType: source, RerouteToAgentType: target,
		InterruptType: "HUMAN_REVIEW",
		Reason:        "reason of " + id, ContextForDecision: "context of " + id,
		Choices: []workflow.Choice{{Label: "Expand", Value: "expand",
			Description: "all modules"}},
		ConfirmationItems: []workflow.Confirmation{{ID: "c1", Prompt: "Is it urgent?"}},
	}
}

// publishes returns a turn that publishes events for its own node, and goes on with another turn.
func (w *world) publishes(next turn, events ...workflow.Event) turn {
	return func(ctx context.Context, call runtime.Call, request runtime.Record) (string, error) {
		for i := range events {
			events[i].NodeID = call.Frame
			if _, err := workflow.Publish(ctx, events[i]); err != nil {
				return "", err
			}
		}
		return next(ctx, call, request)
	}
}

// stops returns a turn that ends the thread.
func (w *world) stops(node string) turn { return w.asks(node, "STOP", "enough") }

// fails returns a turn that fails.
func fails(text string) turn {
	return func(context.Context, runtime.Call, runtime.Record) (string, error) {
		return "", errors.New(text)
	}
}
