//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const envAnnounce = "ROUTEGEN_TEST_ANNOUNCE"

// TestAnnouncedChild is the process that announces itself and stays.
func TestAnnouncedChild(t *testing.T) {
	path := os.Getenv(envAnnounce)
	if path == "" {
		t.Skip("it is started by TestAProcessHasEndedWhenItIsKilledAndNotBefore")
	}
	id, _, err := opened(t, path).Announce(t.Context())
	require.NoError(t, err)
	_, _ = fmt.Fprintln(os.Stdout, "id:", id)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until it is killed
}

// A process has ended when it was killed; one that is only stopped has not.
func TestAProcessHasEndedWhenItIsKilledAndNotBefore(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	exe, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), exe, "-test.run=^TestAnnouncedChild$")
	child.Env = append(os.Environ(), envAnnounce+"="+path)
	in, err := child.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	var id string
	for lines := bufio.NewScanner(out); id == "" && lines.Scan(); {
		id, _ = strings.CutPrefix(lines.Text(), "id: ")
		if id == lines.Text() {
			id = ""
		}
	}
	require.NotEmpty(t, id)
	assert.False(t, s.Ended(id), "it is alive")
	require.NoError(t, child.Process.Signal(syscall.SIGSTOP))
	assert.False(t, s.Ended(id), "it is stopped, and may go on")
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	assert.True(t, s.Ended(id), "it was killed")
	assert.True(t, s.Ended(id), "and stays so, its file being gone")
	left, err := filepath.Glob(path + presenceInfix + "*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAnEngineThatLeftHasEnded(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	first, leave, err := s.Announce(context.Background())
	require.NoError(t, err)
	second, leaveToo, err := s.Announce(context.Background())
	require.NoError(t, err)
	defer leaveToo()
	assert.False(t, s.Ended(first), "in the same process too")
	leave()
	assert.True(t, s.Ended(first))
	assert.False(t, s.Ended(second))
	for _, id := range []string{"", "desk", "mem-1", "file-../threads"} {
		assert.False(t, s.Ended(id), "%q was not announced here", id)
	}
}

// Engines that announce themselves while others look for ended ones are never taken for ended.
func TestAnEngineThatBeginsBesideOthersHasNotEnded(t *testing.T) {
	t.Parallel()
	path := file(t)
	first := opened(t, path)
	stores := []*Store{first}
	for range 3 {
		stores = append(stores, opened(t, path))
	}
	var all sync.WaitGroup
	for _, s := range stores {
		all.Go(func() {
			for range 200 {
				id, leave, err := s.Announce(t.Context()) // which looks at the files of all others
				if !assert.NoError(t, err) {
					return
				}
				assert.False(t, first.Ended(id))
				leave()
			}
		})
	}
	all.Wait()
}
