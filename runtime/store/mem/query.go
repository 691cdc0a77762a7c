package mem

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Load implements [thread.Store].
func (s *Store) Load(ctx context.Context, id string) (*thread.Thread, error) {
	const op = "load thread"
	var record *thread.Thread
	err := s.locked(ctx, op, s.mu.RLocker(), func() error {
		if record = s.getOrMake(id).record; record.Version == 0 {
			return runtime.Errorf(runtime.CodeNotFound, op, "there is no thread %.60q", id)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var gives copier
	out := gives.copyThread(record)
	out.Open = gives.copyInterrupts(record.Open)
	return out, nil
}

// Interrupts implements [thread.Store].
func (s *Store) Interrupts(ctx context.Context, q thread.InterruptQuery) ([]*thread.Interrupt,
	error) {
	var found []*thread.Interrupt
	err := s.locked(ctx, "query interrupts", s.mu.RLocker(), func() error {
		from, all, most := sortKey{n: math.MinInt}, &s.asked, cmp.Or(q.Limit, thread.DefaultLimit)
		t, at := s.getOrMake(q.Thread), inboxKey
		if q.ByAge {
			all, at = &s.aged, s.ageKey
		}
		if q.After != nil {
			from = at(&thread.Interrupt{ID: q.After.ID, Priority: q.After.Priority,
				Created: q.After.Created})
		}
		if len(q.States) == 0 && q.ID == "" && q.Thread == "" {
			q.States = []thread.InterruptState{thread.InterruptOpen}
		}
		switch {
		case q.ID != "":
			all = new(pagedIndex)
			if i := s.interrupts[q.ID]; i != nil {
				all.insert(at(i))
			}
		case q.Thread != "":
			if all = &t.asked; q.ByAge {
				all = &t.aged
			}
		case !q.ByAge && len(q.States) == 1 && q.States[0] == thread.InterruptOpen:
			all = &s.inbox
			if q.Tenant != nil {
				all = cmp.Or(s.inboxes[*q.Tenant], new(pagedIndex))
			}
		}
		for id := range all.after(from) {
			if i := s.interrupts[id]; matchesQuery(&q, i) {
				found = append(found, i)
			}
			if len(found) == most {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return new(copier).copyInterrupts(found), nil
}

// ageKey returns the key of an interrupt by age. An unknown interrupt comes after all others.
func (s *Store) ageKey(i *thread.Interrupt) sortKey {
	if n, found := s.numbers[i.ID]; found {
		return sortKey{n: n, id: i.ID}
	}
	return sortKey{n: math.MaxInt}
}

func matchesQuery(q *thread.InterruptQuery, i *thread.Interrupt) bool {
	who := i.Answerers()
	return (q.Thread == "" || q.Thread == i.Thread) && isOf(q.Tenant, i.Thread) &&
		(len(q.States) == 0 || slices.Contains(q.States, i.State)) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, i.Kind)) &&
		(len(q.Nodes) == 0 || slices.Contains(q.Nodes, i.Node)) &&
		(len(q.Assignees) == 0 || len(who) == 0 ||
			slices.ContainsFunc(q.Assignees, func(one string) bool {
				return slices.Contains(who, one)
			})) &&
		(q.Before.IsZero() || i.Created.Before(q.Before))
}

// isOf reports whether a thread is one of a tenant; nil stands for all tenants.
func isOf(tenant *string, id string) bool {
	of, _ := thread.SplitID(id)
	return tenant == nil || *tenant == of
}

// Log implements [thread.Store].
func (s *Store) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	var found []*thread.Entry
	err := s.locked(ctx, "query log", s.mu.RLocker(), func() error {
		t := s.getOrMake(q.Thread)
		log := t.log
		switch {
		case q.Thread == "":
			log = s.log
		case q.Request != "":
			log = t.requests[q.Request]
		}
		from := sort.Search(len(log), func(n int) bool {
			return log[n].Cursor > q.After && (q.Thread == "" || log[n].Seq > q.AfterSeq)
		})
		most := cmp.Or(q.Limit, thread.DefaultLimit)
		for _, e := range log[from:] {
			if len(found) == most {
				break
			}
			if isOf(q.Tenant, e.Thread) {
				found = append(found, e)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var gives copier
	out := make([]thread.Entry, len(found))
	for n, e := range found {
		out[n] = *e
		gives.copyEntry(&out[n])
	}
	return out, nil
}

// Threads implements [thread.Store].
func (s *Store) Threads(ctx context.Context, q thread.Query) (rows []thread.Summary, err error) {
	from, all, most := sortKey{n: math.MinInt}, &s.ids, cmp.Or(q.Limit, thread.DefaultLimit)
	prefix := ""
	switch {
	case !q.WakeBefore.IsZero():
		all = &s.wake
	case q.Tenant != nil && *q.Tenant != "":
		prefix = *q.Tenant + "/" // its threads stand together
		from = sortKey{id: max(q.AfterID, prefix)}
	case q.AfterID != "":
		from = sortKey{id: q.AfterID}
	}
	err = s.locked(ctx, "query threads", s.mu.RLocker(), func() error {
		for id := range all.after(from) {
			t := s.threads[id].record
			row := thread.Summary{
				ID: id, Version: t.Version, Status: t.Status(), Owner: t.Lease.Owner,
				Wake: t.Wake(), Fingerprint: t.Fingerprint,
			}
			if len(rows) == most || !strings.HasPrefix(id, prefix) ||
				all == &s.wake && row.Wake.After(q.WakeBefore) {
				break
			}
			if isOf(q.Tenant, id) &&
				(len(q.Statuses) == 0 || slices.Contains(q.Statuses, row.Status)) &&
				(q.Owner == "" || q.Owner == row.Owner) {
				rows = append(rows, row)
			}
		}
		return nil
	})
	return rows, err
}

func inboxKey(i *thread.Interrupt) sortKey {
	return sortKey{n: i.Priority, at: i.Created, id: i.ID}
}
