package thread_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// childEnv makes this test binary one of the processes that get killed. Its value is an order.
const childEnv = "ROUTEGEN_PROOF_CHILD"

// order says what a child does.
type childOrder struct {
	Dir     string `json:"dir"`     // of the database
	Outside string `json:"outside"` // file
	Round   int    `json:"round"`   // part of the ids of its threads
	Mode    string `json:"mode"`    // see the modes
	Count   int    `json:"count"`   // of modes that end
	Patient bool   `json:"patient"` // what the store refuses is tried again
}

const (
	modeWork    = "work"    // until it is killed
	modeFinish  = "finish"  // bring everything to its end, and exit
	modeHasty   = "hasty"   // control: acknowledge before the commit is on disk
	modeDoubled = "doubled" // control: use Do where Once is meant
)

// childModes are the modes that do something else.
var childModes = map[string]func(c *child){modeNormal: (*child).normal, modeCount: (*child).count}

// ack is what the child tells its parent after the engine has acknowledged it.
type ack struct {
	Thread string `json:"thread"`
	// of a start, or of a message that began a turn
	Request   string          `json:"request,omitempty"`
	Interrupt string          `json:"interrupt,omitempty"` // of an answer
	Value     json.RawMessage `json:"value,omitempty"`
}

// child runs threads in a process that may be killed at any time.
type child struct {
	childOrder
	t       *testing.T
	ctx     context.Context //nolint:containedctx // of the process
	engine  *thread.Engine
	outside *outside

	mu   sync.Mutex
	acks *os.File
}

// TestProofChild is no test: it is the main function of a child.
func TestProofChild(t *testing.T) { //nolint:paralleltest // it is alone in its process
	told := os.Getenv(childEnv)
	if told == "" {
		t.Skip("the kill tests run this in a process of its own")
	}
	c := &child{t: t, ctx: t.Context(), acks: os.NewFile(3, "acks")}
	require.NoError(t, json.Unmarshal([]byte(told), &c.childOrder))
	if run := childModes[c.Mode]; run != nil {
		run(c)
		return
	}
	c.outside = openOutside(t, c.Outside)
	disk, err := sqlite.Open(c.ctx, filepath.Join(c.Dir, "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	var store thread.Store = disk
	if c.Mode == modeHasty {
		store = newHasty(c.ctx, disk)
	}
	c.engine, err = thread.Open(c.ctx, store,
		thread.Config{Owner: "child", Poll: 20 * time.Millisecond}, c.machines()...)
	require.NoError(t, err)
	const workers = 8
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { c.work(w, workers) })
	}
	all.Wait()
	require.NoError(t, c.engine.Close(c.ctx))
	require.NoError(t, disk.Close())
}

// machines are an order that is paid once, and a chat of two turns.
func (c *child) machines() []thread.Machine {
	once := thread.Once[string]
	if c.Mode == modeDoubled {
		once = thread.Do[string]
	}
	steps := func(ctx context.Context, in string) (bill, error) {
		var b bill
		var err error
		if b.Quote, err = thread.Do(ctx, "quote", c.effect); err != nil {
			return b, err
		}
		if b.OK, err = thread.Ask[bool](ctx, "ok",
			thread.Question{Text: "Pay " + in + "?", Plain: thread.PlainYesNo}); err != nil {
			return b, err
		}
		if b.Charge, err = once(ctx, "charge", c.effect); err != nil {
			return b, err
		}
		if err := thread.Say(ctx, "receipt", b.Charge); err != nil {
			return b, err
		}
		if b.Mail, err = thread.Do(ctx, "mail", c.effect); err != nil {
			return b, err
		}
		b.Note, err = thread.Ask[string](ctx, "note",
			thread.Question{Text: "A note?", Plain: thread.PlainText})
		return b, err
	}
	return []thread.Machine{thread.Func("order", steps), thread.Turns("chat", steps)}
}

// bill is the result of a thread: what its effects returned, and what it was told.
type bill struct {
	Quote  string `json:"quote"`
	OK     bool   `json:"ok"`
	Charge string `json:"charge"`
	Mail   string `json:"mail"`
	Note   string `json:"note"`
}

// effect happens outside and returns what marks this very call. It takes its time, so that a kill
// can come between the effect and its record.
func (c *child) effect(ctx context.Context, key string) (string, error) {
	mark := rand.Text()
	c.outside.add(c.t, key, mark)
	slow := time.Duration(mark[0]%4) * time.Millisecond
	if c.Mode == modeDoubled {
		slow = 20 * time.Millisecond
	}
	select {
	case <-time.After(slow):
		return mark, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// work takes up what earlier rounds left in this worker's share, and starts threads until the
// process is killed.
func (c *child) work(w, workers int) {
	after := ""
	for {
		rows, err := c.engine.Threads(c.ctx, thread.Query{AfterID: after})
		require.NoError(c.t, err)
		for _, row := range rows {
			after = row.ID
			if share(row.ID, workers) == w && row.Status != thread.StatusDone {
				c.drive(row.ID, 0)
			}
		}
		if len(rows) == 0 {
			break
		}
	}
	for n := 0; c.Mode != modeFinish; n++ {
		b := thread.Begin{ID: fmt.Sprintf("r%03d-w%d-%d", c.Round, w, n), Machine: "order",
			Input: "it", User: "ann", Request: "start"}
		if n%3 == 1 {
			b.Machine = "chat"
		}
		c.try(func() error {
			_, err := c.engine.Start(c.ctx, b)
			return err
		})
		c.tell(ack{Thread: b.ID, Request: b.Request})
		c.drive(b.ID, n%4) // some stay where they are, for the next round
	}
}

func share(id string, of int) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(of))
}

