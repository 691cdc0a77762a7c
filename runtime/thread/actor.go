package thread

import (
	"context"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

type actorKey struct{}

// actor is who makes a call: for themselves, with their groups, or in the name of others.
type actor struct {
	name string
	by   []string

	member string
	groups []string
}

// ActFor returns a context for calls that name makes in the name of the people in by: what such a
// call adds to a history with one of them as [Entry.By] has name as Via. Whoever may act for them
// is trusted to know their groups: they count as members of all.
func ActFor(ctx context.Context, name string, by ...string) context.Context {
	who, _ := ctx.Value(actorKey{}).(actor)
	who.name, who.by = name, by
	return context.WithValue(ctx, actorKey{}, who)
}

// InGroups returns a context for calls of a person who is in these groups: what a group may answer,
// claim or extend, see [Interrupt.Answerers], such a call by that person may. The caller vouches
// for it. Nothing of it is stored: an answer that is kept for a later question of a group is not
// taken when that is asked.
func InGroups(ctx context.Context, person string, groups ...string) context.Context {
	who, _ := ctx.Value(actorKey{}).(actor)
	who.member, who.groups = person, groups
	return context.WithValue(ctx, actorKey{}, who)
}

// is reports whether by is who may answer: that person, or one of that group. A person whose name
// is written like a group is no group.
func (a actor) is(by, who string) bool {
	group, isGroup := strings.CutPrefix(who, runtime.GroupPrefix)
	if !isGroup {
		return by == who
	}
	return slices.Contains(a.by, by) || a.member == by && slices.Contains(a.groups, group)
}

// sign puts who makes the call into entries that name the people they act for.
func (a actor) sign(entries []Entry) {
	for n := range entries {
		if slices.Contains(a.by, entries[n].By) {
			entries[n].Via = a.name
		}
	}
}

// signedBy makes a command decide for who made the call, and what it adds say who that was, where
// that is not who it names.
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
		c.caller = who
		err := decide(c)
		c.caller = actor{} // the change goes on with other calls
		who.sign(c.Entries[min(before, len(c.Entries)):])
		return err
	}
}
