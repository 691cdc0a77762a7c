package dialogue

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// voice is what one run of a step says, in the order it is said.
type voice struct {
	m        *Machine
	language string
	flow     string
	seed     uint32 // chooses among variants
	said     []line
	wrote    int // bytes of texts with values in them
}

// line is one message, as it stands in the outbox.
type line struct {
	Flow string `json:"flow,omitempty"`
	Text string `json:"text"`

	name   string
	failed *runtime.Failure // that it tells of
}

func (v *voice) say(name, text string) {
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

// respond says a text of the machine.
func (v *voice) respond(name string, with ...string) {
	v.say(name, v.render(v.m.responses[name], nil, vars(with)))
}

// tooLong says that a message is too long to be read, if it is. text is what was said, "" where the
// answer is a value.
func (v *voice) tooLong(text string, value json.RawMessage) bool {
	most := v.m.cfg.MaxMessage
	if len(text) <= most && (text != "" || len(value) <= most) {
		return false
	}
	v.respond("too_long", "max", strconv.Itoa(most))
	return true
}

// fails says that a message could not be understood, and why to those who run the program.
func (v *voice) fails(why *runtime.Failure) {
	v.respond("unavailable")
	if n := len(v.said); n > 0 && v.said[n-1].name == "unavailable" {
		v.said[n-1].failed = why
	}
}

// render writes a text in the language of the user, with the values of slots. What has no value is left out; values are never templates.
func (v *voice) render(t runtime.Texts, slots func(n int) (json.RawMessage, *slot), with vars) string {
	in := v.in(t)
	if in == nil || len(in.Variants) == 0 {
		return ""
	}
	variant := in.Variants[0]
	if n := uint32(len(in.Variants)); n > 1 {
		variant = in.Variants[(v.seed+uint32(len(v.said)))%n]
	}
	if len(variant) == 1 && variant[0].Slot == 0 && variant[0].Var == "" {
		return variant[0].Text
	}
	var b strings.Builder
	for _, part := range variant {
		switch {
		case part.Slot > 0 && slots != nil:
			raw, s := slots(part.Slot)
			b.WriteString(shown(raw, s, part.Decimals))
		case part.Var != "":
			b.WriteString(with.get(part.Var))
		default:
			b.WriteString(part.Text)
		}
	}
	v.wrote += b.Len()
	return b.String()
}

// in finds a text in the language of the user, or in its main language, in that of the tables, or in the first there is.
func (v *voice) in(t runtime.Texts) *runtime.TextIn {
	if len(t) == 0 {
		return nil
	}
	def := v.m.language()
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

// shown is a stored value as a person reads it.
func shown(raw json.RawMessage, s *slot, decimals int) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var text string
		if json.Unmarshal(raw, &text) == nil {
			if s != nil && s.Type.Kind == runtime.SlotEnum {
				return words(text)
			}
			return text
		}
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil && (s == nil || s.Type.Kind != runtime.SlotJSON) {
			out := make([]string, len(items))
			for i := range items {
				out[i] = shown(items[i], s, decimals)
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

// shipped are the responses in English. A spec may have its own in place of each.
func shipped() map[string]runtime.Texts {
	out := map[string]runtime.Texts{}
	for name, text := range map[string]string{
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
	} {
		out[name] = runtime.Texts{{Language: "en", Variants: []runtime.Template{template(text)}}}
	}
	return out
}

// template reads a text of this file.
func template(text string) runtime.Template {
	var out runtime.Template
	for text != "" {
		before, rest, found := strings.Cut(text, "{")
		if before != "" {
			out = append(out, runtime.Part{Text: before})
		}
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		out = append(out, runtime.Part{Var: name})
		text = after
	}
	return out
}