// drive answers what a thread asks until it is at its end, or until it has asked often enough; 0
// means no limit.
func (c *child) drive(id string, most int) {
	for n := 1; ; n++ {
		var t *thread.Thread
		c.try(func() (err error) {
			t, err = c.engine.Wait(c.ctx, id)
			return err
		})
		switch {
		case most > 0 && n > most, t.Over != "", t.Status() == thread.StatusIdle && t.Turn == 2:
			return
		case t.Status() == thread.StatusIdle:
			c.try(func() error {
				_, err := c.engine.Deliver(c.ctx, thread.Message{Thread: id, Machine: "chat",
					Text: "more", By: "ann", Request: "turn 2"})
				return err
			})
			c.tell(ack{Thread: id, Request: "turn 2"})
		case len(t.Open) > 0:
			c.answer(t, t.Open[0])
		default: // the next try of a step
			<-time.After(time.Millisecond)
		}
	}
}

// answer answers in one of two ways, and says of an effect in doubt what is true outside.
func (c *child) answer(t *thread.Thread, i *thread.Interrupt) {
	var value json.RawMessage
	text := ""
	switch {
	case strings.HasPrefix(i.Name, "in_doubt/"):
		value = c.outside.verdict(c.t, i)
	case i.Kind == thread.KindSystemError:
		value = json.RawMessage(`"retry"`)
	case i.Name == "ok":
		text, value = "yes", json.RawMessage(`true`)
	default:
		text, value = "note "+i.ID, fmt.Appendf(nil, "%q", "note "+i.ID)
	}
	c.try(func() (err error) {
		if text != "" && share(t.ID, 2) == 0 {
			_, err = c.engine.Deliver(c.ctx, thread.Message{Thread: t.ID, Text: text, By: "bob",
				Request: i.ID})
		} else {
			_, err = c.engine.Answer(c.ctx, t.ID, thread.Answer{Interrupt: i.ID, Value: value,
				By: "bob", Request: i.ID})
		}
		return err
	})
	c.tell(ack{Thread: t.ID, Interrupt: i.ID, Value: value})
}

// try does something that must succeed, in the end where the child is patient.
func (c *child) try(do func() error) {
	for {
		err := do()
		if !c.Patient || runtime.CodeOf(err) != runtime.CodeUnavailable {
			require.NoError(c.t, err)
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}

// tell writes one line into the pipe, in one call: a kill does not cut it.
func (c *child) tell(a ack) {
	line, err := json.Marshal(a)
	require.NoError(c.t, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.acks.Write(append(line, '\n'))
	require.NoError(c.t, err)
}

// outside is the world that effects change: a file that stays when the process is killed. It is not
// synced, since the machine goes on.
type outside struct {
	mu    sync.Mutex
	file  *os.File
	marks map[string][]string // by key, in order, as of the start of this process
}

const outsideLine = 128 // bytes; it divides a page, so that no write is cut between two

func openOutside(t *testing.T, path string) *outside {
	t.Helper()
	o := &outside{marks: map[string][]string{}}
	had, err := os.ReadFile(path)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for line := range bytes.Lines(had) {
		words := strings.Fields(string(line))
		require.Len(t, words, 2, "a line of the outside")
		o.marks[words[0]] = append(o.marks[words[0]], words[1])
	}
	o.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _ = o.file.Close() })
	return o
}

func (o *outside) add(t *testing.T, key, mark string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := fmt.Fprintf(o.file, "%-*s\n", outsideLine-1, key+" "+mark)
	require.NoError(t, err)
}

// verdict is what an honest person says of an effect in doubt: it happened, with this result, or it
// did not.
func (o *outside) verdict(t *testing.T, i *thread.Interrupt) json.RawMessage {
	t.Helper()
	var about struct {
		Key string `json:"key"`
	}
	require.NoError(t, json.Unmarshal(i.Payload, &about))
	if marks := o.marks[about.Key]; len(marks) > 0 {
		return fmt.Appendf(nil, `{"choice":"done","value":%q}`, marks[0])
	}
	return json.RawMessage(`{"choice":"run"}`)
}

// hasty is a store that acknowledges what is not yet on disk: the control that must lose.
type hasty struct {
	thread.Store // all that was acknowledged
	late         chan []*thread.Change
}

func newHasty(ctx context.Context, disk thread.Store) *hasty {
	h := &hasty{Store: mem.Open(), late: make(chan []*thread.Change, 100_000)}
	go func() {
		for changes := range h.late {
			<-time.After(5 * time.Millisecond)
			if disk.Commit(ctx, changes...) != nil {
				return
			}
		}
	}()
	return h
}

func (h *hasty) Commit(ctx context.Context, changes ...*thread.Change) error {
	err := h.Store.Commit(ctx, changes...)
	if err == nil {
		h.late <- changes
	}
	return err
}
