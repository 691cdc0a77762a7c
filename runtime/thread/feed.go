package thread

import "context"

// Feed is a [Store] that tells an engine of the commits of other processes, so that its followers
// need not poll the store each.
type Feed interface {
	// Listen calls heard with the id of each thread to which another process has committed entries,
	// soon after the commit, and with "" when it may be any thread or the store cannot be read: a
	// follower then reads it, and sees. What is heard late, a follower sees late. An id may come
	// more than once, and without a commit. heard does not block. Listen returns when ctx ends.
	Listen(ctx context.Context, heard func(thread string))
}

// followFeed lets the store wake the followers of this engine, if it can.
func (e *Engine) followFeed() {
	f, ok := e.store.(Feed)
	if !ok {
		return
	}
	e.fed.Store(true)
	e.loops.Go(func() { f.Listen(e.feedContext, e.commits.publish) })
}
