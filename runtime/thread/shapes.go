package thread

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
)

// shapePrefix begins the ids of the threads that hold nothing but a table of shapes, one for every
// fingerprint in use. They are over from the start. No tenant may have this name, so none sees
// them.
const shapePrefix = "shapes/"

// shapeTable knows what threads that other versions of the program stored rely on.
type shapeTable struct {
	now         []runtime.StoredShape
	fingerprint string
	migrate     map[string]runtime.Migrate

	mu      sync.Mutex
	readers map[string]*compat.Reader // by older fingerprint
}

// registerShapes stores the table of this program, unless the store has it.
func (e *Engine) registerShapes(ctx context.Context) error {
	e.shapes = &shapeTable{readers: map[string]*compat.Reader{},
		migrate: map[string]runtime.Migrate{}}
	for _, m := range e.machines {
		if u, ok := m.(Upgrader); ok {
			maps.Copy(e.shapes.migrate, u.Migrations())
		}
	}
	if len(e.cfg.Shapes) == 0 {
		return nil
	}
	e.shapes.now, e.shapes.fingerprint = e.cfg.Shapes, compat.Fingerprint(e.cfg.Shapes)
	id := shapePrefix + e.shapes.fingerprint
	_, err := e.store.Load(ctx, id)
	if runtime.CodeOf(err) != runtime.CodeNotFound {
		return err
	}
	table, err := runtime.Encode(e.cfg.Shapes)
	if err != nil {
		return err
	}
	c := Start(id, "", e.shapes.fingerprint, &e.rules, e.clock.Now())
	c.Over(StatusDone, table, nil, "")
	c.Finish()
	// two engines of one program may start at once
	if err := e.store.Commit(ctx, c); runtime.CodeOf(err) != runtime.CodeConflict {
		return err
	}
	return nil
}

// upgrade returns the entry that brings a thread of another version of the program to the shapes of
// this one, or nil if there is nothing to do. It returns CodeIncompatible, with each value that
// this program cannot read, for a thread that holds one.
func (e *Engine) upgrade(t *Thread) (*Entry, error) {
	s := e.shapes
	if s.fingerprint == "" || t.Fingerprint == "" || t.Fingerprint == s.fingerprint ||
		t.Over != "" {
		return nil, nil //nolint:nilnil // nothing to do
	}
	r, err := e.readerOf(t.Fingerprint)
	if err != nil {
		return nil, err
	}
	return UpgradeThread(t, r, s.fingerprint, func(machine string) func(*compat.Reading, *Frame) {
		if u, ok := e.machines[machine].(Upgrader); ok {
			return u.UpgradeFrame
		}
		return nil
	})
}

// readerOf returns what reads threads of a fingerprint.
func (e *Engine) readerOf(fingerprint string) (*compat.Reader, error) {
	s := e.shapes
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.readers[fingerprint]; r != nil {
		return r, nil
	}
	old, err := StoredShapesOf(e.ctx, e.root.store, fingerprint)
	if err != nil {
		return nil, err
	}
	r := compat.NewReader(old, s.now, s.migrate)
	s.readers[fingerprint] = r
	return r, nil
}

// StoredShapesOf returns the shapes that a store keeps for a [Thread.Fingerprint]; nil if it has
// none, or what it has is no table.
func StoredShapesOf(ctx context.Context, store Store, fingerprint string) (
	[]runtime.StoredShape, error) {
	t, err := store.Load(ctx, shapePrefix+fingerprint)
	if runtime.CodeOf(err) == runtime.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var old []runtime.StoredShape
	_ = json.Unmarshal(t.Result, &old) // what a thread holds decides, not what it was written under
	return old, nil
}

// Upgrader is a machine of a spec that knows where its frames hold values of the spec's types.
type Upgrader interface {
	// Migrations returns the migrations of the program by type name, nil for none.
	Migrations() map[string]runtime.Migrate
	// UpgradeFrame reads everything of a frame that the machine will still read, and puts it into
	// the frame as this program has it. What it cannot read it refuses; the pointers are below that
	// of the frame. The values of the frame are shared and must not be written to. It must only
	// compute, and may be called by several goroutines.
	UpgradeFrame(r *compat.Reading, f *Frame)
}

