package threadtest

import (
	"context"
	"sync/atomic"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// CutStore is a store that can be cut off from the engine that has it open, as by the death of a
// process: from then on it refuses every call.
type CutStore struct {
	thread.Store // it must be a thread.Presence too

	Cut atomic.Bool
}

// ErrCut is what a store returns that is cut off. Its code is unavailable.
var ErrCut = runtime.Errorf(runtime.CodeUnavailable, "store", "it is cut off")

// Announce implements [thread.Presence].
func (c *CutStore) Announce(ctx context.Context) (id string, leave func(), err error) {
	return c.presence().Announce(ctx)
}

// Ended implements [thread.Presence].
func (c *CutStore) Ended(id string) bool { return c.presence().Ended(id) }

func (c *CutStore) presence() thread.Presence {
	p, _ := c.Store.(thread.Presence)
	return p
}

// Commit implements [thread.Store].
func (c *CutStore) Commit(ctx context.Context, changes ...*thread.Change) error {
	if c.Cut.Load() {
		return ErrCut
	}
	return c.Store.Commit(ctx, changes...)
}

// Load implements [thread.Store].
func (c *CutStore) Load(ctx context.Context, id string) (*thread.Thread, error) {
	if c.Cut.Load() {
		return nil, ErrCut
	}
	return c.Store.Load(ctx, id)
}

// Log implements [thread.Store].
func (c *CutStore) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	if c.Cut.Load() {
		return nil, ErrCut
	}
	return c.Store.Log(ctx, q)
}

// Threads implements [thread.Store].
func (c *CutStore) Threads(ctx context.Context, q thread.Query) ([]thread.Summary, error) {
	if c.Cut.Load() {
		return nil, ErrCut
	}
	return c.Store.Threads(ctx, q)
}
