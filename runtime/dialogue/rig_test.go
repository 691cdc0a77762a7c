package dialogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// scene plays a scenario on both stores, with an engine that lives, and again with one that dies in
// its first commit, in its second, and so on, before the store has it or just after: another one
// goes on each time, gets the same input again, and must come to the same end. Each play is a
// bubble: time moves when nothing else can.
func scene(t *testing.T, play func(w *world)) {
	t.Helper()
	t.Parallel()
	for _, kind := range []string{"mem", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			want, _ := played(t, kind, 0, death{}, func(w *world) { play(w); w.once() })
			require.NotEmpty(t, want)
			if testing.Short() && kind == "sqlite" {
				return // what is stored is the same, and takes longer
			}
			same, commits := played(t, kind, everyStep, death{}, func(w *world) {
				play(w)
				w.once()
			})
			require.Equal(t, want, same)
			t.Logf("killed in each of %d commits", commits)
			for n := int64(1); n <= commits; n++ {
				for _, stored := range []bool{false, true} {
					got, _ := played(t, kind, everyStep, death{n, stored}, play)
					require.Equal(t, want, got, "killed in commit %d of %d, stored: %t", n, commits,
						stored)
				}
			}
		})
	}
}

// alive plays a scenario on both stores with an engine that lives.
func alive(t *testing.T, play func(w *world)) {
	t.Helper()
	t.Parallel()
	for _, kind := range []string{"mem", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			played(t, kind, 0, death{}, play)
		})
	}
}

// everyStep has an engine commit every step by itself.
const everyStep = -1

func played(t *testing.T, kind string, eager time.Duration, dies death, play func(w *world)) (
	end string, commits int64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kind)
		w.dies, w.eager = dies, eager
		play(w)
		end, commits = w.end(), w.way.commits.Load()
	})
	return end, commits
}

// world is a store, what happens outside of it, and an engine over it.
type world struct {
	*testing.T

	store thread.Store
	eager time.Duration
	dies  death // the first engine
	way   *mortal
	e     *thread.Engine
	talk  *chat.Conversation
	m     *Machine

	dialogue runtime.Dialogue
	kinds    []runtime.Kind // nil: the default ones
	cfg      Config
	nlu      *script
	does     map[string]func(in map[string]any) (any, error) // by action
	checks   map[string]func(v any) (any, error)             // by validator

	mu      sync.Mutex
	keys    map[string][]string // of what happened outside, by action
	said    int                 // messages
	threads []string
}

func newWorld(t *testing.T, kind string) *world {
	t.Helper()
	w := &world{
		T: t, does: map[string]func(map[string]any) (any, error){},
		checks: map[string]func(any) (any, error){}, keys: map[string][]string{},
		nlu: &script{means: map[string][]runtime.Command{}, calls: map[string]int{}},
	}
	w.cfg.Understand = w.nlu
	if kind == "mem" {
		w.store = mem.Open()
		return w
	}
	disk, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, disk.Close()) })
	w.store = disk
	return w
}

// run starts the first engine over these tables.
func (w *world) run(t *runtime.FlowTables) {
	w.Helper()
	w.dialogue = runtime.Dialogue{Tables: t, Kinds: w.kinds, Act: w.act, Validate: w.validate}
	w.open(w.dies)
}

func (w *world) open(dies death) {
	w.Helper()
	var err error
	w.m, err = New(w.dialogue, w.cfg)
	require.NoError(w, err)
	w.way = &mortal{CutStore: threadtest.CutStore{Store: w.store}, death: dies}
	w.e, err = thread.Open(w.Context(), w.way, thread.Config{Owner: "w", CommitDelay: w.eager}, w.m)
	require.NoError(w, err)
	w.talk = &chat.Conversation{Engine: w.e, Machine: w.m}
	e := w.e
	w.Cleanup(func() { kill(w.T, e) })
}

func kill(t *testing.T, e *thread.Engine) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.NoError(t, e.Close(ctx))
}

// reopen puts another engine in the place of one that has died.
func (w *world) reopen() {
	w.Helper()
	kill(w.T, w.e)
	w.open(death{})
}

// means says what the scripted understanding makes of a message.
func (w *world) means(text string, commands ...runtime.Command) { w.nlu.means[text] = commands }

func (w *world) act(_ context.Context, action int, key string, input json.RawMessage) (
	json.RawMessage, error) {
	name := w.dialogue.Tables.Actions[action-1].Name
	w.mu.Lock()
	w.keys[name] = append(w.keys[name], key)
	do := w.does[name]
	w.mu.Unlock()
	if do == nil {
		return json.RawMessage(`{}`), nil
	}
	var in map[string]any
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	out, err := do(in)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(out)
}

func (w *world) validate(_ context.Context, validator int, value json.RawMessage) (json.RawMessage,
	error) {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return nil, err
	}
	out, err := w.checks[w.dialogue.Tables.Validators[validator-1]](v)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(out)
}

// done is how often an action happened: a call under the same key is the same.
func (w *world) done(action string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.Compact(slices.Sorted(slices.Values(w.keys[action]))))
}

// once requires that nothing happened twice, not even under one key: no engine has died, so none
// had a reason to begin again.
func (w *world) once() {
	w.Helper()
	for name := range w.keys { // each by itself
		assert.Len(w, w.keys[name], w.done(name), "calls of %s: %v", name, w.keys[name])
	}
	for key, calls := range w.nlu.calls { // each by itself
		assert.Equal(w, 1, calls, "a message was understood again: %s", key)
	}
}

// say delivers a message to thread t, as often as engines die over it.
func (w *world) say(text string) *chat.Turn { return w.to("t", text) }

