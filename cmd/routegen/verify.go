package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// proof shows that a package would compile if planned changes were made, without making them. It
// builds that package alone, not the packages that import it.
type proof struct {
	root    string            // absolute folder of the module, symbolic links resolved
	pkg     string            // the package's folder, relative to the root, slash-separated
	planned map[string][]byte // every planned file, by path relative to the root
	changes []fileChange
}

// diagnostic is one complaint of the compiler.
type diagnostic struct {
	file         string // relative to the root where it lies below it, slash-separated
	line, column int
	message      string
}

// brokenError says that the generated files themselves do not compile: a defect of this program.
type brokenError struct {
	diagnostics []diagnostic
	kept        string // folder that holds the failing text
}

// Error says what is broken and where to look at it.
func (e *brokenError) Error() string {
	return fmt.Sprintf("the generated package would not compile (%s); the failing text is in %s",
		counted(len(e.diagnostics), "error"), e.kept)
}

// handwrittenError says that the generated files compile, and stop doing so together with the other
// files of the package.
type handwrittenError struct{ diagnostics []diagnostic }

// Error says how many complaints there are.
func (e *handwrittenError) Error() string {
	return fmt.Sprintf("handwritten files of the generated package do not compile with it (%s)",
		counted(len(e.diagnostics), "error"))
}

// errNoModule is the answer where no go.mod is found.
var errNoModule = errors.New(
	"there is no go.mod above the spec, so nothing can be compiled: run go mod init, or pass " +
		"--no-verify")

// compile builds the package as it would be. It returns nil if that compiles, a brokenError if the
// generated files do not, a handwrittenError if only the other files do not, and any other error if
// it cannot tell.
func (p proof) compile(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(p.root, "go.mod")); err != nil {
		return errNoModule
	}
	temp, err := os.MkdirTemp("", "routegen-proof-")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			_ = os.RemoveAll(temp)
		}
	}()
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return err
	}
	replace, err := p.overlay(temp)
	if err != nil {
		return err
	}
	text, err := p.build(ctx, temp, replace)
	if err != nil || text == "" {
		return err
	}
	if alone, err := p.withoutHandwritten(replace); err != nil {
		return err
	} else if alone != nil {
		again, err := p.build(ctx, temp, alone)
		if err != nil {
			return err
		}
		if again == "" {
			return &handwrittenError{p.ofHandwritten(p.diagnose(text, temp))}
		}
		text = again
	}
	if err := missingModule(text); err != nil {
		return err
	}
	found := p.diagnose(text, temp)
	if len(found) == 0 {
		return fmt.Errorf("go build ./%s: %s", p.pkg, oneLine(text))
	}
	keep = true
	return &brokenError{found, temp}
}

