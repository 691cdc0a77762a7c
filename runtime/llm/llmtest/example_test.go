package llmtest_test

import (
	"context"
	"fmt"

	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
)

// A script of two replies: one for requests that mention the weather, one for any. The third
// request finds nothing left, and says so.
func Example() {
	model := llmtest.NewModel(
		llmtest.Writes("Rain.").For(llmtest.Said("weather")),
		llmtest.Writes("Hello."),
	)
	for _, prompt := range []string{"Hi!", "What about the weather?", "And tomorrow?"} {
		response, err := model.Generate(context.Background(), llm.Request{Prompt: prompt})
		if err != nil {
			fmt.Print(err)
			continue
		}
		fmt.Println(response.Text)
	}
	fmt.Println(model.Left())
	// Output:
	// Hello.
	// Rain.
	// ask scripted model: invalid: request 3: the script is over
	//   user: "And tomorrow?"
	// <nil>
}
