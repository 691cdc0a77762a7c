package thread

import (
	"context"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// SplitID returns the tenant and the name of a thread by the id that stores have for it:
// TENANT/NAME, or NAME alone for tenant "". Neither part holds a slash.
func SplitID(id string) (tenant, name string) {
	if tenant, name, found := strings.Cut(id, "/"); found {
		return tenant, name
	}
	return "", id
}

// Tenant returns the engine as one tenant sees it. Its threads, their interrupts, entries and
// requests are those of that tenant: an id of another one's is unknown, and the ids that it takes
// and returns are without the tenant, so two tenants may use the same ones. It drives nothing by
// itself: [Engine.Close], [Engine.Recover] and [Engine.RunDue] concern all tenants, whichever
// engine they are called on. [Open] returns the engine of tenant "".
//
// What runs for all tenants has the ids of the store, see [SplitID]: machines in
// [Activation.Thread], observers, log lines, and the record in a [Change]. The engine of a tenant
// takes such an id, too, if it is its own; [EngineOf] returns the engine of the tenant whose step
// runs.
//
// The name has at most 100 bytes and neither slashes nor control characters, and it is not
// "shapes", where the engine keeps tables of its own; any other is refused with CodeInvalid. A
// tenant need not be made: it has threads from its first one on.
func (e *Engine) Tenant(name string) (*Engine, error) {
	const most = 100
	reason := ""
	switch {
	case name == "":
		return e.plain, nil
	case name+"/" == shapePrefix:
		reason = "is where the engine keeps tables of its own"
	case len(name) > most:
		reason = "has more than 100 bytes"
	case checkID(name) != nil:
		reason = "holds a slash or a control character, or is not UTF-8"
	}
	if reason != "" {
		return nil, runtime.Errorf(runtime.CodeInvalid, "tenant",
			"the name %.60q %s: use letters, digits and signs", name, reason)
	}
	return e.view(name), nil
}

// view returns the engine of a tenant whose name is valid.
func (e *Engine) view(tenant string) *Engine {
	s := tenantStore{Store: e.root.store, tenant: tenant}
	return &Engine{engineCore: e.engineCore, store: s, tenant: &s.tenant}
}

// engineOf returns the engine of the tenant of a thread.
func (e *Engine) engineOf(id string) *Engine {
	tenant, _ := SplitID(id)
	if tenant == "" {
		return e.plain
	}
	return e.view(tenant)
}

// key returns the id that the store has for a thread. The engine of all tenants has no other ids.
func (e *Engine) key(id string) string {
	if e.tenant == nil {
		return id
	}
	return keyOf(*e.tenant, id)
}

// keyOf returns the id that stores have for a thread of a tenant. For an id that no thread of the
// tenant can have it returns one that no thread at all has: with two slashes.
func keyOf(tenant, id string) string {
	of, _ := SplitID(id)
	switch {
	case id == "" || strings.Contains(id, "/") && of == tenant && tenant != "":
		return id
	case strings.Contains(id, "/"):
		return "//" + id
	case tenant == "":
		return id
	}
	return tenant + "/" + id
}

// localThread returns a thread of the store as its tenant sees it. A record is never changed: that
// of tenant "" is returned itself, and others are copied where ids stand.
func (e *Engine) localThread(t *Thread) *Thread {
	if e.tenant == nil || t == nil {
		return t
	}
	return localThread(*e.tenant, t)
}

func localThread(tenant string, t *Thread) *Thread {
	if tenant == "" || t == nil {
		return t
	}
	out := *t
	_, out.ID = SplitID(t.ID)
	out.Open = localInterrupts(tenant, t.Open)
	return &out
}

// localInterrupt is localThread for an interrupt.
func (e *Engine) localInterrupt(i *Interrupt) *Interrupt {
	if e.tenant == nil {
		return i
	}
	return localInterrupt(*e.tenant, i)
}

func localInterrupt(tenant string, i *Interrupt) *Interrupt {
	if tenant == "" || i == nil {
		return i
	}
	out := *i
	_, out.Thread = SplitID(i.Thread)
	return &out
}

func localInterrupts(tenant string, all []*Interrupt) []*Interrupt {
	if tenant == "" || all == nil {
		return all
	}
	out := make([]*Interrupt, len(all))
	for n, i := range all {
		out[n] = localInterrupt(tenant, i)
	}
	return out
}

// tenantStore is a store as one tenant sees it. All that the engine of a tenant reads comes from
// here, so no query can forget whose it is.
type tenantStore struct {
	Store

	tenant string
}

// Load returns a thread of the tenant.
func (s tenantStore) Load(ctx context.Context, thread string) (*Thread, error) {
	t, err := s.Store.Load(ctx, keyOf(s.tenant, thread))
	return localThread(s.tenant, t), err
}

// Interrupts returns interrupts of the tenant's threads.
func (s tenantStore) Interrupts(ctx context.Context, q InterruptQuery) ([]*Interrupt, error) {
	q.Tenant, q.Thread = &s.tenant, keyOf(s.tenant, q.Thread)
	found, err := s.Store.Interrupts(ctx, q)
	return localInterrupts(s.tenant, found), err
}

// Log returns entries of the tenant's threads.
func (s tenantStore) Log(ctx context.Context, q LogQuery) ([]Entry, error) {
	q.Tenant, q.Thread = &s.tenant, keyOf(s.tenant, q.Thread)
	found, err := s.Store.Log(ctx, q)
	if s.tenant != "" {
		for n := range found { // they belong to the caller of Store.Log
			_, found[n].Thread = SplitID(found[n].Thread)
		}
	}
	return found, err
}

// Threads returns threads of the tenant.
func (s tenantStore) Threads(ctx context.Context, q Query) ([]Summary, error) {
	q.Tenant, q.AfterID = &s.tenant, keyOf(s.tenant, q.AfterID)
	found, err := s.Store.Threads(ctx, q)
	if s.tenant != "" {
		for n := range found {
			_, found[n].ID = SplitID(found[n].ID)
		}
	}
	return found, err
}
