package workflow

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// payment has a hidden field that is required, so its Go field is in every JSON form of it, filled
// or not.
type payment struct {
	Policy string  `json:"policy"`
	Amount float64 `json:"amount"`
}

var paymentShape = runtime.Shape{Name: "Payment",
	Fields: []runtime.Field{{Name: "policy", Required: true, Hidden: true},
		{Name: "amount", Required: true}}}

func (*payment) Shape() *runtime.Shape { return &paymentShape }

// TestRequiredHiddenFieldsAreKept: a model has written a request without its hidden field, which
// encodes as empty. The stored one counts; what a decorator has set counts more; and where nothing
// is stored the field stays as it is.
func TestRequiredHiddenFieldsAreKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ request, stored, want string }{
		"of a model": {`{"policy":"","amount":5}`, `{"policy":"P-1","amount":9}`,
			`{"policy":"P-1","amount":5}`},
		"of a decorator": {`{"policy":"P-2","amount":5}`, `{"policy":"P-1","amount":9}`,
			`{"policy":"P-2","amount":5}`},
		"visible zero": {`{"policy":"","amount":0}`, `{"policy":"P-1","amount":9}`,
			`{"policy":"P-1","amount":0}`},
		"never ran": {`{"policy":"","amount":5}`, ``, `{"policy":"","amount":5}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stored json.RawMessage
			if c.stored != "" {
				stored = json.RawMessage(c.stored)
			}
			got, err := keepHidden(new(payment), json.RawMessage(c.request), stored, nil)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
}
