package thread_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// proofStores are the stores that every proof holds on.
var proofStores = map[string]func(t *testing.T) thread.Store{
	"mem": func(t *testing.T) thread.Store {
		t.Helper()
		s := mem.Open()
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return s
	},
	"sqlite": func(t *testing.T) thread.Store {
		t.Helper()
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"),
			sqlite.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return s
	},
}

// world is a store that stays, processes that come and go over it, the outside that effects change,
// and a person who tries again when told to. It lives in a synctest bubble: its time moves only
// when nothing else can.
type world struct {
	t        *testing.T
	ctx      context.Context //nolint:containedctx // of the bubble
	base     thread.Store
	kind     fault // of the first process; those after it are sound
	at       int
	storm    uint64 // seed; 0 is none
	machines func(p *process) []thread.Machine

	now  *process
	gone []*process

	missed []string // questions that a death left no time for, as [world.look] would tell of them

	mu      sync.Mutex
	outside map[string]int // how often an effect happened, by key
}

// process is one engine over the store, until it dies.
type process struct {
	*faulty
	world  *world
	engine *thread.Engine
	life   context.Context //nolint:containedctx // who waits for a process hears of its death
}

// Announce implements [thread.Presence].
func (p *process) Announce(context.Context) (string, func(), error) {
	return announce(func() bool { return !p.alive(func() {}) })
}

// Ended implements [thread.Presence].
func (*process) Ended(id string) bool { return ended(id) }

func newWorld(t *testing.T, base thread.Store, kind fault, at int,
	machines func(p *process) []thread.Machine) *world {
	t.Helper()
	// of the bubble: what is stuck ends the test, and does not hang it
	ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
	w := &world{t: t, ctx: ctx, base: base, kind: kind, at: at, machines: machines,
		outside: map[string]int{}}
	t.Cleanup(func() {
		cancel()
		for _, p := range append(w.gone, w.now) {
			if p != nil && p.engine != nil {
				assert.NoError(t, p.engine.Close(ctx)) // ctx is over: what still runs is cut
				assert.False(t, p.spun, "the engine calls the store without a pause")
			}
		}
	})
	return w
}

// boot makes the next process, whose engine is still to be opened.
func (w *world) boot() *process {
	const storms = 10
	f := &faulty{Store: w.base, kind: w.kind, at: w.at}
	if len(w.gone) > 0 {
		f.kind = noFault
	}
	if w.storm > 0 && len(w.gone) < storms {
		seed := w.storm*storms + uint64(len(w.gone))
		f.dice = rand.New(rand.NewPCG(seed, seed))
	}
	p := &process{faulty: f, world: w}
	p.life, f.died = context.WithCancel(w.ctx)
	return p
}

// up returns a living process, after as many tries to start one as it takes.
func (w *world) up() *process {
	w.t.Helper()
	for {
		if w.now == nil {
			w.now = w.boot()
		}
		p := w.now
		if p.alive(func() {}) && p.engine == nil {
			e, err := thread.Open(w.ctx, p, thread.Config{Owner: "proof", Poll: 10 * time.Minute},
				w.machines(p)...)
			if err == nil {
				p.engine = e
			} else {
				require.Equal(w.t, runtime.CodeUnavailable, runtime.CodeOf(err), err)
			}
		}
		switch {
		case !p.alive(func() {}):
			w.gone, w.now = append(w.gone, p), nil
		case p.engine != nil:
			return p
		default:
			w.pause(time.Second)
		}
	}
}

func (w *world) pause(d time.Duration) {
	w.t.Helper()
	select {
	case <-time.After(d):
	case <-w.ctx.Done():
		require.FailNow(w.t, "stuck",
			"a day has passed and the threads are not where they should be")
	}
}

// try does what a person does who is told that the service is not available: the same again, of the
// same process or the next one.
func (w *world) try(do func(e *thread.Engine) error) {
	w.t.Helper()
	for {
		err := do(w.up().engine)
		if runtime.CodeOf(err) != runtime.CodeUnavailable {
			require.NoError(w.t, err)
			return
		}
		w.pause(time.Second)
	}
}

