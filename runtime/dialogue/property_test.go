package dialogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// TestPropertyNoThreadIsStuck plays random flows with random commands. Whatever they are: every
// message gets a reply and leaves a thread that takes the next one; no value is used twice, and no
// yes confirms twice.
func TestPropertyNoThreadIsStuck(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p := newPlayer(r)
		m := p.machine(r)
		e, err := thread.Open(context.Background(), mem.Open(), thread.Config{}, m)
		require.NoError(r, err)
		defer func() { _ = e.Close(context.Background()) }()
		talk := chat.Conversation{Engine: e, Machine: m}
		for n := range rapid.IntRange(1, 25).Draw(r, "messages") {
			text := fmt.Sprintf("message %d", n)
			p.means[text] = p.commands(r)
			turn, err := talk.Deliver(context.Background(),
				chat.Message{Thread: "t", User: "u", Text: text})
			require.NoError(r, err, "%s: %+v", text, p.means[text])
			require.NotEmpty(r, turn.Lines, "%s: %+v", text, p.means[text])
			switch turn.Thread.Status() {
			case thread.StatusWaiting:
				require.NotNil(r, question(turn), "%s: %+v", text, p.means[text])
			case thread.StatusIdle:
				require.Empty(r, turn.Thread.Frames)
			case thread.StatusHandedOff:
				return
			default:
				require.Fail(r, "stuck", "%s: %s %+v", text, turn.Thread.Status(), p.means[text])
			}
		}
		for value, times := range p.took {
			require.Equal(r, 1, times, "value %s was used %d times", value, times)
		}
		require.LessOrEqual(r, p.confirmed, p.yeses, "a yes was used twice")
	})
}

// player makes flows and commands up.
type player struct {
	flows []f
	means Scripted

	mu        sync.Mutex
	values    int
	yeses     int
	took      map[string]int
	confirmed int
}

func newPlayer(r *rapid.T) *player {
	p := &player{means: Scripted{}, took: map[string]int{}}
	count := rapid.IntRange(1, 4).Draw(r, "flows")
	for n := range count {
		flow := f{
			name: fmt.Sprintf("f%d", n), slots: []string{"a string in", "b string out", "ok bool",
				"n int default=0"},
			busy: rapid.IntRange(0, 4).Draw(r, "busy") == 0, hidden: n > 0 && rapid.IntRange(0, 4).
				Draw(r, "hidden") == 0,
		}
		for i := range rapid.IntRange(1, 4).Draw(r, "blocks") {
			flow.steps = append(flow.steps, block(r, fmt.Sprintf("s%d", i), n, count)...)
		}
		p.flows = append(p.flows, flow)
	}
	return p
}

// block is some steps that belong together. What is collected is used by an action and cleared;
// only a yes leads to the action confirmed.
func block(r *rapid.T, id string, flow, flows int) []p {
	slot := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "slot")
	ask := []p{
		{
			id: id + "c", kind: "collect", slot: slot, text: slot + "?", force: rapid.Bool().
				Draw(r, "force"), attempts: rapid.IntRange(0, 2).Draw(r, "attempts"),
			check:    rapid.SampledFrom([]string{"", "picky"}).Draw(r, "check"),
			onCancel: rapid.SampledFrom([]string{"", id + "t", "end"}).Draw(r, "on cancel"),
		},
		{id: id + "t", kind: "action", action: "took", when: when(filledX(slot)),
			in: []b{{name: "v", from: slot}}},
		{id: id + "n", kind: "set", set: []b{{name: slot, lit: "null"}}},
	}
	switch rapid.IntRange(0, 8).Draw(r, "block") {
	case 0:
		return []p{{id: id, kind: "say", text: "Hi."}}
	case 1:
		return []p{{id: id, kind: "action", action: "fails",
			onError: rapid.SampledFrom([]string{"", "end", "cancel_flow"}).Draw(r, "on error")}}
	case 2:
		return []p{
			{id: id + "y", kind: "confirm", slot: "ok", text: "Ok?", onYes: id + "a",
				onNo: rapid.SampledFrom([]string{"", id + "z"}).Draw(r, "on no")},
			{id: id + "a", kind: "action", action: "confirmed"},
			{id: id + "z", kind: "say", text: "Then not."},
		}
	case 3:
		if flow+1 < flows {
			return []p{{id: id, kind: rapid.SampledFrom([]string{"call", "link"}).Draw(r, "kind"),
				flow: fmt.Sprintf("f%d", flow+1), out: []b{{name: "b"}}}}
		}
	case 4:
		loop := append([]p{{id: id, kind: "while", cond: when(compares("n", "<", "1")),
			body: id + "c", rounds: 3}}, ask...)
		loop[len(loop)-1].next = id
		return append(loop, p{id: id + "e", kind: "say", text: "Out."})
	case 5:
		if rapid.IntRange(0, 9).Draw(r, "hand off") == 0 {
			return []p{{id: id, kind: "handoff", queue: "q"}}
		}
	case 6:
		return []p{
			{id: id, kind: "while", cond: when(compares("n", "<", "1")), body: id + "y", rounds: 3},
			{id: id + "y", kind: "confirm", slot: "ok", text: "Again?", onYes: id + "a",
				onNo: id + "e"},
			{id: id + "a", kind: "action", action: "confirmed", next: id},
			{id: id + "e", kind: "say", text: "Out."},
		}
	default:
	}
	return ask
}

