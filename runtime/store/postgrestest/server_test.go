//go:build linux

package postgrestest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is also the programs that the tests run.
func TestMain(m *testing.M) {
	dir := os.Getenv("POSTGRESTEST_DIR")
	if dir == "" {
		os.Exit(Run(m))
	}
	s, err := StartInstance(dir)
	if err != nil {
		_, _ = fmt.Println("failed:", err) //nolint:forbidigo // the other end reads it
		os.Exit(1)
	}
	_, _ = fmt.Println(s.process.Pid) //nolint:forbidigo // the other end reads it
	select {}
}

// A server ends with the program that started it, however that ends.
func TestAServerEndsWithItsProgram(t *testing.T) {
	t.Parallel()
	if _, err := binaries(); err != nil {
		Need(t, err)
	}
	dir, err := os.MkdirTemp("", "routegen-killed-") //nolint:usetesting // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := exec.CommandContext(t.Context(), os.Args[0])
	program.Env = append(os.Environ(), "POSTGRESTEST_DIR="+dir)
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err, line)
	require.NoError(t, syscall.Kill(pid, 0), "the server runs")
	require.NoError(t, program.Process.Kill())
	_ = program.Wait()
	require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, 20*time.Second,
		20*time.Millisecond)
}

// Where there is no server a test says that it was skipped, and fails where one has to be.
func TestAMissingServerSkipsOrFails(t *testing.T) {
	t.Parallel()
	if os.Getenv("POSTGRESTEST_MISSING") != "" {
		Need(t, ErrMissing)
		return
	}
	try := func(env ...string) (string, error) {
		again := exec.CommandContext(context.Background(), os.Args[0], "-test.v",
			"-test.run=^TestAMissingServerSkipsOrFails$")
		again.Env = slices.Concat(env, []string{"POSTGRESTEST_MISSING=1"})
		out, err := again.CombinedOutput()
		return string(out), err
	}
	out, err := try()
	require.NoError(t, err, out)
	assert.Contains(t, out, "SKIPPED: there is no PostgreSQL here")
	out, err = try("ROUTEGEN_POSTGRES_TESTS=required")
	require.Error(t, err, out)
	assert.Contains(t, out, "there is no PostgreSQL here: .ci/postgres installs Debian's package")
}
