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
	"github.com/routegen/routegen/runtime/internal/foreign"
	"github.com/routegen/routegen/runtime/thread"
)

func newSlot(s *runtime.FlowSlot, number int) slot {
	out := slot{FlowSlot: s, number: number}
	for _, v := range s.Values {
		out.values = append(out.values, runtime.EnumValue{Value: v})
	}
	out.shape = &runtime.Shape{Name: "slot", Fields: []runtime.Field{{Name: "v", Required: true, Rule: s.Rule}}}
	return out
}

// reading reads one value of a slot with the strict decoder that reads everything of the program.
type reading struct {
	*slot
	v any
}

// Shape implements runtime.Record.
func (r *reading) Shape() *runtime.Shape { return r.shape }

// DecodeField implements runtime.Record.
func (r *reading) DecodeField(d *runtime.Decoder, _ string) {
	switch r.Type.Kind {
	case runtime.SlotString:
		reads(r, d, runtime.DecodeString[string])
	case runtime.SlotInt:
		reads(r, d, runtime.DecodeInt[int64])
	case runtime.SlotFloat:
		reads(r, d, runtime.DecodeFloat[float64])
	case runtime.SlotBool:
		reads(r, d, runtime.DecodeBool[bool])
	case runtime.SlotTime:
		reads(r, d, runtime.DecodeTime)
	case runtime.SlotDuration:
		reads(r, d, runtime.DecodeDuration)
	case runtime.SlotEnum:
		reads(r, d, func(d *runtime.Decoder, v *string) { runtime.DecodeEnum(d, v, r.values) })
	case runtime.SlotJSON:
		reads(r, d, runtime.DecodeJSON)
	}
}

func reads[T any](r *reading, d *runtime.Decoder, plain func(*runtime.Decoder, *T)) {
	one := plain
	if r.Of != nil {
		one = func(d *runtime.Decoder, v *T) { runtime.DecodeRuled(d, v, r.Of, plain) }
	}
	if r.Type.List {
		var many []T
		runtime.DecodeList(d, &many, one)
		r.v = many
		return
	}
	var v T
	one(d, &v)
	r.v = v
}

// fit returns a value in the form in which the slot keeps it, or says why it is none of the slot's.
func (s *slot) fit(raw json.RawMessage) (json.RawMessage, string) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, "there is no value"
	}
	if s.asIs(raw) {
		return raw, ""
	}
	r := reading{slot: s}
	doc := append(append([]byte(`{"v":`), raw...), '}')
	if err := runtime.Unmarshal(doc, &r); err != nil {
		return nil, reason(err)
	}
	out, err := runtime.Encode(r.v)
	if err != nil {
		return nil, "it cannot be stored"
	}
	return out, ""
}

// asIs reports whether a value is one of the slot's in the form it is kept in, where a look tells: most values that flows compute are.
func (s *slot) asIs(raw json.RawMessage) bool {
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
		return opened && closed && !strings.ContainsFunc(inside, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
	}
	return false
}

// reason is what a person reads of a value that the decoder refuses.
func reason(err error) string {
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

// said is fit for what a user said: a text stands for the value it names.
func (s *slot) said(raw json.RawMessage, language string) (json.RawMessage, string) {
	var text string
	if s.Type.Kind == runtime.SlotJSON || json.Unmarshal(raw, &text) != nil {
		return s.fit(raw)
	}
	if s.Type.List {
		var items []json.RawMessage
		for item := range strings.SplitSeq(text, ",") {
			value, wrong := s.named(strings.TrimSpace(item), language)
			if wrong != "" {
				return nil, wrong
			}
			items = append(items, value)
		}
		list, err := runtime.Encode(items)
		if err != nil {
			return nil, "it cannot be stored"
		}
		return s.fit(list)
	}
	value, wrong := s.named(strings.TrimSpace(text), language)
	if wrong != "" {
		return nil, wrong
	}
	return s.fit(value)
}

// named reads the text of one value.
func (s *slot) named(said, language string) (json.RawMessage, string) {
	if said == "" {
		return nil, "there is no value"
	}
	switch s.Type.Kind { //nolint:exhaustive // the others are texts
	case runtime.SlotInt, runtime.SlotFloat:
		if _, err := strconv.ParseFloat(said, 64); err != nil || !json.Valid([]byte(said)) {
			return nil, fmt.Sprintf("%q is not a number", said)
		}
		return json.RawMessage(said), ""
	case runtime.SlotBool:
		yes, known := runtime.YesNo(said, language)
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
			if strings.EqualFold(v, said) || strings.EqualFold(words(v), said) {
				said = v
				break
			}
		}
	}
	value, _ := runtime.Encode(said) // cannot fail: a string
	return value, ""
}

// verdict is what a validator says of a value.
type verdict struct {
	Value  json.RawMessage `json:"value,omitempty"`
	Reason string          `json:"reason,omitempty"` // why it is refused
}

// checker is how decisions reach validators: each call is an effect, so a step that runs again gets the same verdict.
func (m *Machine) checker(ctx context.Context) func(validator int, v json.RawMessage) (verdict, error) {
	calls := 0
	return func(validator int, v json.RawMessage) (verdict, error) {
		calls++
		return thread.Do(ctx, "validate/"+strconv.Itoa(calls), func(ctx context.Context, _ string) (verdict, error) {
			out, err := foreign.Call(ctx, "dialogue", m.cfg.Timeout, func(ctx context.Context) (json.RawMessage, error) {
				return m.dialogue.Validate(ctx, validator, v)
			})
			switch code := runtime.CodeOf(err); {
			case err == nil:
				return verdict{Value: out}, nil
			case ctx.Err() != nil || code == runtime.CodeNotFound: // the step ends, or the tables are wrong
				return verdict{}, err
			case errors.Is(err, foreign.ErrLate), errors.Is(err, foreign.ErrPanic):
				return verdict{Reason: "it cannot be checked now"}, nil
			default:
				return verdict{Reason: innermost(err)}, nil
			}
		})
	}
}

// accept holds a value to the slot and to the validator of the step that collects it.
func (w *work) accept(s *slot, raw json.RawMessage, st *step) (json.RawMessage, string) {
	v, wrong := s.said(raw, w.language)
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
	return s.fit(out.Value) // its normal form must fit too
}

// innermost is the text of an error as its author wrote it.
func innermost(err error) string {
	if e, ok := errors.AsType[*runtime.Error](err); ok && e.Err != nil {
		return innermost(e.Err)
	}
	return err.Error()
}
