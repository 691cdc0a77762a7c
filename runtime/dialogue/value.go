package dialogue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/guard"
	"github.com/routegen/routegen/runtime/thread"
)

// decodeForm decodes a value of a slot strictly and returns it as the slot stores it.
func (s *slot) decodeForm(raw json.RawMessage) (json.RawMessage, error) {
	switch s.Type.Kind {
	case runtime.SlotString, runtime.SlotEnum:
		return decodeAs[string](s, raw)
	case runtime.SlotInt:
		return decodeAs[int64](s, raw)
	case runtime.SlotFloat:
		return decodeAs[float64](s, raw)
	case runtime.SlotBool:
		return decodeAs[bool](s, raw)
	case runtime.SlotTime:
		return decodeAs[time.Time](s, raw)
	case runtime.SlotDuration:
		return decodeAs[runtime.Duration](s, raw)
	default:
		return decodeAs[json.RawMessage](s, raw)
	}
}

func decodeAs[T any](s *slot, raw json.RawMessage) (json.RawMessage, error) {
	var one T
	var many []T
	var v any = &one
	if s.Type.List {
		v = &many
	}
	if err := runtime.DecodeValue(raw, v, s.itemShape(), s.Rule); err != nil {
		return nil, err
	}
	return runtime.Encode(v)
}

// itemShape returns the shape of the value, or of each item of a list; nil for a plain type.
func (s *slot) itemShape() *runtime.Shape {
	switch {
	case s.Type.Kind == runtime.SlotEnum:
		of := &runtime.Shape{Kind: runtime.ShapeEnum}
		for _, v := range s.Values {
			of.Fields = append(of.Fields, runtime.Field{Name: v})
		}
		return of
	case s.Of != nil:
		return &runtime.Shape{Kind: runtime.ShapeScalar, Fields: []runtime.Field{{Rule: s.Of}}}
	}
	return nil
}

// normalize returns a value in the form that the slot stores, or why it is invalid.
func (s *slot) normalize(raw json.RawMessage) (json.RawMessage, string) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, "there is no value"
	}
	if s.isStoredForm(raw) {
		return raw, ""
	}
	out, err := s.decodeForm(raw)
	if err != nil {
		return nil, errorText(err)
	}
	return out, ""
}

// isStoredForm reports, for simple types, whether a value is valid in the form that the slot
// stores. It is a shortcut for most computed values.
func (s *slot) isStoredForm(raw json.RawMessage) bool {
	if s.Type.List || s.Rule != nil || s.Of != nil {
		return false
	}
	text := string(raw)
	switch s.Type.Kind { //nolint:exhaustive // the decoder tells of the others
	case runtime.SlotBool:
		return text == "true" || text == "false"
	case runtime.SlotInt:
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == text
	case runtime.SlotString:
		inside, opened := strings.CutPrefix(text, `"`)
		inside, closed := strings.CutSuffix(inside, `"`)
		return opened && closed && !strings.ContainsFunc(inside, func(r rune) bool {
			return r < ' ' || r > '~' || r == '"' || r == '\\'
		})
	}
	return false
}

// errorText is what a person reads of a value that the decoder refuses.
func errorText(err error) string {
	wrong, ok := errors.AsType[*runtime.InvalidError](err)
	if !ok || len(wrong.Problems) == 0 {
		return "it cannot be read"
	}
	text := wrong.Problems[0].Reason
	for _, verb := range []string{"is ", "has ", "does "} {
		if strings.HasPrefix(text, verb) {
			return "it " + text
		}
	}
	return text
}

