package prompt_test

import (
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/templates"
)

// A program brings the template of each node, in a folder of its own; os.DirFS("prompts") and an
// embed.FS will do. Everything around them, the sections, comes from package templates. Each
// variable is one that the spec lists under prompt.vars.
func ExampleNew() {
	program := routes.New(routes.UnimplementedHandlers{})
	own := fstest.MapFS{"workflow/review.tmpl": {Data: []byte("Judge this like a " +
		"poet:\n\n{{.content}}\n\nAnd mind:\n\n{{.criteria}}\n")}}
	prompts, err := prompt.New(&program, templates.Prompts(own))
	if err != nil {
		log.Fatal(err)
	}
	request, err := runtime.Encode(&routes.ReviewRequest{Content: "Roses are red.",
		Criteria: "It rhymes."})
	if err != nil {
		log.Fatal(err)
	}
	text, err := prompts.Node(
		prompt.View{Node: int(routes.NodeReview), Request: json.RawMessage(request),
			Allowed: []string{"reviewResult"}})
	if err != nil {
		log.Fatal(err)
	}
	from, to := strings.Index(text, "Judge"), strings.Index(text, "## Workflow position")
	fmt.Println(strings.TrimSpace(text[from:to]))

	own["workflow/review.tmpl"].Data = []byte("Judge this:\n\n{{.contnet}}\n")
	_, err = prompt.New(&program, templates.Prompts(own))
	fmt.Println(runtime.CodeOf(err))
	// Output:
	// Judge this like a poet:
	//
	// ```text
	// Roses are red.
	// ```
	//
	// And mind:
	//
	// ```text
	// It rhymes.
	// ```
	// invalid
}
