package thread

import (
	"context"
	"slices"
)

type actorKey struct{}

// actor is who makes a call, in the name of others.
type actor struct {
	name string
	by   []string
}

// ActFor returns a context for calls that name makes in the name of the people in by: what such a
// call adds to a history with one of them as [Entry].By has name as Via.
func ActFor(ctx context.Context, name string, by ...string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor{name, by})
}

// sign puts who makes the call into entries that name the people they act for.
func (a actor) sign(entries []Entry) {
	for n := range entries {
		if slices.Contains(a.by, entries[n].By) {
			entries[n].Via = a.name
		}
	}
}

// signedBy makes what a command adds say who made the call, where that is not who it names.
func (x *command) signedBy(ctx context.Context) {
	who, acts := ctx.Value(actorKey{}).(actor)
	if !acts {
		return
	}
	if begin := x.newThread; begin != nil {
		x.newThread = func() *Change {
			c := begin()
			who.sign(c.Entries)
			return c
		}
	}
	decide := x.decide
	x.decide = func(c *Change) error {
		before := len(c.Entries)
		err := decide(c)
		who.sign(c.Entries[min(before, len(c.Entries)):])
		return err
	}
}
