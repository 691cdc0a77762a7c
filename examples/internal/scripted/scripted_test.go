package scripted_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
)

func TestTheFirstLineThatFits(t *testing.T) {
	t.Parallel()
	model, err := scripted.Model("", []byte(`[
		{"for": "Desk", "said": "passport", "reply": {"desk": 1}},
		{"for": "Desk", "shows": "\"number\"", "reply": {"desk": 2}},
		{"for": "Desk", "reply": {"desk": 3}}
	]`))
	require.NoError(t, err)
	ask := func(name, prompt, schema string) (string, error) {
		reply, err := model.Generate(t.Context(), llm.Request{
			Prompt: prompt, SchemaName: name, Schema: func(runtime.Dialect) string {
				return schema
			},
		})
		return string(reply.JSON), err
	}
	for range 2 { // however often
		for want, asked := range map[string][2]string{
			`{"desk":1}`: {"my passport", `{"type":"number"}`},
			`{"desk":2}`: {"my tax", `{"type":"number"}`},
			`{"desk":3}`: {"my tax", `{"type":"object"}`},
		} {
			got, err := ask("Desk", asked[0], asked[1])
			require.NoError(t, err)
			assert.JSONEq(t, want, got)
		}
	}
	_, err = ask("Other", "my passport", `{}`)
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

func TestProviders(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"openai", "anthropic"} {
		model, err := scripted.Model(provider, nil)
		require.NoError(t, err)
		assert.NotNil(t, model)
	}
	_, err := scripted.Model("nobody", nil)
	require.ErrorContains(t, err, "use openai or anthropic")
	_, err = scripted.Model("", []byte("{"))
	require.ErrorContains(t, err, "read script")
}