// overlay writes the text of created and changed files below temp, and returns what the go command
// is to read in place of what. Removed files are replaced by nothing.
func (p proof) overlay(temp string) (map[string]string, error) {
	replace := map[string]string{}
	for _, c := range p.changes {
		target := filepath.Join(p.root, filepath.FromSlash(c.Path))
		switch c.Status {
		case removed:
			replace[target] = ""
		case created, changed:
			text := filepath.Join(temp, filepath.FromSlash(c.Path))
			if err := os.MkdirAll(filepath.Dir(text), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(text, c.New, 0o644); err != nil {
				return nil, err
			}
			replace[target] = text
		}
	}
	return replace, nil
}

// withoutHandwritten returns an overlay that also hides the Go files of the package that are not
// planned, or nil if there are no such files.
func (p proof) withoutHandwritten(replace map[string]string) (map[string]string, error) {
	entries, err := os.ReadDir(filepath.Join(p.root, filepath.FromSlash(p.pkg)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var alone map[string]string
	for _, e := range entries {
		name := path.Join(p.pkg, e.Name())
		_, planned := p.planned[name]
		if target := filepath.Join(p.root, filepath.FromSlash(name)); !planned &&
			path.Ext(name) == ".go" && !hidden(replace, target) {
			if alone == nil {
				alone = make(map[string]string, len(replace)+1)
				maps.Copy(alone, replace)
			}
			alone[target] = ""
		}
	}
	return alone, nil
}

// ofHandwritten keeps the complaints about handwritten files: those about generated files follow
// from them. Where there are none, it keeps all.
func (p proof) ofHandwritten(all []diagnostic) []diagnostic {
	var own []diagnostic
	for _, d := range all {
		if _, planned := p.planned[d.file]; !planned && path.Ext(d.file) == ".go" {
			own = append(own, d)
		}
	}
	if own == nil {
		return all
	}
	return own
}

// hidden reports whether an overlay replaces a file by nothing.
func hidden(replace map[string]string, target string) bool {
	with, ok := replace[target]
	return ok && with == ""
}

// build compiles the package and returns the text of the compiler's errors, "" if it compiles. It
// returns an error if the go command cannot be run.
func (p proof) build(ctx context.Context, temp string, replace map[string]string) (string, error) {
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-overlay", file, "-o",
		os.DevNull, "./"+p.pkg)
	cmd.Dir = p.root
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("the compile proof was stopped: %w", ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("the go command was not found, so nothing can be compiled: put it " +
			"on the PATH, or pass --no-verify")
	case errors.As(err, &exit) && text.Len() > 0:
		return text.String(), nil
	default:
		return "", fmt.Errorf("go build ./%s: %w", p.pkg, err)
	}
}

var (
	// A complaint of the compiler or of the go command; the drive letter of a Windows path is part
	// of the file.
	complaintLine = regexp.MustCompile(`^(.+?\.go):(\d+)(?::(\d+))?: (.*)$`)
	// A module that is not there, or whose checksum is not.
	missingLine = regexp.MustCompile(
		`no required module provides package (\S+?)[;:]|missing go\.sum entry for module providing package (\S+)` +
			`|cannot find module providing package (\S+)|package (\S+) is not in std|updates to go\.mod needed`)
)

// missingModule returns advice when the go command complains of a module and not of the code.
func missingModule(text string) error {
	m := missingLine.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	pkg := strings.TrimRight(strings.Join(m[1:], ""), ";:")
	switch {
	case pkg == "":
		return fmt.Errorf("go.mod does not list all that %s needs (%s): run go get %s, then "+
			"routegen generate again",
			runtimeModule, oneLine(text), runtimeModule)
	case strings.HasPrefix(pkg, runtimeModule):
		return fmt.Errorf("the module does not require the package that generated code imports "+
			"(%s): run go get %s, then routegen generate again",
			pkg, runtimeModule)
	default:
		return &importError{pkg}
	}
}

// oneLine folds what a command printed, so that the last line of our own says everything.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// importError says that a bound package is not found.
type importError struct{ pkg string }

// Error names the package and the two ways out.
func (e *importError) Error() string {
	return fmt.Sprintf("the generated package imports %s, which is not found: correct go_type, "+
		"or run go get %s", e.pkg, e.pkg)
}

// runtimeModule is the module that generated code imports.
const runtimeModule = "github.com/routegen/routegen"

// diagnose reads what the compiler printed. Lines that begin with a tab belong to the complaint
// above them.
func (p proof) diagnose(text, temp string) []diagnostic {
	var out []diagnostic
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "\t") && len(out) > 0 {
			out[len(out)-1].message += "\n" + line
			continue
		}
		if m := complaintLine.FindStringSubmatch(line); m != nil && m[4] != "too many errors" {
			out = append(out, diagnostic{p.relative(m[1], temp), parseNumber(m[2]),
				parseNumber(m[3]), m[4]})
		} else if !strings.HasPrefix(line, "#") && !strings.HasSuffix(line, "too many errors") &&
			line != "" {
			out = append(out, diagnostic{file: p.pkg, message: line})
		}
	}
	for i, d := range out {
		out[i] = p.inHandwritten(d, temp)
	}
	return out
}

// mention is a place inside a message.
var mention = regexp.MustCompile(`(\S+\.go):(\d+)(?::(\d+))?`)

// inHandwritten returns the complaint at the handwritten file that its message names, if it names
// one: of two declarations of a name, the compiler complains of the later one.
func (p proof) inHandwritten(d diagnostic, temp string) diagnostic {
	if _, planned := p.planned[d.file]; !planned {
		return d
	}
	for _, m := range mention.FindAllStringSubmatch(d.message, -1) {
		file := p.relative(m[1], temp)
		if _, planned := p.planned[file]; !planned && path.Dir(file) == p.pkg {
			return diagnostic{file, parseNumber(m[2]), parseNumber(m[3]), d.message}
		}
	}
	return d
}

// relative returns the path below the root that a path of the compiler's speaks of. The compiler
// shows replaced files under the name of their replacement, and everything relative to the folder
// it runs in.
func (p proof) relative(name, temp string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.root, name)
	}
	for _, base := range []string{temp, p.root} {
		if rel, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(name)
}

// parseNumber reads a line or column; what is absent is 0.
func parseNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
