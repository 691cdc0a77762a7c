package templates_test

import (
	"fmt"
	"io/fs"
	"log"
	"testing/fstest"

	"github.com/routegen/routegen/templates"
)

// A program's own templates come first; what it does not have comes from here.
func ExamplePrompts() {
	own := fstest.MapFS{"workflow/lead.tmpl": {Data: []byte("You lead.")}}
	text, err := fs.ReadFile(templates.Prompts(own), "workflow/lead.tmpl")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output: You lead.
}
