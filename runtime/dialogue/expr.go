package dialogue

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// readsSlot reports whether an expression uses a slot; 0 stands for any slot.
func readsSlot(e *runtime.Expr, slot int) bool {
	return e != nil && (e.Slot > 0 && (slot == 0 || e.Slot == slot) ||
		slices.ContainsFunc(e.Args, func(a runtime.Expr) bool { return readsSlot(&a, slot) }))
}

// decodeValue decodes JSON as a value of expressions: a string, int64, float64, bool, time.Time,
// or a list of them. Strings are times or durations if the kind says so. It returns nil for null
// and for an object, which has no place in expressions.
func decodeValue(raw string, kind runtime.SlotKind) any {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil
	}
	switch raw[0] {
	case '"':
		text := raw[1 : len(raw)-1]
		if strings.Contains(text, `\`) && json.Unmarshal([]byte(raw), &text) != nil {
			return nil
		}
		return parseText(text, kind)
	case 't', 'f':
		return raw[0] == 't'
	case '[':
		var items []json.RawMessage
		_ = json.Unmarshal([]byte(raw), &items) // it is JSON
		list := make([]any, len(items))
		for i := range items {
			list[i] = decodeValue(string(items[i]), kind)
		}
		return list
	case 'n', '{':
		return nil
	}
	if n, err := strconv.ParseInt(raw, 10, 64); err == nil {
		return n
	}
	n, _ := strconv.ParseFloat(raw, 64) // it is a number
	return n
}

// parseText returns the time, the duration in nanoseconds, or the text that a string stands for.
// Times are not counted: there are more nanoseconds between the years 1 and 9999 than an int64
// holds.
func parseText(text string, kind runtime.SlotKind) any {
	switch kind { //nolint:exhaustive // the others are texts
	case runtime.SlotTime:
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at
		}
	case runtime.SlotDuration:
		if d, err := time.ParseDuration(text); err == nil {
			return int64(d)
		}
	}
	return text
}

// eval evaluates an expression on the state of a frame. kind is that of the slot that a literal is
// compared with.
func (s *state) eval(e *runtime.Expr, kind runtime.SlotKind) any {
	switch e.Op {
	case runtime.OpValue:
		return decodeValue(e.Value, kind)
	case runtime.OpSlot:
		return decodeValue(string(s.slots[e.Slot-1].value), s.flow.Slots[e.Slot-1].Type.Kind)
	default:
		return s.isTrue(e)
	}
}

// evalArgs evaluates the two arguments of a comparison. A literal compared with a time or a
// duration is one.
func (s *state) evalArgs(e *runtime.Expr) (a, b any) {
	var kind runtime.SlotKind
	for i := range e.Args {
		if e.Args[i].Op == runtime.OpSlot {
			kind = s.flow.Slots[e.Args[i].Slot-1].Type.Kind
		}
	}
	return s.eval(&e.Args[0], kind), s.eval(&e.Args[1], kind)
}

// isTrue reports whether an expression is true. A slot without a value is neither true nor false,
// and only OpNe with it is true.
func (s *state) isTrue(e *runtime.Expr) bool {
	switch e.Op { //nolint:exhaustive // the others compare
	case runtime.OpValue, runtime.OpSlot:
		return s.eval(e, 0) == any(true)
	case runtime.OpFilled:
		return s.slots[e.Slot-1].value != nil
	case runtime.OpNot:
		return !s.isTrue(&e.Args[0])
	case runtime.OpAnd, runtime.OpOr:
		for i := range e.Args {
			if s.isTrue(&e.Args[i]) == (e.Op == runtime.OpOr) {
				return e.Op == runtime.OpOr
			}
		}
		return e.Op == runtime.OpAnd
	}
	a, b := s.evalArgs(e)
	order, ordered := compareValues(a, b)
	switch e.Op {
	case runtime.OpIn:
		list, _ := b.([]any)
		return slices.ContainsFunc(list, func(item any) bool { return equalValues(a, item) })
	case runtime.OpEq:
		return equalValues(a, b)
	case runtime.OpNe:
		return !equalValues(a, b)
	case runtime.OpLt:
		return ordered && order < 0
	case runtime.OpLe:
		return ordered && order <= 0
	case runtime.OpGt:
		return ordered && order > 0
	default:
		return ordered && order >= 0
	}
}

// equalValues reports whether two values are equal; nil equals nothing.
func equalValues(a, b any) bool {
	switch x := a.(type) {
	case bool:
		return b == a
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equalValues)
	}
	order, ok := compareValues(a, b)
	return ok && order == 0
}

// compareValues compares two texts, numbers or times; ok is false for other values.
func compareValues(a, b any) (order int, ok bool) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	case time.Time:
		y, ok := b.(time.Time)
		return x.Compare(y), ok
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), true
		}
	}
	x, isNumber := asFloat(a)
	y, areNumbers := asFloat(b)
	return cmp.Compare(x, y), isNumber && areNumbers
}

func asFloat(v any) (float64, bool) {
	if n, ok := v.(int64); ok {
		return float64(n), true
	}
	n, ok := v.(float64)
	return n, ok
}

// evalJSON returns the value of an expression as JSON, or nil if it has none.
func (s *state) evalJSON(e *runtime.Expr) json.RawMessage {
	switch e.Op {
	case runtime.OpValue:
		if e.Value == "null" {
			return nil
		}
		return json.RawMessage(e.Value)
	case runtime.OpSlot:
		return s.slots[e.Slot-1].value
	default:
		return json.RawMessage(strconv.FormatBool(s.isTrue(e)))
	}
}
