package sqlite

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/routegen/routegen/runtime"
)

// OpenReading opens the file of a store to read from it, whether programs have it open or it is a
// copy, and changes nothing: it makes and migrates no file, and announces no process. A file that
// no program has open must not be opened by one meanwhile. Commit refuses with CodeUnavailable.
//
// It returns the errors of [Open], and CodeIncompatible also for a file of an older version, which
// a program has to open first.
func OpenReading(ctx context.Context, path string) (*Store, error) {
	op := fmt.Sprintf("read %.200q", path)
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	s := &Store{path: path, log: slog.Default(), readers: make(chan *conn, 1),
		done: make(chan struct{}), readOnly: true}
	name := dsn(path, append(looking, "_query_only=on")...)
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() == 0 {
		if _, err := os.Stat(path + "-shm"); err != nil { // nobody has it open
			name = dsn(path, append(looking, "_query_only=on", "immutable=1")...)
		}
	}
	err = s.openReaders(ctx, name)
	if err != nil {
		_ = s.disconnect(ctx) // what went wrong is said by err
		return nil, wrapError(op, err)
	}
	return s, nil
}

func (s *Store) openReaders(ctx context.Context, name string) (err error) {
	if s.writer, err = openConn(name); err != nil {
		return err
	}
	at, err := fileVersion(ctx, s.writer)
	if err != nil {
		return err
	}
	if at != len(migrations) {
		return runtime.Errorf(runtime.CodeIncompatible, "",
			"it has version %d, and this program reads version %d: open it once with a program "+
				"of this version, or a copy of it", at, len(migrations))
	}
	c, err := openConn(name)
	if err != nil {
		return err
	}
	s.readers <- c
	s.all++
	return nil
}
