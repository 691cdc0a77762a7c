package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// watch tells without asking SQLite whether anything was written to a file, by whatever process: the header of its index of the write-ahead
// log, which all of them share, is another one after every transaction with a write (sqlite.org/walformat.html). Reading it is one short system
// call, where a query that finds nothing new takes several, and locks.
//
// It is used to learn that nothing happened, never what did: where the header is another one than expected, the file is asked.
type watch struct {
	path  string
	users int
	file  atomic.Pointer[os.File]
}

// watches has one for each file. The locks of SQLite in this process end when any handle of the file is closed, so stores of one file share
// theirs, and it is closed after the last of their connections.
var watches struct {
	sync.Mutex
	list []*watch
}

// watching returns the watch of a file, before a connection to it is opened.
func watching(path string) *watch {
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil { // one file has one watch; SQLite goes the same way
		path = filepath.Join(folder, filepath.Base(path))
	}
	watches.Lock()
	defer watches.Unlock()
	for _, w := range watches.list {
		if w.path == path {
			w.users++
			return w
		}
	}
	w := &watch{path: path, users: 1}
	watches.list = append(watches.list, w)
	return w
}

// look opens the index once a connection has made it. Where that cannot be, the watch never knows.
func (w *watch) look() {
	watches.Lock()
	defer watches.Unlock()
	name := w.path + "-shm"
	now, err := os.Stat(name)
	if err != nil {
		return
	}
	had := w.file.Load()
	if had != nil {
		if info, err := had.Stat(); err == nil && os.SameFile(info, now) {
			return
		}
	}
	file, err := os.Open(name)
	if err != nil {
		file = nil
	}
	w.file.Store(file)
	if had != nil {
		_ = had.Close() // of an index that SQLite has removed
	}
}

// read returns the header, and whether it could be read.
func (w *watch) read() (h header, ok bool) {
	file := w.file.Load()
	if file == nil {
		return h, false
	}
	n, err := file.ReadAt(h[:], 0)
	return h, n == len(h) && err == nil
}

// leave ends the use, after the connections are closed.
func (w *watch) leave() {
	watches.Lock()
	defer watches.Unlock()
	if w.users--; w.users > 0 {
		return
	}
	if file := w.file.Swap(nil); file != nil {
		_ = file.Close() // it was only read
	}
	for n := range watches.list {
		if watches.list[n] == w {
			watches.list = append(watches.list[:n], watches.list[n+1:]...)
			return
		}
	}
}
