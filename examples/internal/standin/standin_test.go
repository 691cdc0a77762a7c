package standin_test

import (
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/standin"
)

// What is called again under its key, as after a crash, was done already.
func TestOneMailForACall(t *testing.T) {
	t.Parallel()
	var mails []string
	servers := standin.Servers(func(format string, args ...any) {
		mails = append(mails, fmt.Sprintf(format, args...))
	})
	way, err := standin.Connect(servers["reporting"])(t.Context())
	require.NoError(t, err)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), way, nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, session.Close()) })
	for _, key := range []string{"a", "a", "b"} {
		_, err := session.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "generate_final_report", Arguments: standin.Final{Report: map[string]string{},
				SendEmail: true}, Meta: sdk.Meta{"idempotencyKey": key},
		})
		require.NoError(t, err)
	}
	assert.Len(t, mails, 2)
}
