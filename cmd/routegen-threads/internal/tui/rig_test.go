package tui

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/workflow"
)

// enough is how long a test waits for what has to come. It is no measure of anything.
const enough = 3 * time.Minute

const operator = "operator-0123456789abcdef0123456789abcdef"

// rig is a server on SQLite that can be stopped and started again under its address. Steps of a
// plan wait at a gate of their name.
type rig struct {
	*testing.T
	folder string
	door   *door
	client *client.Client
	store  *sqlite.Store
	engine *thread.Engine
	http   *http.Server

	program *runtime.Program // of the workflow; nil for none

	mu    sync.Mutex
	gates map[string]chan struct{}
	asked []string // modifications that the replanner got
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t}
	r.open()
	return r
}

// watchNew starts a thread and watches it in a terminal of the usual size.
func watchNew(t *testing.T, machine, input string) (r *rig, id string, s *terminal) {
	t.Helper()
	r = newRig(t)
	id = r.begin(machine, input)
	return r, id, r.watch(id, 80, 24, true)
}

// open starts the server for the first time.
func (r *rig) open() {
	r.Helper()
	r.folder, r.door, r.gates = r.TempDir(), newDoor(r.T), map[string]chan struct{}{}
	r.start()
	r.Cleanup(func() { r.stop() })
	r.client = &client.Client{Base: "http://" + r.door.Addr().String(), Token: operator}
}

// start opens the store, the engine and the server.
func (r *rig) start() {
	r.Helper()
	var err error
	r.store, err = sqlite.Open(r.Context(), filepath.Join(r.folder, "threads.db"), sqlite.Config{})
	require.NoError(r, err)
	machines, cfg := r.machines(), web.Config{Doors: []web.Door{control.Plans()}}
	if r.program != nil {
		nodes, err := workflow.New(*r.program, workflow.Config{})
		require.NoError(r, err)
		machines, cfg.Doors = append(machines, nodes), append(cfg.Doors, control.Reroutes(nodes))
		cfg.Programs = map[string]web.Program{workflow.Name: {Generated: *r.program}}
	}
	r.engine, err = thread.Open(r.Context(), r.store,
		thread.Config{Owner: "one", Poll: 20 * time.Millisecond}, machines...)
	require.NoError(r, err)
	server, err := web.New(r.engine, operator, cfg)
	require.NoError(r, err)
	r.http = server.HTTP("")
	front, hall := r.http, r.door.open()
	go func() { _ = front.Serve(hall) }()
}

// stop ends all three, as a program does that is told to end.
func (r *rig) stop() {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	// from here on no connection is accepted, even if the server has not begun to serve
	_ = r.door.open().Close()
	_ = r.http.Shutdown(ctx)
	require.NoError(r, r.http.Close())
	require.NoError(r, r.engine.Close(ctx))
	require.NoError(r, r.store.Close())
}

// gate is where a step waits until it is opened.
func (r *rig) gate(name string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gates[name] == nil {
		r.gates[name] = make(chan struct{})
	}
	return r.gates[name]
}

func (r *rig) let(names ...string) {
	for _, name := range names {
		close(r.gate(name))
	}
}

func (r *rig) modifications() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.asked...)
}

