package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
)

// partialSuffix is added to the name of a file as long as a copy into it has not ended.
const partialSuffix = ".partial"

const (
	lastEntry = `SELECT t.id, l.seq FROM log l JOIN thread t ON t.n = l.thread
		ORDER BY l.n DESC LIMIT 1`
	lastInterrupt = `SELECT id FROM interrupt ORDER BY n DESC LIMIT 1`
	findThread    = `SELECT 1 FROM thread WHERE id = ?`
)

// OpenImport opens the file that a copy of another store is written to: PATH.partial, which a copy
// that was stopped goes on with, and which gets its name by EndImport. Where the file is there with
// its own name, it opens that to read, with done. It returns the errors of [Open] and
// [OpenReading].
func OpenImport(ctx context.Context, path string) (s *Store, done bool, err error) {
	partial := path + partialSuffix
	there, err := os.Stat(path)
	if err != nil {
		s, err = Open(ctx, partial, Config{})
		return s, false, err
	}
	// a process that was killed in EndImport leaves both names
	if had, err := os.Stat(partial); err == nil && os.SameFile(had, there) {
		if err = os.Remove(partial); err != nil {
			return nil, false, wrapError(fmt.Sprintf("open %.200q", path), err)
		}
	}
	s, err = OpenReading(ctx, path)
	return s, true, err
}

// ImportPlace returns how far the copy has come.
func (s *Store) ImportPlace(ctx context.Context) (at record.Place, err error) {
	err = s.withReader(ctx, "read the end of a copy",
		func(ctx context.Context, c *conn) error { return readPlace(ctx, c, &at) })
	return at, err
}

func readPlace(ctx context.Context, c *conn, at *record.Place) error {
	err := c.query(ctx, func(row []driver.Value) bool {
		at.Thread, at.Seq = textValue(row[0]), intValue(row[1])
		return false
	}, lastEntry)
	if err == nil {
		err = c.query(ctx, func(row []driver.Value) bool {
			at.Interrupt = textValue(row[0])
			return false
		}, lastInterrupt)
	}
	return err
}

// ImportPart writes the next part of a copy in one transaction. It returns CodeConflict unless the
// copy has come to that place: another process copies into the same file.
func (s *Store) ImportPart(ctx context.Context, after record.Place, p *record.Part) error {
	const op = "write a part of a copy"
	rows, err := p.Rows()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock() // nothing else writes to a file that is being made
	if s.closed || s.writing {
		return wrapError(op, errClosed)
	}
	ctx = context.WithoutCancel(ctx)
	if err = s.beginTransaction(ctx); err != nil {
		return wrapError(op, err)
	}
	var at record.Place
	if err = readPlace(ctx, s.writer, &at); err == nil && at != after {
		err = runtime.Errorf(runtime.CodeConflict, "", "something else has written to it: "+
			"let one copy run at a time")
	}
	for n := 0; err == nil && n < len(rows); n++ {
		err = s.importRow(ctx, &rows[n])
	}
	if err == nil {
		err = s.runQuery(ctx, commitStmt)
	}
	if err != nil {
		s.rollBack(ctx)
	}
	return wrapError(op, err)
}

// importRow writes a row, and its thread if that is not there.
func (s *Store) importRow(ctx context.Context, r *record.Row) error {
	there, err := s.writer.queryValue(ctx, findThread, r.ID)
	if err != nil {
		return err
	}
	if there == nil {
		r.Before = 0
		shape, err := s.shapeNumber(ctx, r.Fingerprint)
		if err == nil {
			err = s.applyThread(ctx, new(job), r, shape)
		}
		if err != nil {
			return err
		}
	} else if err = s.applyRequests(ctx, new(job), r); err != nil {
		return err
	}
	return s.applyEntries(ctx, r)
}

// EndImport closes the file and gives it its name.
func (s *Store) EndImport(context.Context) error {
	path := s.path[:len(s.path)-len(partialSuffix)]
	err := s.Close() //nolint:contextcheck // it has to end
	if err == nil {
		err = publish(s.path, path)
	}
	if err == nil {
		if err = os.Remove(s.path); errors.Is(err, os.ErrNotExist) { // it was renamed
			err = nil
		}
	}
	return wrapError(fmt.Sprintf("make %.200q", path), err)
}