// parse returns a value that a user gave in the form that the slot stores, or why it is invalid. A
// text is read as the value that it names.
func (s *slot) parse(raw json.RawMessage, language string) (json.RawMessage, string) {
	var text string
	if s.Type.Kind == runtime.SlotJSON || json.Unmarshal(raw, &text) != nil {
		return s.normalize(raw)
	}
	if !s.Type.List {
		value, wrong := s.parseText(text, language)
		if wrong != "" {
			return nil, wrong
		}
		return s.normalize(value)
	}
	var items []json.RawMessage
	for item := range strings.SplitSeq(text, ",") {
		value, wrong := s.parseText(item, language)
		if wrong != "" {
			return nil, wrong
		}
		items = append(items, value)
	}
	list, _ := runtime.Encode(items) // cannot fail: each is JSON
	return s.normalize(list)
}

// parseText reads the text of one value.
func (s *slot) parseText(said, language string) (json.RawMessage, string) {
	if said = strings.TrimSpace(said); said == "" {
		return nil, "there is no value"
	}
	switch s.Type.Kind { //nolint:exhaustive // the others are texts
	case runtime.SlotInt, runtime.SlotFloat:
		if _, err := strconv.ParseFloat(said, 64); err != nil || !json.Valid([]byte(said)) {
			return nil, fmt.Sprintf("%q is not a number", said)
		}
		return json.RawMessage(said), ""
	case runtime.SlotBool:
		yes, known := thread.YesNo(said, language)
		if !known {
			return nil, fmt.Sprintf("%q is neither a clear yes nor a clear no", said)
		}
		return json.RawMessage(strconv.FormatBool(yes)), ""
	case runtime.SlotTime:
		if day, err := time.Parse(time.DateOnly, said); err == nil {
			said = day.Format(time.RFC3339)
		}
	case runtime.SlotEnum:
		for _, v := range s.Values {
			if strings.EqualFold(v, said) || strings.EqualFold(spacedName(v), said) {
				said = v
				break
			}
		}
	}
	value, _ := runtime.Encode(said) // cannot fail: a string
	return value, ""
}

// validation is the result of a validator.
type validation struct {
	Value  json.RawMessage `json:"value,omitempty"`
	Reason string          `json:"reason,omitempty"` // why it is refused
}

// newValidator returns a function that calls validators as effects, so that a repeated step gets
// the same results.
func (m *Machine) newValidator(ctx context.Context) func(validator int, v json.RawMessage) (
	validation,
	error) {
	calls := 0
	return func(validator int, v json.RawMessage) (validation, error) {
		calls++
		return thread.Do(ctx, "validate/"+strconv.Itoa(calls),
			func(ctx context.Context, _ string) (validation, error) {
				out, err := guard.RunLimited(ctx, "dialogue", m.cfg.Timeout,
					func(ctx context.Context) (json.RawMessage, error) {
						return m.dialogue.Validate(ctx, validator, v)
					})
				switch code := runtime.CodeOf(err); {
				case err == nil:
					return validation{Value: out}, nil
				case ctx.Err() != nil || code == runtime.CodeNotFound:
					// the step ends, or the tables are wrong
					return validation{}, err
				case errors.Is(err, guard.ErrLate), errors.Is(err, guard.ErrPanic):
					return validation{Reason: "it cannot be checked now"}, nil
				default:
					return validation{Reason: innermostText(err)}, nil
				}
			})
	}
}

// checkValue checks a value against the slot and the validator of its collect step.
func (w *work) checkValue(s *slot, raw json.RawMessage, st *step) (json.RawMessage, string) {
	v, wrong := s.parse(raw, w.language)
	if wrong != "" || st == nil || st.Check == 0 {
		return v, wrong
	}
	out, err := w.check(st.Check, v)
	switch {
	case err != nil:
		w.err = err
		return nil, "it cannot be checked now"
	case out.Reason != "":
		return nil, out.Reason
	}
	return s.normalize(out.Value) // its normal form must fit too
}

// innermostText returns the text of the innermost error.
func innermostText(err error) string {
	if e, ok := errors.AsType[*runtime.Error](err); ok && e.Err != nil {
		return innermostText(e.Err)
	}
	return err.Error()
}
