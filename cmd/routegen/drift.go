package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/routegen/routegen/generator/spec"
)

// status says what generate does to one file.
type status string

// The states of a file that is not as generated.
const (
	created status = "created" // planned, and does not exist
	changed status = "changed" // planned, and exists with another text
	removed status = "removed" // ours, no longer planned, or a temporary file of a killed run
)

// fileChange is one file of the output folders that is not as generated.
type fileChange struct {
	Path   string // relative to the root, slash-separated
	Status status
	Old    []byte // text on disk, with its own line ends
	New    []byte // text to be written
	Why    string // for people
}

// lines returns the numbers of lines that the change adds and removes.
func (c fileChange) lines() (added, deleted int) {
	before, after := string(foldLines(c.Old)), string(c.New)
	for _, e := range udiff.Lines(before, after) {
		deleted += countLines(before[e.Start:e.End])
		added += countLines(e.New)
	}
	return added, deleted
}

// countLines counts lines; the last one counts without a line end too.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// survey is how the output folders differ from what they should be. None of it has been done yet.
type survey struct {
	Changes   []fileChange // sorted by path
	Unchanged int
	missing   []string // folders to make, parents first
	empty     []string // folders to remove once the changes are made
}

// pending reports whether generating would change anything on disk.
func (s *survey) pending() bool {
	return len(s.empty) > 0 || len(s.Changes) > 0
}

// outError says that a path that the spec names for the output cannot be used. Either the spec
// names another one, or a person moves what is there.
type outError struct {
	rule   string // OUT_INVALID or OUT_FOREIGN
	path   string
	reason string
}

// Error returns the path and the reason.
func (e *outError) Error() string { return e.path + " " + e.reason }

// surveyor compares planned files with what is on disk. It only reads.
type surveyor struct {
	root    *os.Root
	owner   owner
	planned map[string][]byte // by path relative to the root
	// output folders, relative to the root, inner ones first; nothing else is scanned
	folders []string
}

// survey reads the output folders. It returns an outError in the joined error for a folder that
// leads outside of the module or is not a folder, and for each planned path with a file that this
// program did not generate from the same spec.
func (s surveyor) survey() (*survey, error) {
	out := &survey{}
	for _, dir := range s.folders {
		missing, err := s.checkFolder(dir)
		if err != nil {
			return nil, err
		}
		for _, m := range missing {
			if !slices.Contains(out.missing, m) && s.needed(m) {
				out.missing = append(out.missing, m)
			}
		}
	}
	var refused []error
	for name, text := range s.planned {
		c, err := s.compare(name, text)
		switch {
		case err != nil:
			refused = append(refused, err)
		case c == nil:
			out.Unchanged++
		default:
			out.Changes = append(out.Changes, *c)
		}
	}
	if len(refused) > 0 {
		slices.SortFunc(refused, func(a, b error) int {
			return strings.Compare(a.Error(), b.Error())
		})
		return nil, errors.Join(refused...)
	}
	for _, dir := range s.folders {
		if err := s.scan(dir, out); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out.Changes, func(a, b fileChange) int {
		return strings.Compare(a.Path, b.Path)
	})
	slices.Sort(out.missing)
	return out, nil
}

// needed reports whether a planned file is below a folder.
func (s surveyor) needed(dir string) bool {
	for name := range s.planned {
		if within(dir, name) {
			return true
		}
	}
	return false
}

// within reports whether a slash path is below a folder.
func within(dir, name string) bool {
	return dir == "." || len(name) > len(dir) && name[len(dir)] == '/' && name[:len(dir)] == dir
}

// checkFolder walks down to an output folder. It returns the folders that do not exist yet.
func (s surveyor) checkFolder(dir string) (missing []string, err error) {
	if path.IsAbs(dir) || dir == ".." || within("..", dir) {
		return nil, &outError{spec.RuleOutInvalid, dir, "is outside of the module"}
	}
	for _, prefix := range prefixes(dir) {
		info, err := s.root.Lstat(prefix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, prefix)
			continue
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0:
			// Root does not follow a link that leaves it; a dangling link cannot be used either.
			info, err = s.root.Stat(prefix)
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				return nil, &outError{spec.RuleOutInvalid, prefix,
					"is a symbolic link that does not lead to a folder of the module"}
			} else if err != nil {
				return nil, err
			}
		}
		if !info.IsDir() {
			return nil, &outError{spec.RuleOutInvalid, prefix,
				"is a file, and a folder is needed there"}
		}
	}
	return missing, nil
}

// prefixes lists a folder's parents and itself, outermost first.
func prefixes(dir string) []string {
	var out []string
	for d := path.Clean(dir); d != "."; d = path.Dir(d) {
		out = append(out, d)
	}
	slices.Reverse(out)
	return out
}

// compare compares one planned file with the disk. It returns nil if the file exists, was generated
// from this spec, and is equal except for line ends.
func (s surveyor) compare(name string, text []byte) (*fileChange, error) {
	info, err := s.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fileChange{Path: name, Status: created, New: text, Why: "would be created"}, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &outError{spec.RuleOutForeign, name, "is not a regular file"}
	}
	old, err := s.root.ReadFile(name)
	switch {
	case err != nil:
		return nil, err
	case len(old) > 0 && !s.owner.owns(name, old):
		// an empty file, as a power cut may leave, can be replaced
		return nil, &outError{spec.RuleOutForeign, name,
			"was not generated from " + s.owner.source + ", and is in the way"}
	case bytes.Equal(foldLines(old), text):
		return nil, nil
	}
	return &fileChange{Path: name, Status: changed, Old: old, New: text,
		Why: "edited by hand or spec changed"}, nil
}

// scan finds the files of a folder that are not planned.
func (s surveyor) scan(dir string, out *survey) error {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	kept := 0
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			if !slices.Contains(s.folders, name) || !slices.Contains(out.empty, name) {
				kept++
			}
			continue
		}
		if _, planned := s.planned[name]; planned {
			kept++
			continue
		}
		c, err := s.leftOver(name, e)
		switch {
		case err != nil:
			return err
		case c == nil:
			kept++
		default:
			out.Changes = append(out.Changes, *c)
		}
	}
	if kept == 0 && !s.needed(dir) && dir != "." {
		out.empty = append(out.empty, dir)
	}
	return nil
}

// leftOver returns the removal of a file that is not planned, nil if this program did not write it.
func (s surveyor) leftOver(name string, e fs.DirEntry) (*fileChange, error) {
	if !e.Type().IsRegular() {
		return nil, nil
	}
	if isAbandoned(e.Name()) {
		return &fileChange{Path: name, Status: removed,
			Why: "left behind by a run that was stopped"}, nil
	}
	if !slices.Contains([]string{".go", ".json", ".md"}, path.Ext(name)) {
		return nil, nil
	}
	old, err := s.root.ReadFile(name)
	if err != nil || !s.owner.owns(name, old) {
		return nil, err
	}
	return &fileChange{Path: name, Status: removed, Old: old,
		Why: "generated from " + s.owner.source + ", no longer produced"}, nil
}

// foldLines turns CRLF into LF: a checkout may have changed the line ends, and that is not drift.
func foldLines(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}
