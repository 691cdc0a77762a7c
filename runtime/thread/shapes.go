package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/routegen/routegen/runtime"
)

// shapePrefix begins the ids of the threads that hold nothing but a table of shapes, one for every fingerprint in use. They are over from
// the start. A user's thread cannot have such an id: it holds a slash.
const shapePrefix = "shapes/"

// shapeTable knows what stored threads rely on. A waiting thread of an older program is judged by the same rules as a pull request.
type shapeTable struct {
	now   []runtime.StoredShape
	print string

	mu      sync.Mutex
	verdict map[string]error // by older fingerprint; nil: its threads can go on
}

func (s *shapeTable) fingerprint() string { return s.print }

// registerShapes stores the table of this program, unless the store has it.
func (e *Engine) registerShapes(ctx context.Context) error {
	e.shapes = &shapeTable{verdict: map[string]error{}}
	if len(e.cfg.Shapes) == 0 {
		return nil
	}
	e.shapes.now, e.shapes.print = e.cfg.Shapes, runtime.Fingerprint(e.cfg.Shapes)
	id := shapePrefix + e.shapes.print
	_, err := e.store.Load(ctx, id)
	if runtime.CodeOf(err) != runtime.CodeNotFound {
		return err
	}
	table, err := runtime.Encode(e.cfg.Shapes)
	if err != nil {
		return err
	}
	c := runtime.Start(id, "", e.shapes.print, &e.rules, e.clock.Now())
	c.Over(runtime.StatusDone, table, nil, "")
	c.Finish()
	if err := e.store.Commit(ctx, c); runtime.CodeOf(err) != runtime.CodeConflict { // two engines of one program may start at once
		return err
	}
	return nil
}

// compatible refuses a thread whose stored data this program cannot be trusted to read, with CodeIncompatible. The thread stays as it is.
func (e *Engine) compatible(t *runtime.Thread) error {
	s := e.shapes
	if s.print == "" || t.Fingerprint == "" || t.Fingerprint == s.print || t.Over != "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	verdict, known := s.verdict[t.Fingerprint]
	if !known {
		verdict = e.judge(t.Fingerprint)
		if runtime.CodeOf(verdict) == runtime.CodeUnavailable {
			return verdict
		}
		s.verdict[t.Fingerprint] = verdict
	}
	if verdict != nil {
		return refuse(runtime.CodeIncompatible, "thread "+t.ID, verdict)
	}
	return nil
}

func (e *Engine) judge(fingerprint string) error {
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
	breaks := runtime.CompareShapes(old, e.shapes.now)
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
	return fmt.Errorf("stored data does not fit the program: %s; run the older program, or make the change compatible", strings.Join(reasons, "; "))
}
