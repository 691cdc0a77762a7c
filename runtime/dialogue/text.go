package dialogue

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// replies collects the messages of one run of a step.
type replies struct {
	m         *Machine
	at        *thread.Activation
	language  string
	flow      string
	said      []line
	textBytes int // bytes of texts with values in them
}

// line is one message, as it stands in the outbox.
type line struct {
	Flow string `json:"flow,omitempty"`
	Text string `json:"text"`

	name   string
	failed *thread.Failure // that it tells of
}

func (v *replies) addLine(name, text string) {
	if text != "" {
		v.said = append(v.said, line{Flow: v.flow, Text: text, name: name})
	}
}

// vars are the values of a text's variables: name, value, name, value.
type vars []string

func (v vars) get(name string) string {
	for i := 0; i+1 < len(v); i += 2 {
		if v[i] == name {
			return v[i+1]
		}
	}
	return ""
}

// addResponse adds a text of the machine: that of the spec, else the English one. with are the
// values of its variables: name, value, name, value.
func (v *replies) addResponse(name string, with ...string) {
	if text, ok := v.m.responses[name]; ok {
		v.addLine(name, v.renderText(text, nil, vars(with)))
		return
	}
	var pairs []string
	for i := 0; i+1 < len(with); i += 2 {
		pairs = append(pairs, "{"+with[i]+"}", with[i+1])
	}
	v.addLine(name, strings.NewReplacer(pairs...).Replace(v.m.english[name]))
}

// rejectTooLong adds a reply and returns true if a message is too long. text is the message, "" if
// the answer is a value.
func (v *replies) rejectTooLong(text string, value json.RawMessage) bool {
	most := v.m.cfg.MaxMessage
	if len(text) <= most && (text != "" || len(value) <= most) {
		return false
	}
	v.addResponse("too_long", "max", strconv.Itoa(most))
	return true
}

// reportNotUnderstood replies that a message could not be understood; the stored entry has the
// cause.
func (v *replies) reportNotUnderstood(why *thread.Failure) {
	v.addResponse("unavailable")
	if n := len(v.said); n > 0 && v.said[n-1].name == "unavailable" {
		v.said[n-1].failed = why
	}
}

// renderText renders a text in the user's language with the values of slots. Missing values are
// empty; values are never templates.
func (v *replies) renderText(t runtime.Texts, slots func(n int) (json.RawMessage, *slot),
	with vars) string {
	in := v.findText(t)
	if in == nil || len(in.Variants) == 0 {
		return ""
	}
	variant := in.Variants[0]
	if n := uint32(len(in.Variants)); n > 1 {
		variant = in.Variants[(v.seed()+uint32(len(v.said)))%n]
	}
	if isConstant(variant) {
		return variant[0].Text
	}
	var b strings.Builder
	for _, part := range variant {
		switch {
		case part.Slot > 0 && slots != nil:
			raw, s := slots(part.Slot)
			b.WriteString(displayValue(raw, s, part.Decimals))
		case part.Var != "":
			b.WriteString(with.get(part.Var))
		default:
			b.WriteString(part.Text)
		}
	}
	v.textBytes += b.Len()
	return b.String()
}

// isConstant reports whether a text has no values in it.
func isConstant(t runtime.Template) bool {
	return len(t) == 1 && t[0].Slot == 0 && t[0].Var == ""
}

// seed chooses among variants. A repeated step has the same one.
func (v *replies) seed() uint32 {
	h := fnv.New32a()
	if v.at != nil {
		// never fails
		_, _ = fmt.Fprintf(h, "%s/%s/%s/%d", v.at.Thread, v.at.Frame.ID, v.at.Frame.PC,
			v.at.Frame.Visit)
	}
	return h.Sum32()
}

// findText returns a text in the user's language, else in its primary language, that of the tables,
// or the first one.
func (v *replies) findText(t runtime.Texts) *runtime.TextIn {
	if len(t) == 0 {
		return nil
	}
	def := v.m.defaultLanguage()
	primary, _, _ := strings.Cut(v.language, "-")
	best, rank := &t[0], 0
	for i := range t {
		tag := t[i].Language
		if tag == "" {
			tag = def
		}
		found := 0
		switch {
		case strings.EqualFold(tag, v.language):
			found = 3
		case strings.EqualFold(tag, primary):
			found = 2
		case tag == def:
			found = 1
		}
		if found > rank {
			best, rank = &t[i], found
		}
	}
	return best
}

// displayValue returns a stored value for people.
func displayValue(raw json.RawMessage, s *slot, decimals int) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var text string
		if json.Unmarshal(raw, &text) == nil {
			if s != nil && s.Type.Kind == runtime.SlotEnum {
				return spacedName(text)
			}
			return text
		}
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil && (s == nil || s.Type.Kind != runtime.SlotJSON) {
			out := make([]string, len(items))
			for i := range items {
				out[i] = displayValue(items[i], s, decimals)
			}
			return strings.Join(out, ", ")
		}
	case '{', 't', 'f':
	case 'n':
		return ""
	default:
		if decimals > 0 {
			if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
				return strconv.FormatFloat(n, 'f', decimals-1, 64)
			}
		}
	}
	return string(raw)
}

// defaultResponses returns the English responses. A spec may replace each.
func defaultResponses() map[string]string {
	return map[string]string{
		"cancelled":          "Cancelled.",
		"nothing_to_cancel":  "There is nothing to cancel.",
		"too_long":           "That is too long: I read {max} bytes at most.",
		"not_understood":     "I did not understand that.",
		"unavailable":        "I cannot read messages right now. Please try again later.",
		"busy":               "Let us finish this first. After it: {flow}.",
		"too_deep":           "Too many things are open at once. Let us finish one first.",
		"corrected":          "{slot} is now {value}.",
		"refused":            "{slot} stays as it is: {reason}.",
		"invalid":            "That does not do: {reason}.",
		"failed":             "That did not work.",
		"timed_out":          "No answer came in time, so this has ended.",
		"handoff":            "I pass you on to a colleague.",
		"chitchat":           "I see.",
		"clarify":            "{doc}",
		"no_progress":        "We do not seem to get any further.",
		"given_up":           "Let us stop here.",
		"unknown_flow":       "I cannot do that.",
		"unknown_slot":       "I do not need {slot} here.",
		"nothing_to_confirm": "There is nothing to confirm right now.",
		"welcome":            "Hello. How can I help?",
		"looped":             "That went round in circles, so I stopped it.",
		"anything_else":      "Is there anything else?",
	}
}
