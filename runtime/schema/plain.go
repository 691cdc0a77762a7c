package schema

// plainDialect is draft 2020-12 as the generator writes it: nothing to convert but patterns that
// only Go reads, and no rule but sound references.
func plainDialect() dialect { return dialect{name: "plain", takes: plainTakes} }

func plainTakes(keyword string, v *Value) bool {
	return keyword != "pattern" || GoPattern(v.Text) == ""
}
