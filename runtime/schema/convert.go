package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// Finding is a rule of its dialect that a schema breaks.
type Finding struct {
	Rule    string // stable name: "optional_total"
	Pointer string // JSON pointer, "" for the whole document
	Message string // what is wrong, why, and what to do
	Count   int    // where the rule is a limit: what was counted
	Limit   int    // where the rule is a limit: the most that is allowed
	Notice  bool   // good to know: the provider publishes no such rule
}

// dialect says how one provider's form differs from the plain one.
type dialect struct {
	name string
	// the provider accepts this keyword with this value; nil: all
	takes func(keyword string, v *Value) bool
	// only closed objects: a map becomes a list of pairs, and nothing is any JSON
	strict bool
	// a property that may be left out is required and may be null
	nullable  bool
	ordered   bool     // objects name the order of their properties
	unbounded bool     // bounds are better said than set
	rules     []string // of the table advice
	limits    []limit
}

// dialectOf is the table of the four dialects. An unknown one is plain.
func dialectOf(d runtime.Dialect) dialect {
	switch d {
	case runtime.OpenAI:
		return openAIDialect()
	case runtime.Anthropic:
		return anthropicDialect()
	case runtime.Gemini:
		return geminiDialect()
	case runtime.Plain:
	}
	return plainDialect()
}

// Convert turns one plain definition into its form in d. A keyword that the provider does not take
// becomes a sentence of the description. Findings, all of rule "no_strict_form", point at the
// properties of def that have no form in d; the value is then nil. def is not changed.
func Convert(d runtime.Dialect, def *Value) (*Value, []Finding) {
	c := conversion{dialect: dialectOf(d)}
	if out := c.schema(def, ""); len(c.findings) == 0 {
		return out, nil
	}
	return nil, c.findings
}

type conversion struct {
	dialect
	findings []Finding
}

// schema converts v. at is the pointer of the property that holds v, so that a finding names what a
// person wrote.
func (c *conversion) schema(v *Value, at string) *Value {
	switch {
	case v.Get("$ref") != nil:
		return v
	case isAny(v) && c.strict:
		c.findings = append(c.findings, Finding{Rule: "no_strict_form", Pointer: at,
			Message: fmt.Sprintf("any JSON may stand here, and %s takes closed objects only: "+
				"hide the field or give it a type", c.name)})
		return v
	case isMap(v) && c.strict:
		v = asPairs(v)
	}
	out, said := newObject(), []string(nil)
	for _, m := range v.memberList() {
		switch {
		case m.Key == "properties":
			m.Value = c.properties(v, at)
		case m.Key == "items", m.Key == "additionalProperties" && m.Value.Kind == Object:
			m.Value = c.schema(m.Value, at)
		case m.Key == "const" && !c.takes("const", m.Value):
			m = Member{"enum", newArray(m.Value)}
		case m.Key == "required" && c.nullable:
			continue
		case !c.takes(m.Key, m.Value) || c.unbounded && isBound(m.Key):
			said = append(said, sentence(m.Key, m.Value))
			continue
		}
		out.Members = append(out.Members, m)
		// strict mode wants "required" even if it is empty
		if m.Key == "properties" && c.nullable {
			out.Members = append(out.Members, Member{"required", keyNames(m.Value)})
		}
	}
	if properties := v.Get("properties"); c.ordered && len(properties.memberList()) > 0 {
		out.Members = append(out.Members, Member{"propertyOrdering", keyNames(properties)})
	}
	return described(out, strings.Join(said, " "))
}

func (c *conversion) properties(v *Value, at string) *Value {
	out, required := newObject(), itemTexts(v.Get("required"))
	for _, m := range v.Get("properties").Members {
		inner := at
		if at == "" { // below, the only objects are the pairs of a map
			inner = "/properties/" + escapePointer(m.Key)
		}
		m.Value = c.schema(m.Value, inner)
		if c.nullable && !slices.Contains(required, m.Key) {
			m.Value = orNull(m.Value)
		}
		out.Members = append(out.Members, m)
	}
	return out
}

// asPairs turns the schema of a map into that of a list of its entries.
func asPairs(v *Value) *Value {
	out := newObject(slices.Clone(v.Members)...)
	for i, m := range v.Members {
		switch m.Key {
		case "type":
			m.Value = newString("array")
		case "minProperties", "maxProperties":
			m.Key = m.Key[:3] + "Items"
		case "additionalProperties":
			properties := newObject(Member{"key", newObject(Member{"type", newString("string")})},
				Member{"value", m.Value})
			m = Member{"items", newObject(Member{"type", newString("object")},
				Member{"properties", properties},
				Member{"required", keyNames(properties)},
				Member{"additionalProperties", &Value{Text: "false"}})}
		}
		out.Members[i] = m
	}
	return described(out, "A list of entries, each key only once.")
}

// described adds text to the description of v, on a line of its own. A new description follows the
// type.
func described(v *Value, text string) *Value {
	if text == "" {
		return v
	}
	out, after := newObject(slices.Clone(v.Members)...), 0
	for i, m := range out.Members {
		switch m.Key {
		case "description":
			out.Members[i].Value = newString(m.Value.Text + "\n" + text)
			return out
		case "type":
			after = i + 1
		}
	}
	out.Members = slices.Insert(out.Members, after, Member{"description", newString(text)})
	return out
}

// words has the sentences for keywords that some provider does not accept.
var words = map[string]string{
	"minLength": "At least %s characters.", "maxLength": "At most %s characters.",
	"minItems": "At least %s items.",
	"maxItems": "At most %s items.", "minProperties": "At least %s keys.",
	"maxProperties": "At most %s keys.",
	"minimum":       "At least %s.", "maximum": "At most %s.", "exclusiveMinimum": "More than %s.",
	"exclusiveMaximum": "Less than %s.",
	"multipleOf":       "A multiple of %s.", "pattern": "Matches the regular expression %s.",
	"format":  "Format: %s.",
	"default": "Default: %s.", "examples": "Examples: %s.", "uniqueItems": "All items differ: %s.",
}

func sentence(keyword string, v *Value) string {
	text, form := v.String(), words[keyword]
	switch {
	case form == "":
		return keyword + ": " + text + "."
	case keyword == "pattern" || keyword == "format":
		text = v.Text
	case keyword == "examples":
		text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	case text == "1" && !strings.HasSuffix(form, "%s."):
		form = strings.TrimSuffix(form, "s.") + "."
	}
	return fmt.Sprintf(form, text)
}

// isAny reports whether v allows any JSON: true, {} or only a description.
func isAny(v *Value) bool {
	return v.Kind != Object || len(v.Members) == 0 || len(v.Members) == 1 &&
		v.Members[0].Key == "description"
}

// isMap reports whether v is an object whose keys are data.
func isMap(v *Value) bool {
	rest := v.Get("additionalProperties")
	return rest != nil && rest.textOrEmpty() != "false" && v.Get("properties") == nil
}

// isObject reports whether v describes an object, with properties or as a map.
func isObject(v *Value) bool {
	return v.Get("properties") != nil || v.Get("type").textOrEmpty() == "object"
}
