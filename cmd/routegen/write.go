package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// disk is what writing needs of a folder. Paths are slash-separated, relative to it, and cannot
// leave it.
type disk interface {
	Mkdir(name string) error
	// WriteTemp creates a file that must not exist.
	WriteTemp(name string, text []byte) error
	Rename(from, to string) error
	Remove(name string) error
}

// partError says that a write broke off after the first file was replaced. Every file is still
// wholly old or wholly new.
type partError struct {
	done, total int
	err         error
}

// Error says how far it came and what completes it.
func (e *partError) Error() string {
	return fmt.Sprintf("%v; %d of %d files were replaced, the others are as before: run routegen "+
		"generate again to complete it",
		e.err, e.done, e.total)
}

// Unwrap returns the cause.
func (e *partError) Unwrap() error { return e.err }

// write makes a survey's changes happen. All new text stands in temporary files before the first
// file is replaced, so a full disk changes nothing. Files are then replaced one by one, and only
// then the left-over ones removed: whenever it stops, every file is wholly old or wholly new. An
// error before the first replacement leaves no trace. Nothing waits for the device: what a power
// cut loses, check names and generate makes again.
func write(d disk, s *survey) error {
	w := &writer{disk: d}
	pending := ordered(s.Changes)
	if err := w.stage(s.missing, pending); err != nil {
		w.undo()
		return err
	}
	done := 0
	for i, c := range pending {
		var err error
		if c.Status == removed {
			if err = d.Remove(c.Path); errors.Is(err, os.ErrNotExist) {
				err = nil // another run was faster
			}
		} else if err = d.Rename(w.temps[i], c.Path); err == nil {
			w.temps[i] = ""
		}
		if err != nil {
			if done == 0 {
				w.undo()
				return err
			}
			w.dropTemps()
			return &partError{done, len(pending), err}
		}
		done++
	}
	if err := w.removeEmptyFolders(s.empty); err != nil {
		return &partError{done, len(pending), err}
	}
	return nil
}

// writer is one write under way.
type writer struct {
	disk  disk
	temps []string // by index of the change; "" when there is none, or no longer
	made  []string // folders made, parents first
}

// ordered returns what has to be done, in the order that breaks the least if it stops: data that Go
// files embed, then Go files, then prose, then removals.
func ordered(changes []fileChange) []fileChange {
	out := slices.Clone(changes)
	rank := func(c fileChange) int {
		switch {
		case c.Status == removed:
			return 3
		case path.Ext(c.Path) == ".json":
			return 0
		case path.Ext(c.Path) == ".go":
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(out, func(a, b fileChange) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Path, b.Path))
	})
	return out
}

// stage makes the folders and writes every temporary file.
func (w *writer) stage(missing []string, pending []fileChange) error {
	for _, dir := range missing {
		if err := w.disk.Mkdir(dir); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		w.made = append(w.made, dir)
	}
	w.temps = make([]string, len(pending))
	for i, c := range pending {
		if c.Status != removed {
			name := tempOf(c.Path)
			w.temps[i] = name
			if err := w.disk.WriteTemp(name, c.New); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEmptyFolders removes folders that have become empty.
func (w *writer) removeEmptyFolders(empty []string) error {
	for _, dir := range empty {
		if err := w.disk.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// dropTemps removes the temporary files that are left. Whatever resists is removed by the next
// generate.
func (w *writer) dropTemps() {
	for _, name := range w.temps {
		if name != "" {
			_ = w.disk.Remove(name)
		}
	}
}

// undo removes all that staging has made.
func (w *writer) undo() {
	w.dropTemps()
	for _, dir := range slices.Backward(w.made) {
		_ = w.disk.Remove(dir)
	}
}

// rootDisk is the real disk below one folder.
type rootDisk struct{ root *os.Root }

// openDisk returns the real disk below an open folder.
func openDisk(root *os.Root) disk { return rootDisk{root} }

// Mkdir makes one folder.
func (d rootDisk) Mkdir(name string) error { return d.root.Mkdir(name, 0o755) }

// WriteTemp creates the file and writes it.
func (d rootDisk) WriteTemp(name string, text []byte) (err error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(text)
	return err
}

// Rename replaces a file in one step.
func (d rootDisk) Rename(from, to string) error { return d.root.Rename(from, to) }

// Remove removes a file or an empty folder.
func (d rootDisk) Remove(name string) error { return d.root.Remove(name) }
