// Package sqlite keeps threads in one SQLite file: a [thread.Store] that loses nothing it has
// acknowledged, on one machine.
//
// # What is promised
//
// Commit returns after one fsync of a write-ahead log in mode FULL. The settings behind that are
// read back when the file is opened, and a file system that does not take them is refused. Commits
// that arrive while another one is being synced go to disk together, in one transaction; each is
// still refused or done on its own. A lone caller pays no hand-off to another goroutine.
//
// A row of the file that was damaged is found by its checksum when it is read, and refused with
// CodeInternal; other threads go on. Two processes may use one file: the version of a thread
// decides, as between goroutines.
//
// # What it costs
//
// A commit is three short statements: the thread, the interrupt, and one row of the log for all its
// entries. Load is one statement. Neither grows with the history of a thread or with the number of
// other threads. A page of the inbox costs what it returns; filters look at the rows that they pass
// over. A query for final interrupts over all threads, and one for threads of a status other than
// running, read all; by age, a page of final interrupts costs what it returns too.
//
// # What damage does
//
// After a stop that was not clean, Open checks the structure of the file and refuses a damaged one;
// after a clean stop it does not, and a row that an index has lost is missing without an error. The
// write-ahead log is another thing: after a stop that was not clean it holds what was committed
// last, and SQLite reads it up to the first frame whose checksum is wrong. What comes after that
// frame, or was cut off, or was in a log that was deleted, is taken back without an error, although
// it was acknowledged. A disk that damages what it has synced can so lose the last commits, and no
// checksum of a row shows it.
//
// A file that is deleted, moved or replaced while it is open is noticed at the next commit, and by
// an engine at its next look at what is due (thread.Config.Poll): commits are refused with
// CodeUnavailable, and the log of the program says why. A file that another program writes into is
// not noticed.
//
// # What is in the file
//
// A record is the JSON of its type, in the column json, which sqlite3 reads from version 3.38 on:
//
//	sqlite3 -readonly threads.db "SELECT id, json ->> '$.user', json ->> '$.created' FROM thread"
//
// A row of the log is an array of the entries of a commit; one without a time has that of the entry
// before. The id and the fingerprint of a thread, and id, thread, kind and node of an interrupt are
// in columns only. The column crc is a checksum: a record changed by hand is refused as damaged.
// One with a field that this program does not know is refused with CodeIncompatible. Commit refuses
// with CodeInvalid what JSON cannot hold: a value that is not JSON, a text that is not UTF-8, a
// time after the year 9999. Spaces in values are not kept.
//
// [Store.Backup] makes a copy while the store is used. A copy of the file alone is not a backup:
// see there.
//
// The file must be on a local disk, and nothing else in the process may open it: the locks of
// SQLite end when any handle of the file is closed.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Config is how a file is opened. Its zero value works.
type Config struct {
	Readers int          // connections that read at the same time, 2 to 8; 0 means 4
	Log     *slog.Logger // hears of damaged rows that a query left out; nil means [slog.Default]
}

// Store is a [thread.Store] in a SQLite file. [Open] makes one. Any number of goroutines may use
// it.
type Store struct {
	path    string
	log     *slog.Logger
	readers chan *conn // the idle ones
	all     int        // how many there are
	done    chan struct{}

	readOnly bool // writer reads, too

	files    openFiles   // of this store
	replaced atomic.Bool // another one stands where an open one stood

	mu    sync.Mutex // of what follows
	queue []*job     // commits that wait for the writer
	// a job writes, and hands the writer to the first of the queue afterwards
	writing bool
	closed  bool

	// The rest belongs to the job that writes.
	writer *conn
	shapes map[string]int64 // numbers of fingerprints
	fresh  map[string]int64 // those of this transaction
}

var _ thread.Store = (*Store)(nil)

