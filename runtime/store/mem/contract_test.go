package mem_test

import (
	"testing"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/storetest"
)

// TestContract holds the store to the contract of every store.
func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Opened {
		s := mem.Open()
		return storetest.Opened{Store: s, Close: s.Close}
	})
}
