package schema_test

import (
	"errors"
	"fmt"

	"github.com/routegen/routegen/runtime/schema"
)

// A tool's schema has a parameter that the program fills in by itself: the model shall not hear of it, nor of what only it refers to.
func ExampleNarrow() {
	tool := []byte(`{"type":"object",
		"properties":{"city":{"type":"string"},"tenant":{"$ref":"#/$defs/Tenant"},"unit":{"$ref":"#/$defs/Unit"}},
		"required":["tenant","city"],"additionalProperties":false,
		"$defs":{"Tenant":{"type":"object"},"Unit":{"enum":["C","F"]}}}`)
	narrowed, err := schema.Narrow(tool, schema.Named("tenant"))
	fmt.Println(string(narrowed), err)

	_, err = schema.Narrow([]byte(`{"properties":{"tenant":{},"city":{}}}`), schema.Named("tenant"))
	var refused *schema.NarrowError
	fmt.Println(errors.As(err, &refused), refused.Rule)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string"},"unit":{"$ref":"#/$defs/Unit"}},"required":["city"],"additionalProperties":false,"$defs":{"Unit":{"enum":["C","F"]}}} <nil>
	// true open_object
}
