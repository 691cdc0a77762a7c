package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
)

// shapePrefix begins the ids of the threads that hold nothing but a table of shapes, one for every
// fingerprint in use. They are over from the start. A user's thread cannot have such an id: it
// holds a slash.
const shapePrefix = "shapes/"

// shapeTable knows what stored threads rely on. A waiting thread of an older program is judged by
// the same rules as a pull request.
type shapeTable struct {
	now         []runtime.StoredShape
	fingerprint string

	mu      sync.Mutex
	verdict map[string]error // by older fingerprint; nil: its threads can go on
}

// registerShapes stores the table of this program, unless the store has it.
func (e *Engine) registerShapes(ctx context.Context) error {
	e.shapes = &shapeTable{verdict: map[string]error{}}
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

// compatible refuses a thread whose stored data this program cannot be trusted to read, with
// CodeIncompatible. The thread stays as it is.
func (e *Engine) compatible(t *Thread) error {
	s := e.shapes
	if s.fingerprint == "" || t.Fingerprint == "" || t.Fingerprint == s.fingerprint ||
		t.Over != "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	verdict, known := s.verdict[t.Fingerprint]
	if !known {
		verdict = e.compareShapes(t.Fingerprint)
		if runtime.CodeOf(verdict) == runtime.CodeUnavailable {
			return verdict
		}
		s.verdict[t.Fingerprint] = verdict
	}
	if verdict != nil {
		return runtime.Errorf(runtime.CodeIncompatible, "thread "+t.ID, "%w", verdict)
	}
	return nil
}

func (e *Engine) compareShapes(fingerprint string) error {
	t, err := e.store.Load(e.ctx, shapePrefix+fingerprint)
	if err != nil {
		if runtime.CodeOf(err) == runtime.CodeNotFound {
			return errors.New("it was written under a program whose shapes the store does not have")
		}
		return err
	}
	var old []runtime.StoredShape
	if err := json.Unmarshal(t.Result, &old); err != nil {
		return fmt.Errorf("the stored shapes are damaged: %w", err)
	}
	breaks := compat.Compare(old, e.shapes.now)
	if len(breaks) == 0 {
		return nil
	}
	var reasons []string
	for _, b := range breaks {
		name := b.Shape
		if b.Field != "" {
			name += "." + b.Field
		}
		reasons = append(reasons, name+" "+b.Reason)
	}
	const most = 5
	if len(reasons) > most {
		reasons = append(reasons[:most], fmt.Sprintf("and %d more", len(reasons)-most))
	}
	return fmt.Errorf("stored data does not fit the program: %s; run the older program, or make "+
		"the change compatible", strings.Join(reasons, "; "))
}
