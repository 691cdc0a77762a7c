package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/routegen/routegen/runtime"
)

// openFiles are the files that a store has open, as they were found under their names.
type openFiles map[string]os.FileInfo

// filesOf looks at the file and its write-ahead log, which stand there as long as the store is
// open.
func filesOf(path string) (openFiles, error) {
	path, err := filepath.EvalSymlinks(path) // SQLite keeps the log beside the file itself
	if err != nil {
		return nil, err
	}
	at := openFiles{}
	for _, name := range []string{path, path + "-wal"} {
		if at[name], err = os.Stat(name); err != nil {
			return nil, err
		}
	}
	return at, nil
}

var errReplaced = runtime.Errorf(runtime.CodeUnavailable, "",
	"the database file or its -wal was deleted, moved or replaced while it is open: what is "+
		"committed now would be lost with it; "+
		"put the files back, or restart the program")

// checkReplaced returns an error if the file was deleted or replaced while it was open, since
// commits to the old file would be lost.
func (s *Store) checkReplaced(ctx context.Context) error {
	for name, open := range s.files {
		if now, err := os.Stat(name); err == nil && os.SameFile(now, open) || err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			continue // what cannot be looked at is for the commit to find out
		}
		if !s.replaced.Swap(true) {
			s.log.ErrorContext(ctx, "commits are refused: a database file was deleted, moved or "+
				"replaced while it is open", "file", name)
		}
		return errReplaced
	}
	if s.replaced.Swap(false) {
		s.log.WarnContext(ctx, "the database file is back in its place: commits go on")
	}
	return nil
}
