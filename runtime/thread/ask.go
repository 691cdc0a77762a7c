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

// Ask asks a question and returns its answer as a T when the step runs again. Until then it returns
// [ErrWaiting], and the step ends: what the handler returns is discarded, and later calls of Do,
// Once and Ask in that run do nothing.
//
// name identifies the question within its step. Without a schema, an answer must decode into T; one
// that does not is rejected while the question is open. For a struct, the answer is an object with
// the names of its JSON tags and no others; a field is required unless it has omitempty or
// omitzero, or null is a value of its type. Types with an UnmarshalJSON, texts for an
// UnmarshalText, and the values in a generated record are not checked: give a schema for them. If T
// is an integer its bounds are checked even if a schema of type integer names none.
//
// An answer counts for the question that it was given to. If the step asks with other content, or
// another T, under the same name, the old answer is not used and the new question is asked.
//
// Ask returns the errors of [Question.Check], which are permanent, and CodeNoRoute for an answer
// that sends the work elsewhere (route_to): use [AskAll] where that is offered.
func Ask[T any](ctx context.Context, name string, q Question) (T, error) {
	var zero T
	q.Name = name
	if q.Schema == nil {
		q.Schema = schemaOf(reflect.TypeFor[T]())
	} else {
		q.Schema = addBounds(q.Schema, reflect.TypeFor[T]())
	}
	replies, err := AskAll(ctx, q)
	if err != nil {
		return zero, err
	}
	if target := replies[0].RouteTo; target != "" {
		return zero, Permanent(runtime.Errorf(runtime.CodeNoRoute, "ask "+name,
			"%s", "the answer sends the work to "+target+", which this step cannot do"))
	}
	v, err := decodeResult[T]("ask "+name, replies[0].Value)
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong { // 3.0 for an int, say
		if again, errAgain := decodeResult[T]("ask "+name,
			writeIntegers(replies[0].Value)); errAgain == nil {
			return again, nil
		}
	}
	return v, err
}

// AskAll asks several questions at once, each under its own Name. When all are answered the step
// runs again, and AskAll returns the answers in the order of the questions. It returns the errors
// of [Ask].
func AskAll(ctx context.Context, questions ...Question) ([]Reply, error) {
	const op = "ask"
	r, err := runOf(ctx, op)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	replies := make([]Reply, 0, len(questions))
	var missing []Question
	for _, q := range questions {
		key := "ask/" + q.Name
		if q.Name == "" {
			key = ""
		}
		reply := r.frame.Reply(q.Name)
		if reply == nil || reply.Digest != DigestOf(&q) {
			if err := q.Check(&r.driver.engine.rules, r.activation.User); err != nil {
				return nil, err
			}
			missing = append(missing, q)
		} else {
			replies = append(replies, *reply)
		}
		if err := r.enterQuestion(q.Name, key); err != nil {
			return nil, err
		}
	}
	if len(missing) > 0 {
		r.asked = missing
		if r.driver.pausing.Load() {
			r.suspend()
		}
		return nil, ErrWaiting
	}
	return replies, nil
}

// enterQuestion is enterSafePoint for a question. A requested pause does not hold a question back:
// the clash of the two is recorded.
func (r *stepRun) enterQuestion(name, key string) error {
	if key != "" && r.state == running && len(r.asked) == 0 && !r.used.holds(key) {
		r.used.hold(key)
		return nil
	}
	return r.enterSafePoint("ask "+name, key)
}

// schemaOf returns the schema of an answer for a Go type, or nil if any answer is valid.
func schemaOf(t reflect.Type) json.RawMessage {
	if t.PkgPath() == "" {
		if scalar := scalarSchema(t); scalar != nil {
			return scalar
		}
	}
	return compositeSchema(t)
}

// scalarSchema is the schema of a string, a bool or a number.
func scalarSchema(t reflect.Type) json.RawMessage {
	switch t.Kind() {
	case reflect.String:
		return stringSchema
	case reflect.Bool:
		return boolSchema
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		least := int64(-1) << (t.Bits() - 1)
		return fmt.Appendf(nil, `{"type":"integer","minimum":%d,"maximum":%d}`, least, -(least + 1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		return fmt.Appendf(nil, `{"type":"integer","minimum":0,"maximum":%d}`,
			^uint64(0)>>(64-t.Bits()))
	case reflect.Float32, reflect.Float64:
		return numberSchema
	default:
		return nil
	}
}

var (
	stringSchema = json.RawMessage(`{"type":"string"}`)
	boolSchema   = json.RawMessage(`{"type":"boolean"}`)
	numberSchema = json.RawMessage(`{"type":"number"}`)
)

// addBounds adds the bounds of t to a schema of integers that has none, so that no valid answer
// overflows t.
func addBounds(schema json.RawMessage, t reflect.Type) json.RawMessage {
	var says, bounds map[string]json.RawMessage
	if json.Unmarshal(schema, &says) != nil || string(says["type"]) != `"integer"` ||
		json.Unmarshal(schemaOf(t), &bounds) != nil {
		return schema
	}
	out := bytes.TrimSuffix(bytes.TrimSpace(schema), []byte("}"))
	out = slices.Clip(out)
	for _, bound := range []struct{ keyword, exclusive string }{{"minimum", "exclusiveMinimum"},
		{"maximum", "exclusiveMaximum"}} {
		if says[bound.keyword] == nil && says[bound.exclusive] == nil &&
			bounds[bound.keyword] != nil {
			out = fmt.Appendf(out, `,%q:%s`, bound.keyword, bounds[bound.keyword])
		}
	}
	return append(out, '}')
}

// writeIntegers writes the integers in a value as Go decodes them: for JSON Schema, 3.0 and 3e0 are
// integers too.
func writeIntegers(value json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return value
	}
	out, err := runtime.Encode(normalizeIntegers(v))
	if err != nil {
		return value
	}
	return out
}

func normalizeIntegers(v any) any {
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
			v[i] = normalizeIntegers(v[i])
		}
	case map[string]any:
		for key := range v { // each by itself
			v[key] = normalizeIntegers(v[key])
		}
	}
	return v
}
