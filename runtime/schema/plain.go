package schema

// plainDialect is draft 2020-12 as the generator writes it: nothing to convert, no rule but sound
// references.
func plainDialect() dialect { return dialect{name: "plain"} }
