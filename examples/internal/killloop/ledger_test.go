//go:build unix

package killloop

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// What a line of the ledger says.
const (
	lineBegin  = "begin"  // an effect happens: Key, Mark, Told
	lineEnd    = "end"    // and returns its result: Key, Mark
	lineIntend = "intend" // a commit is on its way that says an effect of Once will begin: Key
	lineLease  = "lease"  // a commit took or kept the lease of a thread, which is the Key: Until
	lineRest   = "rest"   // a commit left a thread, which is the Key, without a lease

	linePaused  = "paused"  // a commit has paused a thread, which is the Key
	lineResumed = "resumed" // a commit that ends the pause is on its way
)

// line is one row of the ledger. Times are Unix microseconds: all processes run on one machine.
type line struct {
	At    int64  `json:"at"`
	Proc  string `json:"proc"`
	What  string `json:"what"`
	Key   string `json:"key"`
	Mark  string `json:"mark,omitempty"`
	Told  string `json:"told,omitempty"`
	Until int64  `json:"until,omitempty"`
	Fence int64  `json:"fence,omitempty"`

	Version int64 `json:"version,omitempty"` // of the thread, with that commit
}

// ledger is the world outside: a file that every process appends to, which stays when one is
// killed. It is not synced, since the machine goes on.
type ledger struct {
	proc string
	slow time.Duration // how much longer an effect takes

	mu   sync.Mutex
	file *os.File
}

const ledgerLine = 512 // bytes; it divides a page, so that no write is cut between two

func ledgerPath(dir string) string { return filepath.Join(dir, "ledger") }

func openLedger(dir, proc string) (*ledger, error) {
	file, err := os.OpenFile(ledgerPath(dir), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &ledger{proc: proc, file: file}, err
}

// add writes a line in one call.
func (l *ledger) add(row line) error {
	row.At, row.Proc = micros(time.Now()), l.proc
	data, err := json.Marshal(row)
	if err != nil {
		return err
	}
	if len(data) >= ledgerLine {
		return fmt.Errorf("a line of %d bytes does not fit", len(data))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = fmt.Fprintf(l.file, "%-*s\n", ledgerLine-1, data)
	return err
}

// proof is what an effect returns: which call it was, and what it acted on.
type proof struct {
	Mark string `json:"mark"`
	Told string `json:"told"`
}

// effect happens once each time it is called, and takes some time, so that a kill can come at
// any point of it.
func (l *ledger) effect(told string) func(ctx context.Context, key string) (proof, error) {
	return func(ctx context.Context, key string) (proof, error) {
		p := proof{Mark: "m" + rand.Text()[:16], Told: told}
		if err := l.add(line{What: lineBegin, Key: key, Mark: p.Mark, Told: told}); err != nil {
			return p, err
		}
		takes := time.Duration(p.Mark[1]%8)*3*time.Millisecond + l.slow
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return p, context.Cause(ctx)
		}
		return p, l.add(line{What: lineEnd, Key: key, Mark: p.Mark})
	}
}

// readLedger returns all lines, in the order in which they were written.
func readLedger(t *testing.T, dir string) []line {
	t.Helper()
	data, err := os.ReadFile(ledgerPath(dir))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	data = data[:len(data)/ledgerLine*ledgerLine] // one may be on its way
	var rows []line
	for text := range bytes.Lines(data) {
		var row line
		require.NoError(t, json.Unmarshal(text, &row), strings.TrimSpace(string(text)))
		rows = append(rows, row)
	}
	return rows
}

func micros(t time.Time) int64 { return t.UnixMicro() }

// watched is a store that tells the ledger of leases and intentions. It is the sqlite store in
// all other ways.
type watched struct {
	*sqlite.Store

	out   *ledger
	loose bool // control: the loser of a race is told that it won
	id    string
}

// Announce announces the engine, and remembers what its leases are called.
func (w *watched) Announce(ctx context.Context) (id string, leave func(), err error) {
	id, leave, err = w.Store.Announce(ctx)
	w.id = id
	return id, leave, err
}

// Commit commits, between its lines.
func (w *watched) Commit(ctx context.Context, changes ...*thread.Change) error {
	for _, c := range changes {
		for n := range c.Entries {
			e := &c.Entries[n]
			// a pause ends with its turn
			cancelled := e.Type == thread.EntryReturned && e.State == "cancelled"
			if e.Type == thread.EntryResumed || cancelled {
				if err := w.out.add(line{What: lineResumed, Key: c.Thread.ID}); err != nil {
					return err
				}
			}
			if e.Type != thread.EntryEffect || e.State != thread.EffectIntended {
				continue
			}
			if f := c.Thread.Frame(e.Frame); f != nil {
				key := thread.EffectKey(c.Thread.ID, f, e.Name)
				if err := w.out.add(line{What: lineIntend, Key: key}); err != nil {
					return err
				}
			}
		}
	}
	err := w.Store.Commit(ctx, changes...)
	if w.loose && runtime.CodeOf(err) == runtime.CodeConflict {
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := w.committed(c); err != nil {
			return err
		}
	}
	return nil
}

// committed tells what a commit has made of the lease, and of a pause.
func (w *watched) committed(c *thread.Change) error {
	l := c.Thread.Lease
	row := line{What: lineLease, Key: c.Thread.ID, Fence: l.Fence, Version: c.Thread.Version}
	row.Until = micros(l.Until)
	if l.Owner == "" {
		row.What, row.Until = lineRest, 0
	}
	if l.Owner == "" || strings.HasSuffix(l.Owner, w.id) { // or else another process drives it
		if err := w.out.add(row); err != nil {
			return err
		}
	}
	is := func(e thread.Entry) bool { return e.Type == thread.EntryPaused }
	if c.Thread.Paused() && slices.ContainsFunc(c.Entries, is) {
		return w.out.add(line{What: linePaused, Key: c.Thread.ID})
	}
	return nil
}
