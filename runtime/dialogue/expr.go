package dialogue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// expr is an expression whose literals are decoded.
type expr struct {
	op    runtime.ExprOp
	slot  *slot
	lit   value
	raw   json.RawMessage // of a literal
	args  []*expr
	slots bool // some slot is in it
}

// value is what expressions compare. Durations are counted in nanoseconds, and compare as integers. Times do not: there are more nanoseconds
// between the years 1 and 9999 than an integer holds.
type value struct {
	kind  valueKind
	text  string
	b     bool
	n     float64
	i     int64
	whole bool // i is exact
	at    time.Time
	list  []value
}

type valueKind uint8

const (
	isNothing valueKind = iota // a slot that is not filled, null, or what has no place in expressions
	isText
	isNumber
	isBool
	isTime
	isList
)

// expr compiles an expression; nil stays nil. Literals beside a time or a duration are read as one.
func (c *compiler) expr(f *flow, e *runtime.Expr) *expr {
	if e == nil {
		return nil
	}
	out := &expr{op: e.Op}
	counts := map[runtime.ExprOp]int{
		runtime.OpNot: 1, runtime.OpEq: 2, runtime.OpNe: 2, runtime.OpLt: 2, runtime.OpLe: 2, runtime.OpGt: 2, runtime.OpGe: 2, runtime.OpIn: 2,
	}
	switch {
	case e.Op < runtime.OpValue || e.Op > runtime.OpIn:
		c.wrongf("there is no operation %d", e.Op)
		return out
	case counts[e.Op] > 0 && len(e.Args) != counts[e.Op]:
		c.wrongf("operation %d takes %d arguments, not %d", e.Op, counts[e.Op], len(e.Args))
		return out
	case e.Op == runtime.OpSlot || e.Op == runtime.OpFilled:
		out.slots = true
		if c.row("slot", e.Slot, len(f.slots), true) {
			out.slot = &f.slots[e.Slot-1]
		}
	case e.Op == runtime.OpValue:
		out.raw = json.RawMessage(e.Value)
		if !json.Valid(out.raw) {
			c.wrongf("%w: %s", errLiteral, e.Value)
			return out
		}
		out.lit = decode(out.raw, runtime.SlotJSON)
	}
	var kind runtime.SlotKind
	for i := range e.Args {
		arg := c.expr(f, &e.Args[i])
		out.args = append(out.args, arg)
		out.slots = out.slots || arg.slots
		if arg.slot != nil && arg.op == runtime.OpSlot {
			kind = arg.slot.Type.Kind
		}
	}
	if kind == runtime.SlotTime || kind == runtime.SlotDuration {
		for _, arg := range out.args {
			if arg.op == runtime.OpValue {
				arg.lit = decode(arg.raw, kind)
			}
		}
	}
	return out
}

// reads reports whether a slot is in the expression.
func (e *expr) reads(s *slot) bool {
	return e.slot != nil && e.slot.number == s.number || slices.ContainsFunc(e.args, func(a *expr) bool { return a.reads(s) })
}

// decode reads JSON as what expressions compare. Texts are times or durations where the kind says so.
func decode(raw json.RawMessage, kind runtime.SlotKind) value {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return value{}
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return value{}
		}
		return moment(s, kind)
	case 't', 'f':
		return value{kind: isBool, b: raw[0] == 't'}
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return value{}
		}
		out := value{kind: isList}
		for _, item := range items {
			out.list = append(out.list, decode(item, kind))
		}
		return out
	case 'n', '{':
		return value{}
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return value{}
	}
	i, err := strconv.ParseInt(string(raw), 10, 64)
	return value{kind: isNumber, n: n, i: i, whole: err == nil}
}

// moment reads a text, which may stand for a time or a duration.
func moment(s string, kind runtime.SlotKind) value {
	switch kind { //nolint:exhaustive // the others are texts
	case runtime.SlotTime:
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return value{kind: isTime, at: at}
		}
	case runtime.SlotDuration:
		if d, err := time.ParseDuration(s); err == nil {
			return value{kind: isNumber, n: float64(d), i: int64(d), whole: true}
		}
	}
	return value{kind: isText, text: s}
}

// eval computes an expression on what a frame knows.
func (s *state) eval(e *expr) value {
	switch e.op {
	case runtime.OpValue:
		return e.lit
	case runtime.OpSlot:
		return decode(s.Slots[e.slot.Name], e.slot.Type.Kind)
	default:
		return value{kind: isBool, b: s.holds(e)}
	}
}

// holds reports whether an expression is true. What is not filled is neither true nor false, and no comparison with it holds but OpNe.
func (s *state) holds(e *expr) bool {
	switch e.op {
	case runtime.OpValue, runtime.OpSlot:
		v := s.eval(e)
		return v.kind == isBool && v.b
	case runtime.OpFilled:
		_, filled := s.Slots[e.slot.Name]
		return filled
	case runtime.OpNot:
		return !s.holds(e.args[0])
	case runtime.OpAnd:
		return !slices.ContainsFunc(e.args, func(arg *expr) bool { return !s.holds(arg) })
	case runtime.OpOr:
		return slices.ContainsFunc(e.args, s.holds)
	case runtime.OpIn:
		a, b := s.eval(e.args[0]), s.eval(e.args[1])
		return slices.ContainsFunc(b.list, func(item value) bool { return same(a, item) })
	case runtime.OpEq:
		return same(s.eval(e.args[0]), s.eval(e.args[1]))
	case runtime.OpNe:
		return !same(s.eval(e.args[0]), s.eval(e.args[1]))
	default:
		return s.ordered(e)
	}
}

func (s *state) ordered(e *expr) bool {
	order, ok := compare(s.eval(e.args[0]), s.eval(e.args[1]))
	switch e.op {
	case runtime.OpLt:
		return ok && order < 0
	case runtime.OpLe:
		return ok && order <= 0
	case runtime.OpGt:
		return ok && order > 0
	default:
		return ok && order >= 0
	}
}

func same(a, b value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case isText:
		return a.text == b.text
	case isNumber, isTime:
		order, ok := compare(a, b)
		return ok && order == 0
	case isBool:
		return a.b == b.b
	case isList:
		return slices.EqualFunc(a.list, b.list, same)
	case isNothing:
	}
	return false
}

// compare orders two texts, two numbers or two times; others have no order.
func compare(a, b value) (order int, ok bool) {
	switch {
	case a.kind == isText && b.kind == isText:
		return strings.Compare(a.text, b.text), true
	case a.kind == isTime && b.kind == isTime:
		return a.at.Compare(b.at), true
	case a.kind != isNumber || b.kind != isNumber:
		return 0, false
	case a.whole && b.whole:
		return cmp.Compare(a.i, b.i), true
	default:
		return cmp.Compare(a.n, b.n), true
	}
}

// json is the value of an expression as it is stored; nil where it has none.
func (s *state) json(e *expr) json.RawMessage {
	switch e.op {
	case runtime.OpValue:
		if string(e.raw) == "null" {
			return nil
		}
		return e.raw
	case runtime.OpSlot:
		return s.Slots[e.slot.Name]
	default:
		return json.RawMessage(strconv.FormatBool(s.holds(e)))
	}
}