func (w *world) to(id, text string) *chat.Turn {
	w.Helper()
	w.said++
	return w.deliver(chat.Message{Thread: id, ID: fmt.Sprintf("m%d", w.said), User: "ann",
		Text: text})
}

func (w *world) deliver(m chat.Message) *chat.Turn {
	w.Helper()
	turn, err := w.try(m)
	require.NoError(w, err)
	return turn
}

func (w *world) try(m chat.Message) (*chat.Turn, error) {
	w.Helper()
	if !slices.Contains(w.threads, m.Thread) {
		w.threads = append(w.threads, m.Thread)
	}
	for {
		turn, err := w.talk.Deliver(w.Context(), m)
		if err == nil && w.settle(turn.Thread) {
			continue
		}
		if w.way.Cut.Load() {
			w.reopen()
			continue
		}
		return turn, err
	}
}

// settle has a person look whether an effect in doubt has happened, and say so. It reports whether
// there was one.
func (w *world) settle(t *thread.Thread) bool {
	w.Helper()
	for _, i := range t.Open {
		var doubt struct {
			Key string `json:"key"`
		}
		if i.Kind != thread.KindSystemError || json.Unmarshal(i.Payload, &doubt) != nil ||
			doubt.Key == "" {
			continue
		}
		answer := json.RawMessage(`"run"`)
		w.mu.Lock()
		for _, keys := range w.keys {
			if slices.Contains(keys, doubt.Key) {
				answer = json.RawMessage(`{"choice":"done","value":{}}`)
			}
		}
		w.mu.Unlock()
		_, err := w.e.Answer(w.Context(), t.ID, thread.Answer{Interrupt: i.ID, Value: answer,
			By: "operator"})
		if !w.way.Cut.Load() {
			require.NoError(w, err)
		}
		_, err = w.e.Wait(w.Context(), t.ID)
		if !w.way.Cut.Load() {
			require.NoError(w, err)
		}
		return true
	}
	return false
}

// hears delivers a message and demands the reply.
func (w *world) hears(text string, reply ...string) *chat.Turn {
	w.Helper()
	turn := w.say(text)
	require.Equal(w, reply, turn.Lines, "to %q", text)
	return turn
}

// question is the one that is open after a turn, nil if none is.
func question(turn *chat.Turn) *thread.Interrupt {
	for _, i := range turn.Questions {
		if i.Kind == thread.KindAgentQuestion {
			return i
		}
	}
	return nil
}

// stack lists the flows that are active, the lowest first.
func (w *world) stack(t *thread.Thread) []string {
	var out []string
	for i := range t.Frames {
		if t.Frames[i].Name != "" {
			out = append(out, t.Frames[i].Name)
		}
	}
	return out
}

// slots are the values of the topmost flow of that name.
func (w *world) slots(t *thread.Thread, flow string) map[string]json.RawMessage {
	w.Helper()
	for _, frame := range slices.Backward(t.Frames) {
		if frame.Name == flow {
			s := newState(w.m.byName[flow])
			require.NoError(w, s.decode(frame.Locals))
			return s.values()
		}
	}
	require.Fail(w, "no such flow is active", flow)
	return nil
}

// end is what must be the same whatever happened on the way: what was said and asked, what happened
// outside, and how the threads ended.
func (w *world) end() string {
	w.Helper()
	if w.way.Cut.Load() {
		w.reopen()
	}
	var out strings.Builder
	for _, id := range w.threads {
		t, err := w.e.Wait(w.Context(), id)
		require.NoError(w, err)
		fmt.Fprintf(&out, "%s %s %s %v\n", id, t.Status(), t.Result, w.stack(t))
		for _, e := range w.log(id) {
			switch e.Type {
			case thread.EntryMessage:
				fmt.Fprintf(&out, "  %s %s\n", e.Name, e.Value)
			case thread.EntryAsked:
				if i, err := w.e.Interrupt(w.Context(), e.Interrupt); err == nil &&
					i.Kind == thread.KindAgentQuestion {
					fmt.Fprintf(&out, "  asks %s\n", i.Text)
				}
			default:
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for name, keys := range w.keys {
		for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
			all = append(all, name+" "+key)
		}
	}
	slices.Sort(all)
	return out.String() + strings.Join(all, "\n")
}

func (w *world) log(id string) []thread.Entry {
	w.Helper()
	var out []thread.Entry
	for {
		rows, err := w.e.History(w.Context(), id, int64(len(out)), 1000)
		require.NoError(w, err)
		if out = append(out, rows...); len(rows) < 1000 {
			return out
		}
	}
}

// script is an understanding that counts how often it is asked.
type script struct {
	means map[string][]runtime.Command
	mu    sync.Mutex
	calls map[string]int // by effect
	fails atomic.Bool
}

// Understand looks the text up, or fails.
func (s *script) Understand(_ context.Context, key string, q Query) ([]runtime.Command, error) {
	s.mu.Lock()
	s.calls[key]++
	s.mu.Unlock()
	if s.fails.Load() {
		return nil, errors.New("the model is away")
	}
	return s.means[q.Text], nil
}

func (s *script) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// death is the commit in which a process dies, counted from 1; 0: in none.
type death struct {
	at     int64
	stored bool // the store has it still
}

// mortal is a store whose process dies in a commit: nothing gets through after that.
type mortal struct {
	threadtest.CutStore
	death

	commits atomic.Int64
}

// Commit commits, or dies.
func (m *mortal) Commit(ctx context.Context, changes ...*thread.Change) error {
	if m.Cut.Load() {
		return threadtest.ErrCut
	}
	if m.commits.Add(1) != m.at {
		return m.Store.Commit(ctx, changes...)
	}
	m.Cut.Store(true)
	if m.stored {
		if err := m.Store.Commit(ctx, changes...); err != nil {
			return err
		}
	}
	return threadtest.ErrCut
}
