package schema

import "slices"

// openAI is strict mode: every property is required, so one that may be left out becomes a union
// with null. Keywords and limits are those of the guide "Structured model outputs", supported
// schemas; Azure still names 100 and 5 for the first two limits.
func openAIDialect() dialect {
	return dialect{
		name: "openai", takes: openAITakes, strict: true, nullable: true,
		rules: []string{"keyword", "closed_object", "root_object", "all_required", "enum_size",
			"first_key"},
		limits: []limit{{"properties_total", 5000}, {"nesting", 10}, {"string_size", 120_000},
			{"enum_values", 1000}},
	}
}

// An enum of more values than largeEnum may hold enumChars characters; same guide.
const largeEnum, enumChars = 250, 15_000

func openAITakes(keyword string, v *Value) bool {
	switch keyword {
	case "$ref", "$defs", "type", "title", "description", "enum", "const", "anyOf", "items",
		"properties", "required", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "minItems", "maxItems":
		return true
	case "pattern":
		return plainTakes(keyword, v)
	case "additionalProperties":
		return v.Text == "false"
	case "format":
		return slices.Contains([]string{"date-time", "time", "date", "duration", "email",
			"hostname", "ipv4", "ipv6", "uuid"}, v.Text)
	}
	return false
}

// orNull allows null beside v. The description moves to the outside, where it speaks of the
// property as a whole.
func orNull(v *Value) *Value {
	out, inner := newObject(), newObject()
	for _, m := range v.Members {
		to := inner
		if m.Key == "description" {
			to = out
		}
		to.Members = append(to.Members, m)
	}
	out.Members = append(out.Members,
		Member{"anyOf", newArray(inner, newObject(Member{"type", newString("null")}))})
	return out
}
