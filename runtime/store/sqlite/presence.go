//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/routegen/routegen/runtime/thread"
)

// Announce implements [thread.Presence] with a file beside the database, NAME-engine-ID, that the
// process keeps locked. The system releases the lock when the process ends, in whatever way; a
// stopped process keeps it. Files of engines that have ended are removed.
func (s *Store) Announce(context.Context) (id string, leave func(), err error) {
	if _, err = s.Engines(); err != nil {
		return "", nil, wrapError("announce", err)
	}
	var file *os.File
	for range 10 {
		id = presencePrefix + strings.ToLower(rand.Text())
		if file, err = s.lockNew(id); err == nil {
			break
		}
	}
	if err != nil {
		return "", nil, wrapError("announce", err)
	}
	return id, func() {
		// while it is locked: a later reader finds it unlocked too
		_ = os.Remove(file.Name())
		_ = file.Close()
	}, nil
}

// Engines returns the ids of the engines that have the file open, in this process or another one of
// this machine. It removes what the ended ones have left.
func (s *Store) Engines() (present []string, err error) {
	prefix := filepath.Base(s.path) + presenceInfix
	files, err := os.ReadDir(filepath.Dir(s.path))
	for _, f := range files {
		if id, ok := strings.CutPrefix(f.Name(), prefix); ok && !s.Ended(presencePrefix+id) {
			present = append(present, presencePrefix+id)
		}
	}
	return present, wrapError("look for engines", err)
}

// lockNew makes the file of an engine and locks it. It fails when another process took the file for
// that of an ended one in between, and removed it.
func (s *Store) lockNew(id string) (*os.File, error) {
	file, err := os.OpenFile(s.presencePath(id), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = flock(file); err == nil {
		var ours, there os.FileInfo
		if ours, err = file.Stat(); err == nil {
			there, err = os.Stat(file.Name())
		}
		if err == nil && !os.SameFile(ours, there) {
			err = errors.New("it is another file")
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return file, nil
}

// Ended implements [thread.Presence].
func (s *Store) Ended(id string) bool {
	if !strings.HasPrefix(id, presencePrefix) || strings.ContainsAny(id, `/\`) {
		return false
	}
	file, err := os.OpenFile(s.presencePath(id), os.O_RDWR, 0)
	if err != nil {
		return os.IsNotExist(err)
	}
	defer func() { _ = file.Close() }()
	if flock(file) != nil {
		return false
	}
	_ = os.Remove(file.Name())
	return true
}

const (
	presenceInfix  = "-engine-"
	presencePrefix = "file-" // of the ids made here
)

func (s *Store) presencePath(id string) string {
	return s.path + presenceInfix + strings.TrimPrefix(id, presencePrefix)
}

// flock locks an open file, or says why not, at once.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

var _ thread.Presence = (*Store)(nil)
