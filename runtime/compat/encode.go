package compat

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/routegen/routegen/runtime"
)

func newTime() *time.Time { return new(time.Time) }

// encode returns a value that consists of valid JSON as JSON.
func encode(v any) json.RawMessage {
	out, _ := runtime.Encode(v) // cannot fail: it was JSON before
	return out
}

// encodeInOrder returns members as an object, in the order of the fields of their shape.
func encodeInOrder(s *runtime.StoredShape, members map[string]json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for i := range s.Fields {
		v := members[s.Fields[i].Name]
		if v == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, encode(s.Fields[i].Name)...), ':'), v...)
	}
	return append(out, '}')
}

// problemsOf returns what a decoder found wrong.
func problemsOf(err error) []runtime.Problem {
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*runtime.InvalidError](err); ok {
		return wrong.Problems
	}
	return []runtime.Problem{{Reason: err.Error()}}
}
