package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/store/storetest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opened {
		t.Helper()
		path := filepath.Join(t.TempDir(), "threads.db")
		open := func() *sqlite.Store {
			s, err := sqlite.Open(context.Background(), path, sqlite.Config{})
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		s := open()
		return storetest.Opened{
			Store: s,
			Close: s.Close,
			Reopen: func() runtime.Store {
				require.NoError(t, s.Close())
				s = open()
				return s
			},
			Second: func() runtime.Store { return open() },
		}
	})
}
