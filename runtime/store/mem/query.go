package mem

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/routegen/routegen/runtime"
)

// Load implements [runtime.Store].
func (s *Store) Load(ctx context.Context, id string) (*runtime.Thread, error) {
	const op = "load thread"
	var record *runtime.Thread
	err := s.do(ctx, op, s.mu.RLocker(), func() error {
		if record = s.thread(id).record; record.Version == 0 {
			return refuse(runtime.CodeNotFound, op, fmt.Errorf("there is no thread %.60q", id))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var gives copier
	out := gives.thread(record)
	out.Open = gives.interrupts(record.Open)
	return out, nil
}

// Interrupts implements [runtime.Store].
func (s *Store) Interrupts(ctx context.Context, q runtime.InterruptQuery) ([]*runtime.Interrupt, error) {
	var found []*runtime.Interrupt
	err := s.do(ctx, "query interrupts", s.mu.RLocker(), func() error {
		from, all, most := place{n: math.MinInt}, &s.asked, cmp.Or(q.Limit, runtime.DefaultLimit)
		t, at := s.thread(q.Thread), placeOf
		if q.ByAge {
			all, at = &s.aged, s.ageOf
		}
		if q.After != nil {
			from = at(&runtime.Interrupt{ID: q.After.ID, Priority: q.After.Priority, Created: q.After.Created})
		}
		if len(q.States) == 0 && q.ID == "" && q.Thread == "" {
			q.States = []runtime.InterruptState{runtime.InterruptOpen}
		}
		switch {
		case q.ID != "":
			all = new(order)
			if i := s.interrupts[q.ID]; i != nil {
				all.add(at(i))
			}
		case q.Thread != "":
			if all = &t.asked; q.ByAge {
				all = &t.aged
			}
		case !q.ByAge && len(q.States) == 1 && q.States[0] == runtime.InterruptOpen:
			all = &s.inbox
		}
		for id := range all.after(from) {
			if i := s.interrupts[id]; matches(&q, i) {
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
	return new(copier).interrupts(found), nil
}

// ageOf is the place of an interrupt by age; of one that is not there, behind all others.
func (s *Store) ageOf(i *runtime.Interrupt) place {
	if n, found := s.numbers[i.ID]; found {
		return place{n: n, id: i.ID}
	}
	return place{n: math.MaxInt}
}

func matches(q *runtime.InterruptQuery, i *runtime.Interrupt) bool {
	who := i.Answerers()
	return (q.Thread == "" || q.Thread == i.Thread) &&
		(len(q.States) == 0 || slices.Contains(q.States, i.State)) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, i.Kind)) &&
		(len(q.Nodes) == 0 || slices.Contains(q.Nodes, i.Node)) &&
		(q.Assignee == "" || len(who) == 0 || slices.Contains(who, q.Assignee)) &&
		(q.Before.IsZero() || i.Created.Before(q.Before))
}

// Log implements [runtime.Store].
func (s *Store) Log(ctx context.Context, q runtime.LogQuery) ([]runtime.Entry, error) {
	var found []*runtime.Entry
	err := s.do(ctx, "query log", s.mu.RLocker(), func() error {
		t := s.thread(q.Thread)
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
		log = log[from:]
		found = log[:min(uint(len(log)), uint(cmp.Or(q.Limit, runtime.DefaultLimit)))] // stays as it is: a log is only appended to
		return nil
	})
	if err != nil {
		return nil, err
	}
	var gives copier
	out := make([]runtime.Entry, len(found))
	for n, e := range found {
		out[n] = *e
		gives.entry(&out[n])
	}
	return out, nil
}

// Threads implements [runtime.Store].
func (s *Store) Threads(ctx context.Context, q runtime.ThreadQuery) (rows []runtime.ThreadRow, err error) {
	from, all, most := place{n: math.MinInt}, &s.ids, cmp.Or(q.Limit, runtime.DefaultLimit)
	switch {
	case !q.WakeBefore.IsZero():
		all = &s.wake
	case q.AfterID != "":
		from = place{id: q.AfterID}
	}
	err = s.do(ctx, "query threads", s.mu.RLocker(), func() error {
		for id := range all.after(from) {
			t := s.threads[id].record
			row := runtime.ThreadRow{
				ID: id, Version: t.Version, Status: t.Status(), Owner: t.Lease.Owner, Wake: t.Wake(), Fingerprint: t.Fingerprint,
			}
			if len(rows) == most || all == &s.wake && row.Wake.After(q.WakeBefore) {
				break
			}
			if (len(q.Statuses) == 0 || slices.Contains(q.Statuses, row.Status)) && (q.Owner == "" || q.Owner == row.Owner) {
				rows = append(rows, row)
			}
		}
		return nil
	})
	return rows, err
}

func placeOf(i *runtime.Interrupt) place { return place{n: i.Priority, at: i.Created, id: i.ID} }