func (p *player) machine(r *rapid.T) *Machine {
	for i := range p.flows {
		for n := range p.flows[i].steps { // the step behind a loop
			if s := &p.flows[i].steps[n]; s.kind == "while" {
				s.next = s.id + "e"
			}
		}
	}
	spec := tables([]string{"took", "confirmed", "fails"}, []string{"picky"}, p.flows...)
	spec.MaxDepth = rapid.IntRange(0, 3).Draw(r, "depth")
	spec.NoProgress = rapid.SampledFrom([]int{0, 0, 3}).Draw(r, "no progress")
	spec.NoProgThen = rapid.SampledFrom([]string{"cancel", "fallback"}).Draw(r, "then")
	spec.Fallback = rapid.IntRange(0, 1).Draw(r, "fallback")
	spec.Welcome = rapid.IntRange(0, 1).Draw(r, "welcome")
	m, err := New(runtime.Dialogue{Tables: spec, Act: p.act, Validate: p.validate},
		Config{Understand: p})
	require.NoError(r, err)
	return m
}

// Understand fails now and then, and counts the yeses it returns.
func (p *player) Understand(ctx context.Context, key string, q Query) ([]runtime.Command, error) {
	out, err := p.means.Understand(ctx, key, q)
	if len(out) > 0 && out[0].Type == "fail" {
		return nil, errors.New("no model")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range out {
		if out[i].Type == runtime.CommandAffirm || string(out[i].Value) == "true" ||
			string(out[i].Slots["ok"]) == "true" {
			p.yeses++
		}
	}
	return out, err
}

func (p *player) act(_ context.Context, action int, _ string, input json.RawMessage) (
	json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch action {
	case 1:
		p.took[string(input)]++
	case 2:
		p.confirmed++
	default:
		return nil, errors.New("it broke")
	}
	return nil, nil
}

func (p *player) validate(_ context.Context, _ int, v json.RawMessage) (json.RawMessage, error) {
	if len(v)%2 == 0 {
		return nil, errors.New("it is even")
	}
	return v, nil
}

// commands are what a message means: anything, sensible or not.
func (p *player) commands(r *rapid.T) []runtime.Command {
	slot := rapid.SampledFrom([]string{"a", "b", "a", "b", "ok", "n", "nobody", ""})
	value := func() json.RawMessage {
		if rapid.IntRange(0, 5).Draw(r, "odd") == 0 {
			return json.RawMessage(rapid.SampledFrom([]string{"true", "null", "{}", "0", `""`}).
				Draw(r, "value"))
		}
		p.values++
		return raw(fmt.Sprintf("v%d", p.values))
	}
	var out []runtime.Command
	for range rapid.IntRange(0, 4).Draw(r, "commands") {
		c := runtime.Command{Type: rapid.SampledFrom([]runtime.CommandType{
			runtime.CommandStart, runtime.CommandStart, runtime.CommandSet, runtime.CommandSet,
			runtime.CommandSet, runtime.CommandCorrect, runtime.CommandClear,
			runtime.CommandAffirm, runtime.CommandAffirm, runtime.CommandDeny,
			runtime.CommandCancel, runtime.CommandClarify, runtime.CommandChitchat, "dance", "fail",
		}).Draw(r, "type")}
		switch c.Type {
		case runtime.CommandStart:
			c.Flow = rapid.SampledFrom([]string{"f0", "f1", "f2", "f3", "f9"}).Draw(r, "flow")
			if rapid.Bool().Draw(r, "with slots") {
				c.Slots = map[string]json.RawMessage{slot.Draw(r, "slot"): value()}
			}
		case runtime.CommandSet, runtime.CommandCorrect:
			c.Slot, c.Value = slot.Draw(r, "slot"), value()
		case runtime.CommandClear, runtime.CommandDeny:
			c.Slot = slot.Draw(r, "slot")
		default:
		}
		out = append(out, c)
	}
	return slices.Clip(out)
}