// Open opens the file, or makes it. A relative path is resolved when Open is called. A file that it
// makes, and those that stand beside it, only their owner may read and write, whatever the umask;
// one that is there keeps its mode, and gives it to those beside it.
//
// It returns CodeIncompatible for a file of another program or of a newer version, which it leaves
// as it is; CodeInternal for a damaged file, which it checks for if the file was not closed or is
// open elsewhere; and CodeUnavailable if the file cannot be read and written, or its file system
// does not keep what is promised.
//
// It migrates a file of an older version in one transaction: the whole file, or nothing. Older
// programs cannot open it afterwards, and must not have it open meanwhile. From before version 4
// every record is written again, which takes up to four times the file's size on the disk; who
// opens it meanwhile gets CodeUnavailable after ten seconds. A damaged record stays as it is.
func Open(ctx context.Context, path string, cfg Config) (*Store, error) {
	op := fmt.Sprintf("open %.200q", path)
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	if cfg.Readers == 0 {
		cfg.Readers = 4
	}
	cfg.Readers = min(max(cfg.Readers, 2), 8)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	s := &Store{
		path: path, log: cfg.Log, readers: make(chan *conn, cfg.Readers), done: make(chan struct{}),
		shapes: map[string]int64{}, fresh: map[string]int64{},
	}
	if err := s.openFile(ctx, path, cfg.Readers); err != nil {
		_ = s.disconnect(ctx) // what went wrong is said by err
		return nil, wrapError(op, err)
	}
	return s, nil
}

func (s *Store) openFile(ctx context.Context, path string, readers int) error {
	if err := checkLocalDisk(filepath.Dir(path)); err != nil {
		return err
	}
	wal, _ := os.Stat(path + "-wal") // a clean stop leaves none, or an empty one
	if file, err := os.Stat(path); err == nil && file.Size() > 0 {
		if err := checkForeign(ctx, path); err != nil {
			return err
		}
	}
	// SQLite makes its other files with the mode of this one
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if s.writer, err = openConn(dsn(path, settings...)); err != nil {
		return err
	}
	if err := verifySettings(ctx, s.writer); err != nil {
		return err
	}
	if wal != nil && wal.Size() > 0 {
		if err := checkFile(ctx, s.writer); err != nil {
			return err
		}
	}
	if err := s.migrateFile(ctx); err != nil {
		return err
	}
	for range readers {
		c, err := openConn(dsn(path, reading...))
		if err != nil {
			return err
		}
		s.readers <- c
		s.all++
		if err := verifySettings(ctx, c); err != nil {
			return err
		}
	}
	s.files, err = filesOf(path)
	return err
}

// checkForeign returns an error for a file of another program, before anything writes to it.
func checkForeign(ctx context.Context, path string) error {
	c, err := openConn(dsn(path, looking...))
	if err != nil {
		return err
	}
	_, err = fileVersion(ctx, c)
	return errors.Join(err, c.closeAll())
}

// Close waits for the commits that have begun, moves the log into the file and closes it.
// Afterwards, and for commits that still wait, every method refuses with CodeUnavailable. It may be
// called again, and does nothing then.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	last := &job{result: make(chan jobResult, 1)}
	alone := !s.writing
	if !alone {
		for _, j := range s.queue {
			j.result <- jobResult{err: errClosed}
		}
		s.queue = append(s.queue[:0], last)
	}
	s.writing = true
	s.mu.Unlock()
	if !alone {
		<-last.result // the writer is ours
	}
	close(s.done)
	return wrapError("close", s.disconnect(context.Background()))
}

// disconnect closes the connections: readers first, so that the last one takes the log with it.
func (s *Store) disconnect(ctx context.Context) error {
	var errs []error
	for range s.all {
		errs = append(errs, (<-s.readers).closeAll())
	}
	switch {
	case s.writer == nil:
	case s.readOnly:
		errs = append(errs, s.writer.closeAll())
	default:
		_, err := s.writer.queryValue(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err, s.writer.closeAll())
	}
	return errors.Join(errs...)
}

var errClosed = runtime.Errorf(runtime.CodeUnavailable, "", "the store is closed")

// acquireReader returns a connection to read with, to be given back with releaseReader.
func (s *Store) acquireReader(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-s.done:
		return nil, errClosed
	default:
	}
	select {
	case c := <-s.readers:
		return c, nil
	case <-s.done:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Store) releaseReader(c *conn) { s.readers <- c }
