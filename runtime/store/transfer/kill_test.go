//go:build unix

package transfer_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/store/transfer"
	"github.com/routegen/routegen/runtime/thread"
)

// childEnv makes this test binary a process that copies: FROM, TO and the schema, one a line.
const childEnv = "ROUTEGEN_COPY_CHILD"

// TestCopyChild is no test: it is the main function of a process that gets killed.
func TestCopyChild(t *testing.T) { //nolint:paralleltest // it is alone in its process
	told := os.Getenv(childEnv)
	if told == "" {
		t.Skip("TestACopyThatIsKilledGoesOn runs this in a process of its own")
	}
	args := strings.Split(told, "\n")
	var from thread.Store
	var to transfer.Target
	var err error
	if strings.HasPrefix(args[0], "postgres:") {
		from, err = postgres.Open(t.Context(), args[0], postgres.Config{Schema: args[2]})
		require.NoError(t, err)
		to, _, err = sqlite.OpenImport(t.Context(), args[1])
	} else {
		from = reading(t, args[0])
		to, _, err = postgres.OpenImport(t.Context(), args[1], postgres.Config{Schema: args[2]})
	}
	require.NoError(t, err)
	_, err = transfer.Copy(t.Context(), from, to, func(n int) {
		_, _ = fmt.Fprintln(os.Stdout, "copied", n)
	})
	require.NoError(t, err)
	_, _ = fmt.Fprintln(os.Stdout, "ended")
}

// killed runs a copy in processes of its own, each of which is killed at another place, until one
// ends. It returns how many were killed.
func killed(t *testing.T, order ...string) (kills int) {
	t.Helper()
	for ; ; kills++ {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCopyChild$")
		child.Env = append(os.Environ(), childEnv+"="+strings.Join(order, "\n"))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		ended, lines := false, bufio.NewScanner(out)
		for left := kills%3 + 1; left > 0 && !ended && lines.Scan(); {
			ended = lines.Text() == "ended"
			if strings.HasPrefix(lines.Text(), "copied") {
				left--
			}
		}
		if ended {
			require.NoError(t, child.Wait())
			return kills
		}
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		require.Less(t, kills, 100)
	}
}

// TestACopyThatIsKilledGoesOn kills copies in both directions at many places. What they end with is
// what a copy that nothing has stopped ends with.
func TestACopyThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	path := rich(t)
	many(t, path, 12, 220)
	_, whole := toFile(t, reading(t, path))

	d := postgrestest.New(t)
	kills := killed(t, path, d.URL, d.Schema)
	assert.Greater(t, kills, 3)
	back := file(t)
	kills = killed(t, d.URL, back, d.Schema)
	assert.Greater(t, kills, 3)
	for _, s := range []thread.Store{on(t, d), reading(t, back)} {
		found, err := transfer.Compare(t.Context(), reading(t, path), s)
		require.NoError(t, err)
		assert.Equal(t, whole, found)
	}
	require.NoFileExists(t, back+".partial")
}