// upgraded is the value of an upgraded entry: what is not as it was, by frame.
type upgraded map[string]upgradedFrame

type upgradedFrame struct {
	Name     string                     `json:"name,omitempty"`
	Input    json.RawMessage            `json:"input,omitempty"`
	Locals   json.RawMessage            `json:"locals,omitempty"`
	Children map[string]json.RawMessage `json:"children,omitempty"` // values, by frame
}

// UpgradeThread decides whether a program can go on with a thread that another version of it
// stored, by what the thread holds: it returns the entry that brings it to the shapes of the
// fingerprint, or CodeIncompatible, with a [runtime.InvalidError] that names each value that r
// does not read by its place in the record. upgraderOf returns the UpgradeFrame of a machine;
// frames of a machine for which it returns nil are none of the spec's and always go on.
func UpgradeThread(t *Thread, r *compat.Reader, fingerprint string,
	upgraderOf func(machine string) func(*compat.Reading, *Frame)) (*Entry, error) {
	reading, changes := r.Begin(), upgraded{}
	for n := range t.Frames {
		was := &t.Frames[n]
		upgrade := upgraderOf(was.Machine)
		if upgrade == nil {
			continue
		}
		now := *was
		now.Children = slices.Clone(was.Children)
		reading.Within(func() { upgrade(reading, &now) }, "frames", strconv.Itoa(n))
		if change, differs := changeOfFrame(was, &now); differs {
			changes[was.ID] = change
		}
	}
	kinds := r.Now(runtime.ShapeEnum, runtime.ShapeKind)
	for n, i := range t.Open {
		f := t.Frame(i.Frame)
		if kinds == nil || f == nil || upgraderOf(f.Machine) == nil ||
			compat.Member(kinds, i.Kind) == i.Kind {
			continue
		}
		reading.Within(func() {
			reading.Refusef("", "it is %q, which is no kind of interrupt any more", i.Kind)
		}, "open", strconv.Itoa(n), "kind")
	}
	if err := reading.Err(); err != nil {
		return nil, runtime.Errorf(runtime.CodeIncompatible, "thread "+t.ID,
			"it holds what the program cannot read: %w; go on with it in the program that stored "+
				"it, or give this one a default_old or a migration", err)
	}
	out := &Entry{Type: EntryUpgraded, Name: fingerprint, Other: t.Fingerprint}
	if len(changes) > 0 {
		var err error
		if out.Value, err = runtime.Encode(changes); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changeOfFrame returns what an upgrade has changed.
func changeOfFrame(was, now *Frame) (out upgradedFrame, differs bool) {
	if now.Name != was.Name {
		out.Name, differs = now.Name, true
	}
	if !bytes.Equal(now.Input, was.Input) {
		out.Input, differs = now.Input, true
	}
	if !bytes.Equal(now.Locals, was.Locals) {
		out.Locals, differs = now.Locals, true
	}
	for n := range now.Children {
		if c := &now.Children[n]; !bytes.Equal(c.Value, was.Children[n].Value) {
			if out.Children == nil {
				out.Children = map[string]json.RawMessage{}
			}
			out.Children[c.Frame], differs = c.Value, true
		}
	}
	return out, differs
}

// applyUpgrade brings the record to other shapes.
func (t *Thread) applyUpgrade(e *Entry) {
	if t.FirstFingerprint == "" {
		t.FirstFingerprint = t.Fingerprint
	}
	t.Fingerprint = e.Name
	var changes upgraded
	if json.Unmarshal(e.Value, &changes) != nil { // there are none
		return
	}
	for id, change := range changes {
		f := t.Frame(id)
		if f == nil {
			continue
		}
		f.Name = cmp.Or(change.Name, f.Name)
		if change.Input != nil {
			f.Input = change.Input
		}
		if change.Locals != nil {
			f.Locals = change.Locals
		}
		for n := range f.Children {
			if v := change.Children[f.Children[n].Frame]; v != nil {
				f.Children[n].Value = v
			}
		}
	}
}
