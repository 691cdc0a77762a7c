package schema

// geminiDialect is the JSON Schema input of Gemini (ResponseJsonSchema in google.golang.org/genai).
// It takes bounds, but they drive a schema over its number of states, so Convert says them in the
// description. That number is not published: the limits here only start a notice.
func geminiDialect() dialect {
	return dialect{
		name: "gemini", takes: geminiTakes, ordered: true, unbounded: true,
		rules:  []string{"keyword", "ref_siblings", "required_cycle"},
		limits: []limit{{"bounds_total", 0}, {"large_enums", 0}},
	}
}

func geminiTakes(keyword string, _ *Value) bool {
	switch keyword {
	case "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum",
		"items", "prefixItems", "anyOf",
		"oneOf", "properties", "additionalProperties", "required", "propertyOrdering":
		return true
	}
	return isBound(keyword)
}

func isBound(keyword string) bool {
	return keyword == "minItems" || keyword == "maxItems" || keyword == "minimum" ||
		keyword == "maximum"
}
