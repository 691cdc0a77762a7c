package generator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/templates"
)

// BenchmarkResolve is what one interrupt costs without model and store: the narrowed schema, the
// prompt, and the checks of the reply. Beside it stands the way without generated code, and that
// for the schema alone.
func BenchmarkResolve(b *testing.B) {
	program := routes.New(routes.UnimplementedHandlers{})
	prompts, err := prompt.New(&program, templates.Prompts(nil))
	require.NoError(b, err)
	route := &program.Tables.Routes[0]
	set := routes.AllRoutes().Only(1)
	reply := []byte(`{"` + route.Field +
		`":{"goal":"ship it","phase":"DISCOVERY","feedback":"go left"}}`)
	view := prompt.View{
		Node: route.Node, Request: []byte(`{"goal":"ship it","phase":"DISCOVERY"}`),
		Allowed: []string{route.Field},
		Answer:  []byte(`"go left"`), Interrupt: 1,
		Asked: []byte(
			`{"type":"HUMAN_REVIEW","reason":"which way?","phase":"DISCOVERY","goal":"ship it","workflowContext":"at the start"}`),
	}
	allowed := func(name string) bool { return name == route.Field }
	b.Run("generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if routes.InterruptRoutingSchema(set, runtime.OpenAI) == "" {
				b.Fatal("no schema")
			}
			if _, err := prompts.Resolution(view); err != nil {
				b.Fatal(err)
			}
			if _, err := program.DecodeReply(0, reply, allowed); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reflect", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(reflectSchema(b, set)) == 0 {
				b.Fatal("no schema")
			}
		}
	})
}