func (r *rig) machines() []thread.Machine {
	plans, err := planner.New(planner.Config{
		Plan: func(_ context.Context, goal string) ([]string, error) {
			return strings.Split(goal, ","), nil
		},
		Execute: func(ctx context.Context, _ *planner.Plan, step string) (string, error) {
			select {
			case <-r.gate(step):
				return step + " done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
		Replan: r.replan,
	})
	require.NoError(r, err)
	short := json.RawMessage(`{"type":"string","minLength":3}`)
	ask := func(name string, q thread.Question) thread.Machine {
		return thread.TakesChanges(
			thread.Func(name, func(ctx context.Context, _ string) (json.RawMessage, error) {
				return thread.Ask[json.RawMessage](ctx, name, q)
			}))
	}
	return []thread.Machine{
		plans,
		ask("sure", thread.Question{Text: "Delete all of it?", Plain: thread.PlainYesNo,
			Payload: json.RawMessage(`{"files":3}`)}),
		ask("colour", thread.Question{Text: "Which colour?", Plain: thread.PlainChoice,
			Choices: []thread.Choice{
				{Label: "Blue", Value: json.RawMessage(`"B"`), Description: "like the sea"},
				{Label: "Green", Value: json.RawMessage(`"G"`)},
			}}),
		ask("name", thread.Question{Text: "What is it called?", Plain: thread.PlainText,
			Schema: short}),
		ask("evil", thread.Question{Text: "red \x1b[31m\u202egnol\x07\nsecond line",
			Plain: thread.PlainText}),
		thread.Func("flaky", func(context.Context, string) (string, error) {
			return "", errors.New("not yet")
		}),
		thread.Func("broken", func(context.Context, string) (string, error) {
			return "", thread.Permanent(errors.New("it cannot be done"))
		}),
	}
}

func (r *rig) replan(_ context.Context, p *planner.Plan, modification string) (planner.Replanned,
	error) {
	if modification != "" {
		r.mu.Lock()
		r.asked = append(r.asked, modification)
		r.mu.Unlock()
		return planner.Replanned{Steps: strings.Split(modification, ",")}, nil
	}
	if len(p.Steps) > 0 {
		return planner.Replanned{Steps: p.Steps}, nil
	}
	return planner.Replanned{Done: true, Answer: "all done"}, nil
}

// begin makes a thread.
func (r *rig) begin(machine, input string) string {
	r.Helper()
	t, err := r.client.Start(r.Context(), machine, "", input, "ann", "")
	require.NoError(r, err)
	return t.ID
}

// question returns the one open interrupt of a thread that waits.
func (r *rig) question(id string) *web.Interrupt {
	r.Helper()
	_, err := r.engine.Wait(r.Context(), id)
	require.NoError(r, err)
	t, err := r.client.Thread(r.Context(), id)
	require.NoError(r, err)
	require.Len(r, t.Open, 1)
	return &t.Open[0]
}

// history returns the rows of a type.
func (r *rig) history(id string, of thread.EntryType) []web.Row {
	r.Helper()
	all, _, err := r.client.History(r.Context(), id, "", 1000)
	require.NoError(r, err)
	var out []web.Row
	for _, row := range all {
		if row.Type == of {
			out = append(out, row)
		}
	}
	return out
}

// terminal is a pseudo-terminal with the program in it.
type terminal struct {
	*testing.T
	master *os.File
	screen vt10x.Terminal
	mu     sync.Mutex
	raw    []byte
	news   chan struct{}
	ended  chan error
	paused bool // how it was left; read after ended
}

// watch runs the program for a thread.
func (r *rig) watch(id string, columns, rows int, color bool) *terminal {
	r.Helper()
	return r.watchWith(*r.client, id, columns, rows, color)
}

func (r *rig) watchWith(client client.Client, id string, columns, rows int, color bool) *terminal {
	r.Helper()
	master, slave, err := pty.Open()
	require.NoError(r, err)
	require.NoError(r, pty.Setsize(master, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}))
	t := &terminal{
		T: r.T, master: master, screen: vt10x.New(vt10x.WithSize(columns, rows)),
		news: make(chan struct{}, 1), ended: make(chan error, 1),
	}
	go t.read()
	go func() {
		var err error
		t.paused, err = Watch(r.Context(), Config{
			Client: client, Thread: id, By: "ann", In: slave, Out: slave,
			Environ: []string{"TERM=xterm-256color"}, Color: color,
		})
		_ = slave.Close()
		t.ended <- err
	}()
	r.Cleanup(func() { _ = master.Close() })
	return t
}

func (t *terminal) read() {
	buffer, shown := make([]byte, 4096), 0
	for {
		n, err := t.master.Read(buffer)
		if err != nil {
			return
		}
		t.mu.Lock()
		t.raw = append(t.raw, buffer[:n]...)
		_, _ = t.screen.Write(t.raw[shown:whole(t.raw)])
		shown = whole(t.raw)
		t.mu.Unlock()
		select {
		case t.news <- struct{}{}:
		default:
		}
	}
}

// text is the screen as a person reads it.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for l := range strings.Lines(t.screen.String()) {
		out = append(out, strings.TrimRight(l, " \n"))
	}
	return strings.Join(out, "\n")
}

// bytes is what the program has written.
func (t *terminal) bytes() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.raw)
}

// until waits for a screen that satisfies a condition.
func (t *terminal) until(what string, is func(screen string) bool) string {
	t.Helper()
	limit := time.NewTimer(enough)
	defer limit.Stop()
	for {
		screen := t.text()
		if is(screen) {
			return screen
		}
		select {
		case <-t.news:
		case <-limit.C:
			require.FailNow(t, "not seen: "+what, screen)
		}
	}
}

// sees waits until all of these stand on the screen, and returns it.
func (t *terminal) sees(words ...string) string {
	t.Helper()
	return t.until(strings.Join(words, " | "), func(screen string) bool {
		// what is broken over two lines is seen too
		joined := strings.Join(strings.Fields(screen), " ")
		for _, word := range words {
			if !strings.Contains(screen, word) && !strings.Contains(joined, word) {
				return false
			}
		}
		return true
	})
}

// loses waits until this stands nowhere on the screen.
func (t *terminal) loses(word string) {
	t.Helper()
	t.until("the end of "+word, func(screen string) bool { return !strings.Contains(screen, word) })
}

func (t *terminal) keys(keys string) {
	t.Helper()
	_, err := t.master.WriteString(keys)
	require.NoError(t, err)
}

// press types keys, and waits until all of these words stand on the screen.
func (t *terminal) press(keys string, words ...string) string {
	t.Helper()
	t.keys(keys)
	return t.sees(words...)
}

// leave presses Ctrl+C and waits for the end.
func (t *terminal) leave() {
	t.Helper()
	t.keys("\x03")
	select {
	case err := <-t.ended:
		assert.NoError(t, err)
	case <-time.After(enough):
		require.FailNow(t, "it does not end", t.text())
	}
}

const (
	escKey   = "\x1b"
	enterKey = "\r"
)
