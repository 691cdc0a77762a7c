package thread

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Ask stops the step for an answer and returns it as a T when the step runs again. Until then it returns [ErrWaiting], and the step ends:
// what the handler returns is discarded, and every later Do, Once and Ask of that run does nothing.
//
// name finds the answer again: it is unique in its step. Without a schema, an answer is held to T, so
// that one which cannot be read into it is refused while the question is open. Of a struct the answer is
// an object with the names of its json tags and no others; a field must be there unless it has omitempty
// or omitzero, or null is a value of its type. Nothing is said of a type with an UnmarshalJSON, of what
// a type's UnmarshalText takes, and of the values in a generated record: give its own schema. An answer
// for a T that is an integer is held to its bounds also where a schema of type integer names none. The
// answer counts for this very question only: when the step comes back with other content, or another T,
// under the same name, the old answer is not used, and the new question is asked.
//
// It refuses, permanently, what [runtime.Question.Check] does; and with CodeNoRoute an answer that sends the work elsewhere (route_to): use
// [AskAll] where that is offered.
func Ask[T any](ctx context.Context, name string, q runtime.Question) (T, error) {
	var zero T
	q.Name = name
	if q.Schema == nil {
		q.Schema = schemaOf(reflect.TypeFor[T]())
	} else {
		q.Schema = bounded(q.Schema, reflect.TypeFor[T]())
	}
	replies, err := AskAll(ctx, q)
	if err != nil {
		return zero, err
	}
	if target := replies[0].RouteTo; target != "" {
		return zero, runtime.Permanent(refuse(runtime.CodeNoRoute, "ask "+name, errors.New("the answer sends the work to "+target+", which this step cannot do")))
	}
	v, err := decoded[T]("ask "+name, replies[0].Value)
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong { // 3.0 for an int, say
		if again, errAgain := decoded[T]("ask "+name, digits(replies[0].Value)); errAgain == nil {
			return again, nil
		}
	}
	return v, err
}

// AskAll asks several questions at once, each under its own Name, and returns their answers in that order when all are there. The step runs
// again only then. It refuses as [Ask] does.
func AskAll(ctx context.Context, questions ...runtime.Question) ([]runtime.Reply, error) {
	const op = "ask"
	r, err := runOf(ctx, op)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	replies := make([]runtime.Reply, 0, len(questions))
	var missing []runtime.Question
	for _, q := range questions {
		key := "ask/" + q.Name
		if q.Name == "" {
			key = ""
		}
		reply := r.frame.Reply(q.Name)
		if reply == nil || reply.Digest != runtime.DigestOf(&q) {
			if err := q.Check(&r.driver.engine.rules, r.user); err != nil {
				return nil, err
			}
			missing = append(missing, q)
		} else {
			replies = append(replies, *reply)
		}
		if err := r.asks(op+" "+q.Name, key); err != nil {
			return nil, err
		}
	}
	if len(missing) > 0 {
		r.asked = missing
		r.paused = r.paused || r.driver.pausing.Load()
		return nil, ErrWaiting
	}
	return replies, nil
}

// asks is enter for a question: a pause that was requested does not keep a question back, since the clash of the two is recorded.
func (r *run) asks(op, key string) error {
	if key != "" && !r.over && !r.shut && !r.paused && len(r.asked) == 0 && !r.used[key] {
		if r.used == nil {
			r.used = map[string]bool{}
		}
		r.used[key] = true
		return nil
	}
	return r.enter(op, key)
}

// schemaOf is the schema of an answer for a Go type; nil means that every answer is as good as another.
func schemaOf(t reflect.Type) json.RawMessage {
	if t.PkgPath() == "" {
		if scalar := scalarSchema(t); scalar != nil {
			return scalar
		}
	}
	return composed(t)
}

// scalarSchema is the schema of a string, a bool or a number.
func scalarSchema(t reflect.Type) json.RawMessage {
	switch t.Kind() {
	case reflect.String:
		return json.RawMessage(`{"type":"string"}`)
	case reflect.Bool:
		return json.RawMessage(`{"type":"boolean"}`)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		least := int64(-1) << (t.Bits() - 1)
		return fmt.Appendf(nil, `{"type":"integer","minimum":%d,"maximum":%d}`, least, -(least + 1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Appendf(nil, `{"type":"integer","minimum":0,"maximum":%d}`, ^uint64(0)>>(64-t.Bits()))
	case reflect.Float32, reflect.Float64:
		return json.RawMessage(`{"type":"number"}`)
	default:
		return nil
	}
}

// bounded adds to a schema of integers the bounds of the type that takes them, where it has none of its own: nothing may be an answer that the step
// cannot read.
func bounded(schema json.RawMessage, t reflect.Type) json.RawMessage {
	var says, bounds map[string]json.RawMessage
	if json.Unmarshal(schema, &says) != nil || string(says["type"]) != `"integer"` || json.Unmarshal(schemaOf(t), &bounds) != nil {
		return schema
	}
	out := bytes.TrimSuffix(bytes.TrimSpace(schema), []byte("}"))
	out = slices.Clip(out)
	for _, bound := range []struct{ keyword, exclusive string }{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		if says[bound.keyword] == nil && says[bound.exclusive] == nil && bounds[bound.keyword] != nil {
			out = fmt.Appendf(out, `,%q:%s`, bound.keyword, bounds[bound.keyword])
		}
	}
	return append(out, '}')
}

// digits writes the integers in a value as Go reads them: for JSON Schema 3.0 and 3e0 are integers too.
func digits(value json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return value
	}
	out, err := runtime.Encode(inDigits(v))
	if err != nil {
		return value
	}
	return out
}

func inDigits(v any) any {
	const most = 400 // digits; what a number may be is bounded before it is stored
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil || math.Abs(f) > 1e20 || len(v) > most {
			return v
		}
		if n, ok := new(big.Rat).SetString(v.String()); ok && n.IsInt() {
			return json.Number(n.Num().String())
		}
	case []any:
		for i := range v {
			v[i] = inDigits(v[i])
		}
	case map[string]any:
		for key := range v { // each by itself
			v[key] = inDigits(v[key])
		}
	}
	return v
}