// effect is what effects do: they happen outside, and a dead process does nothing there.
func (p *process) effect(_ context.Context, key string) (string, error) {
	happened := p.alive(func() {
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
		p.world.outside[key]++
	})
	if !happened {
		return "", errFault
	}
	return "result of " + key, nil
}

func (w *world) happened(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.outside[key] > 0
}

func (w *world) start(id, machine string, input any) {
	w.t.Helper()
	w.try(func(e *thread.Engine) error {
		_, err := e.Start(w.ctx, thread.Begin{ID: id, Machine: machine, Input: input, User: "ann",
			Request: "start " + id})
		return err
	})
}

// until waits for a state of a thread. Meanwhile it says of effects in doubt what is true outside,
// and lets steps that failed be tried again.
func (w *world) until(id string, there func(t *thread.Thread) bool) *thread.Thread {
	w.t.Helper()
	for pause := time.Second; ; pause *= 2 {
		var now *thread.Thread
		w.try(func(e *thread.Engine) (err error) {
			now, err = e.Wait(w.now.life, id)
			return err
		})
		if w.settleErrors(now) {
			continue
		}
		if there(now) {
			return now
		}
		w.pause(pause)
	}
}

// meanwhile waits for something outside, while the thread may run.
func (w *world) meanwhile(id string, there func() bool) {
	w.t.Helper()
	for !there() {
		w.try(func(e *thread.Engine) error {
			now, err := e.Thread(w.ctx, id)
			if err == nil {
				w.settleErrors(now)
			}
			return err
		})
		w.pause(time.Second)
	}
}

func (w *world) settleErrors(t *thread.Thread) bool {
	w.t.Helper()
	for _, i := range t.Open {
		if i.State != thread.InterruptOpen || i.Kind != thread.KindSystemError {
			continue
		}
		// a step that failed three times since the store was not there
		value := json.RawMessage(`"retry"`)
		if strings.HasPrefix(i.Name, "in_doubt/") {
			value = verdict(w.t, i, w.happened)
		}
		w.try(func(e *thread.Engine) error {
			_, err := e.Answer(w.ctx, t.ID, thread.Answer{Interrupt: i.ID, Value: value,
				By: "operator"})
			return err
		})
		return true
	}
	return false
}

// verdict is what an honest person says of an effect in doubt.
func verdict(t *testing.T, i *thread.Interrupt, happened func(key string) bool) json.RawMessage {
	t.Helper()
	var about struct {
		Key string `json:"key"`
	}
	require.NoError(t, json.Unmarshal(i.Payload, &about))
	if happened(about.Key) {
		return fmt.Appendf(nil, `{"choice":"done","value":%q}`, "result of "+about.Key)
	}
	return json.RawMessage(`"run"`)
}

// asks reports whether the thread asks a question of that name.
func asks(name string) func(t *thread.Thread) bool {
	return func(t *thread.Thread) bool { return askedBy(t, name) != nil }
}

func askedBy(t *thread.Thread, name string) *thread.Interrupt {
	at := slices.IndexFunc(t.Open, func(i *thread.Interrupt) bool {
		return i.Name == name && i.State == thread.InterruptOpen
	})
	if at < 0 {
		return nil
	}
	return t.Open[at]
}

func isOver(t *thread.Thread) bool { return t.Over != "" }

// answer answers the question of that name, once thread a asks it.
func (w *world) answer(question, value string) {
	w.t.Helper()
	const id = "a"
	asked := askedBy(w.until(id, asks(question)), question)
	w.try(func(e *thread.Engine) error {
		_, err := e.Answer(w.ctx, id,
			thread.Answer{Interrupt: asked.ID, Value: json.RawMessage(value), By: "bob",
				Request: "answer " + asked.ID})
		return err
	})
}

