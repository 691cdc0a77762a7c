package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// TestTheGraphOfAGeneratedProgram has every node of the shipped system once, every edge leads to a
// node, and what a start takes is a schema that holds.
func TestTheGraphOfAGeneratedProgram(t *testing.T) {
	t.Parallel()
	generated := routes.New(routes.UnimplementedHandlers{})
	r := newRig(t, "mem", web.Config{Programs: map[string]web.Program{
		"workflow": {Title: "The shipped system", Doc: "Plans and does tickets.",
			Generated: generated},
		"ask": {Starts: []web.Start{{Title: "A question",
			Schema: json.RawMessage(`{"type":"string"}`), Example: json.RawMessage(`"x"`)}}},
	}})
	c := &client.Client{Base: r.http.URL, Token: operator}
	r.get("/v1/programs/workflow").is(200) // holds it to its schema
	g, err := c.Program(t.Context(), "workflow")
	require.NoError(t, err)
	require.Len(t, g.Nodes, len(generated.Tables.Nodes))
	keys, reached, decisions := map[string]bool{"": true}, map[string]bool{}, 0
	for _, n := range g.Nodes {
		assert.False(t, keys[n.Key], n.Key)
		keys[n.Key] = true
	}
	for _, n := range g.Nodes {
		for _, b := range n.Branches {
			assert.True(t, keys[b.To], "%s leads to %q", n.Key, b.To)
			assert.Equal(t, b.To == "", b.Kind == "interrupt" || b.Kind == "end", "%s.%s is %s",
				n.Key, b.Name, b.Kind)
			if reached[b.To] = true; b.When != "" {
				decisions++
			}
		}
	}
	for _, n := range g.Nodes {
		assert.True(t, n.Entry || reached[n.Key] || n.Takes == "", "nothing leads to %s", n.Key)
	}
	assert.Positive(t, decisions, "what collectors decide is on the edges")
	assert.Len(t, g.Routes, 14)
	assert.True(t, g.Reroutes, "the server takes events for it")
	for _, route := range g.Routes {
		assert.True(t, keys[route.Node] && route.Node != "", route.Tag)
	}
	assert.NotEmpty(t, g.Handler.Title)

	all, err := c.Programs(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "ask", all[0].Title)
	require.Len(t, all[1].Starts, 1)
	start := all[1].Starts[0]
	assert.Equal(t, "OrchestratorRequest", start.Name)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(start.Schema)))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("start.json", doc))
	schema, err := compiler.Compile("start.json")
	require.NoError(t, err)
	for text, good := range map[string]bool{
		opening: true, `{"request":{"OrchestratorRequest":{}}}`: false,
		`{"request":{"Nothing":{}}}`: false, `{}`: false,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, good, schema.Validate(v) == nil, text)
	}

	r.get("/v1/programs/none").is(404, runtime.CodeNotFound)
	id := r.start("ask", `"x"`).ID
	view := r.forAll(id, "inspect")
	r.try(view, http.MethodGet, "/v1/programs/workflow", "").is(404) // its thread runs another
	r.try(view, http.MethodGet, "/v1/programs", "").is(403)
	r.try(r.forAll(id, "follow"), http.MethodGet, "/v1/programs/workflow", "").is(403)
	assert.Empty(t, decode[struct{ Items []any }](newRig(t, "mem", web.Config{}).
		get("/v1/programs").is(200)).Items)
}

