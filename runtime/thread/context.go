package thread

import (
	"context"
	"sync"
)

// Value returns the run, or its activation, in the context of its step and in those derived from
// it.
func (r *stepRun) Value(key any) any {
	switch key.(type) {
	case contextKey:
		return r
	case infoKey:
		return &r.activation
	default:
		return r.Context.Value(key)
	}
}

// effectContext is the context of an effect. It is not that of a step and ends with the effect. The
// cancellable context is made on demand.
type effectContext struct {
	context.Context //nolint:containedctx // of the step

	engine *Engine
	mu     sync.Mutex
	inner  context.Context //nolint:containedctx // nil until it is needed
	cancel context.CancelFunc
	over   bool
}

// contextFor returns the context to ask. It makes one of the effect's own if ends is set.
func (c *effectContext) contextFor(ends bool) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil && !c.over && !ends {
		return c.Context
	}
	if c.inner == nil {
		c.inner, c.cancel = context.WithCancel(c.Context)
	}
	if c.over {
		c.cancel()
	}
	return c.inner
}

func (c *effectContext) endEffect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over = true; c.cancel != nil {
		c.cancel()
	}
}

// Done implements [context.Context].
func (c *effectContext) Done() <-chan struct{} { return c.contextFor(true).Done() }

// Err implements [context.Context].
func (c *effectContext) Err() error { return c.contextFor(false).Err() }

// Value finds the engine, and no step.
func (c *effectContext) Value(key any) any {
	if _, ok := key.(contextKey); ok {
		return c.engine
	}
	return c.contextFor(false).Value(key)
}
