package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// mail is what the payload says. The floor encodes it, as everybody must.
type mail struct {
	Tool      string `json:"tool"`
	Arguments struct {
		To   string `json:"to"`
		Body string `json:"body"`
	} `json:"arguments"`
}

// floor is the least that a durable cycle can be: JSON of the same payload, one insert and one conditional update, two commits, with the same
// driver and settings. Grouped, those that wait go to disk together.
type floor struct {
	write   func([]*step)
	grouped bool
	payload mail
	mu      sync.Mutex
	queue   []*step
	led     bool
}

type step struct {
	query string
	args  []any
	ready chan bool // true: it leads
}

const (
	floorTable  = "CREATE TABLE t(id TEXT PRIMARY KEY, version INTEGER, body BLOB)"
	floorInsert = "INSERT INTO t VALUES(?, 1, ?)"
	floorUpdate = "UPDATE t SET version = 2, body = ? WHERE id = ? AND version = 1"
)

// openFloor calls the driver as the store does: barer than what a program usually does.
func openFloor(tb testing.TB, grouped bool) *floor {
	tb.Helper()
	ctx := context.Background()
	c, err := dial(dsn(filepath.Join(dir(tb), "floor.db"), settings...))
	require.NoError(tb, err)
	_, _, err = c.exec(ctx, floorTable)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = c.close() })
	must := func(_, _ int64, err error) {
		if err != nil {
			panic(err)
		}
	}
	return newFloor(tb, grouped, func(batch []*step) {
		must(c.exec(ctx, begin))
		for _, s := range batch {
			must(c.exec(ctx, s.query, s.args...))
		}
		must(c.exec(ctx, commit))
	})
}

// openSQLFloor goes through database/sql, with prepared statements on one connection: the way a program usually does it.
func openSQLFloor(tb testing.TB, grouped bool) *floor {
	tb.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir(tb), "floor.db"), settings...))
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	_, err = db.Exec(floorTable)
	require.NoError(tb, err)
	prepared := map[string]*sql.Stmt{}
	for _, query := range []string{floorInsert, floorUpdate} {
		prepared[query], err = db.Prepare(query) //nolint:sqlclosecheck // with the database
		require.NoError(tb, err)
	}
	must := func(_ sql.Result, err error) {
		if err != nil {
			panic(err)
		}
	}
	return newFloor(tb, grouped, func(batch []*step) {
		tx, err := db.Begin()
		must(nil, err)
		for _, s := range batch {
			must(tx.Stmt(prepared[s.query]).Exec(s.args...)) //nolint:sqlclosecheck // with the transaction
		}
		must(nil, tx.Commit())
	})
}

func newFloor(tb testing.TB, grouped bool, write func([]*step)) *floor {
	tb.Helper()
	f := &floor{grouped: grouped, write: write}
	require.NoError(tb, json.Unmarshal(payload, &f.payload))
	return f
}

func (f *floor) commit(query string, args ...any) {
	me := &step{query: query, args: args}
	f.mu.Lock()
	if f.led {
		me.ready = make(chan bool, 1)
		f.queue = append(f.queue, me)
		f.mu.Unlock()
		if !<-me.ready {
			return
		}
		f.mu.Lock()
	}
	f.led = true
	batch := []*step{me}
	if f.grouped {
		batch = append(batch, f.queue...)
		f.queue = nil
	}
	f.mu.Unlock()
	f.write(batch)
	f.mu.Lock()
	if f.led = len(f.queue) > 0; f.led {
		f.queue[0].ready <- true
		f.queue = f.queue[1:]
	}
	f.mu.Unlock()
	for _, s := range batch[1:] {
		s.ready <- false
	}
}

func (f *floor) cycle() {
	id := newID()
	f.commit(floorInsert, id, f.json())
	f.commit(floorUpdate, f.json(), id)
}

func (f *floor) json() []byte {
	data, err := json.Marshal(&f.payload)
	if err != nil {
		panic(err)
	}
	return data
}