// TestAMomentIsWhatTheThreadWas compares every moment with the record as it was stored then, and
// shows that no handler runs.
func TestAMomentIsWhatTheThreadWas(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			prompt := func(th *thread.Thread, f *thread.Frame) (string, error) {
				if f.PC == "" {
					return "", errors.New("CANARY of a frame that has not begun")
				}
				return f.Name + " at " + f.PC + " of " + th.ID, nil
			}
			w := newWorks(t, store,
				web.Config{Programs: map[string]web.Program{"plan": {Prompt: prompt}}})
			id, c := w.begin("a,ask b,c")
			c.until(thread.EntryAsked)
			then := w.settled(id)
			w.post("/v1/interrupts/"+then.Open[0].ID+"/answer", `{"value":"left","by":"ann"}`).
				is(200)
			w.answered(id, "a done 1, ask b done 1, c done 1")
			ran := w.times("before a") + w.times("before ask b") + w.times("before c")

			path := "/v1/threads/" + id + "/at/"
			now := decode[web.Moment](w.get(path + jsonOf(then.Seq)).is(200))
			assert.Equal(t, then.Open, now.Thread.Open,
				"the question is open there, as it was asked")
			assert.Equal(t, thread.StatusWaiting, now.Thread.Status)
			assert.Equal(t, then.Frames, now.Thread.Frames)
			assert.Equal(t, then.Seq, now.Row.Seq)
			require.Len(t, planIn(t, &now).Done, 1)
			assert.Equal(t, "a done 1", planIn(t, &now).Done[0].Result)
			assert.Equal(t, []string{"ask b", "c"}, planIn(t, &now).Steps)
			task := now.Frames[1]
			assert.Equal(t, "task", task.Node)
			assert.Equal(t, "before", task.Effects[0].Name)
			assert.Equal(t, "step at task of "+id, task.Prompt)
			assert.Contains(t, string(now.Frames[0].Shows), `"completed_steps":1`)

			last := w.settled(id).Seq
			stops := 0
			for seq := int64(1); seq <= last; seq++ {
				m := decode[web.Moment](w.get(path + jsonOf(seq)).is(200))
				assert.Equal(t, seq, m.Thread.Seq)
				if m.Row.End {
					stops++
				}
			}
			assert.Equal(t, w.settled(id).Version, int64(stops),
				"one stop of the slider for every commit")
			assert.Equal(t, ran, w.times("before a")+w.times("before ask b")+w.times("before c"),
				"nothing ran")
			for _, seq := range []string{"0", jsonOf(last + 1), "-1", "x", "01",
				"99999999999999999999"} {
				w.get(path+seq).is(400, runtime.CodeInvalid)
			}
			w.get("/v1/threads/unknown/at/1").is(404)
			view := w.forAll(id, "inspect")
			assert.Empty(t, decode[web.Moment](w.try(view, http.MethodGet, path+jsonOf(then.Seq),
				"").is(200)).Frames[1].Prompt, "prompts are the program's own")
			w.try(w.forAll(id, "answer"), http.MethodGet, path+"1", "").is(403)
			assert.NotContains(t, w.logs.String(), "CANARY")
			assert.Contains(t, w.logs.String(), "web prompt")
		})
	}
}

func TestStatsOverHTTP(t *testing.T) {
	onBoth(t, func(r *rig) {
		one, two := r.start("ask", `"1"`), r.start("ask", `"2"`)
		r.post("/v1/interrupts/"+one.Open[0].ID+"/answer", `{"value":{"ok":true},"by":"ann"}`).
			is(200)
		r.get("/v1/stats").is(200) // holds it to its schema
		c := &client.Client{Base: r.http.URL, Token: operator}
		rows, err := c.Stats(t.Context(), time.Time{})
		require.NoError(t, err)
		require.Len(t, rows, 2)
		own, err := r.engine.Stats(t.Context(), time.Time{})
		require.NoError(t, err)
		assert.Equal(t, own, rows)
		at := slices.IndexFunc(rows, func(s thread.Stat) bool { return s.Assignee == "ann" })
		assert.Equal(t, 1, rows[at].Answered)
		assert.Equal(t, 1, rows[1-at].Count)
		assert.Zero(t, rows[1-at].Answered)
		later, err := c.Stats(t.Context(), time.UnixMilli(two.Open[0].Created).Add(time.Hour))
		require.NoError(t, err)
		assert.Empty(t, later)
		for _, since := range []string{"x", "-1", "1e3", "01"} {
			r.get("/v1/stats?since=" + since).is(400)
		}
		r.try(r.forAll(two.ID, "follow"), http.MethodGet, "/v1/stats", "").is(403)
	})
}