// outcome is what must be the same whatever goes wrong on the way.
type outcome struct {
	Threads []string // status and result
	Asked   []string // questions of the work: each asked once, and how it ended
	Said    []string // messages in the outboxes
	Done    []string // effects in the logs: each done once
	Keys    []string // of effects that happened outside
	Once    []string // of those that must not happen twice: how often they did
}

// look waits for the end of the threads and says what came of them. It also holds each log to the
// record it must add up to.
func (w *world) look(ids []string) (out outcome) {
	w.t.Helper()
	for _, id := range ids {
		t := w.until(id, isOver)
		out.Threads = append(out.Threads, fmt.Sprintf("%s: %s %s, %d frames, %d open", id, t.Over,
			t.Result, len(t.Frames), len(t.Open)))
		entries, interrupts := wholeLog(w.t, w.base, id)
		sameByReplay(w.t, t, entries, interrupts)
		for _, i := range interrupts {
			if i.Kind == thread.KindAgentQuestion || i.Kind == thread.KindUserEscape {
				out.Asked = append(out.Asked, fmt.Sprintf("%s: %s %s %s by %s", id, i.Name, i.State,
					i.Answer, i.AnsweredBy))
			}
		}
		for _, e := range entries {
			switch {
			case e.Type == thread.EntryMessage:
				out.Said = append(out.Said, fmt.Sprintf("%s: %s %s", id, e.Name, e.Value))
			case e.Type == thread.EntryEffect && e.State == thread.EffectDone:
				out.Done = append(out.Done, fmt.Sprintf("%s: %s of %s %s", id, e.Name, e.Frame,
					e.Value))
			}
		}
	}
	out.Asked = append(out.Asked, w.missed...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, n := range w.outside {
		out.Keys = append(out.Keys, key)
		if strings.HasSuffix(key, "/once") {
			out.Once = append(out.Once, fmt.Sprintf("%s: %d", key, n))
		}
	}
	for _, list := range [][]string{out.Asked, out.Said, out.Done, out.Keys, out.Once} {
		slices.Sort(list)
	}
	return out
}

// wholeLog reads a thread's log, and its interrupts of any state.
func wholeLog(t *testing.T, s thread.Store, id string) ([]thread.Entry, []*thread.Interrupt) {
	t.Helper()
	const all = 10_000
	entries, err := s.Log(t.Context(), thread.LogQuery{Thread: id, Limit: all})
	require.NoError(t, err)
	interrupts, err := s.Interrupts(t.Context(), thread.InterruptQuery{Thread: id, Limit: all})
	require.NoError(t, err)
	slices.SortStableFunc(interrupts, func(a, b *thread.Interrupt) int {
		return cmp.Compare(a.Created.UnixMilli(), b.Created.UnixMilli())
	})
	return entries, interrupts
}

// sameByReplay holds a record to its log.
func sameByReplay(t *testing.T, record *thread.Thread, entries []thread.Entry,
	interrupts []*thread.Interrupt) {
	t.Helper()
	made, err := thread.Replay(record.ID, entries, func(id string) *thread.Interrupt {
		at := slices.IndexFunc(interrupts, func(i *thread.Interrupt) bool { return i.ID == id })
		if at < 0 {
			return nil
		}
		return interrupts[at]
	})
	require.NoError(t, err)
	want := *record
	// a lease that is renewed is a version without an entry
	want.Lease, want.Version, made.Version, made.Fingerprint = thread.Lease{}, 0, 0,
		record.Fingerprint
	wantJSON, err := json.Marshal(&want)
	require.NoError(t, err)
	madeJSON, err := json.Marshal(made)
	require.NoError(t, err)
	assert.JSONEq(t, string(wantJSON), string(madeJSON), "the log adds up to the record")
	wantOpen, err := runtime.Encode(want.Open)
	require.NoError(t, err)
	madeOpen, err := runtime.Encode(made.Open)
	require.NoError(t, err)
	if len(want.Open)+len(made.Open) > 0 {
		assert.JSONEq(t, string(wantOpen), string(madeOpen), "and to its open interrupts")
	}
}
