package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/routegen/routegen/runtime"
)

// Backup writes a copy of the store to a new file: one that [Open] opens, with everything that was
// committed before the call, and whole commits only. Commits, reads and engines go on meanwhile;
// one of the readers is busy with it. The copy is compact, and is on the disk under its name when
// Backup returns. Until then it has another name, path and ".partial-", and a random part, which is
// removed when Backup fails; a process that is killed leaves it behind.
//
// It refuses a path that exists with CodeInvalid, a store that is closed, a disk that is full and a
// context that ends with CodeUnavailable, and a damaged store with CodeInternal.
//
// A file copy is no backup: what was committed last is in the write-ahead log beside the file, and
// of a young store all of it. cp of the file alone gives an empty store, or an old one, that opens
// without complaint.
//
// To restore, stop the program, move the file, its -wal and its -shm away, and put the copy in
// their place. A -wal that is left from another file must not stand beside it.
func (s *Store) Backup(ctx context.Context, path string) error {
	op := fmt.Sprintf("back up to %.200q", path)
	path, err := filepath.Abs(path)
	if err != nil {
		return wrapError(op, err)
	}
	if _, err = os.Lstat(path); err == nil {
		return runtime.Errorf(runtime.CodeInvalid, op, "%w", fs.ErrExist)
	}
	return s.withReader(ctx, op, func(ctx context.Context, c *conn) error {
		partial, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*")
		if err != nil {
			return err
		}
		// it has its own name then, or is not wanted
		defer func() { _ = os.Remove(partial.Name()) }()
		err = s.copyTo(ctx, c, partial.Name())
		if err == nil { // SQLite does not sync what it writes here
			err = partial.Sync()
		}
		if err = errors.Join(err, partial.Close()); err != nil {
			return err
		}
		return publish(partial.Name(), path)
	})
}

// copyTo writes the copy with a reader, which may write for that long.
func (s *Store) copyTo(ctx context.Context, c *conn, name string) error {
	whole := context.WithoutCancel(ctx)
	if _, _, err := c.exec(whole, "PRAGMA query_only = 0"); err != nil {
		return err
	}
	_, _, err := c.exec(ctx, "VACUUM INTO ?", name)
	_, _, back := c.exec(whole, "PRAGMA query_only = 1")
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	return errors.Join(err, back)
}

// publish gives a complete file its name, which nothing else must have, and makes that durable.
func publish(from, to string) error {
	err := os.Link(from, to) // unlike a rename it overwrites nothing
	switch {
	case errors.Is(err, fs.ErrExist):
		return runtime.Errorf(runtime.CodeInvalid, "", "%w", err)
	case err != nil: // not every file system has links
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return syncFolder(filepath.Dir(to))
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if goruntime.GOOS == "windows" { // it cannot be done there, and need not
		err = nil
	}
	return errors.Join(err, folder.Close())
}
