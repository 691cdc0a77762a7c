package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestBadInputsAreRefused runs one case for each bad input. A case compares the whole answer, its
// exit code, and that nothing was written.
func TestBadInputsAreRefused(t *testing.T) {
	t.Parallel()
	var want, got []string
	for i := range 46 {
		want = append(want, fmt.Sprintf("testdata/bad/g%02d.txtar", i+1))
	}
	got, err := filepath.Glob("testdata/bad/*")
	require.NoError(t, err)
	require.Equal(t, want, got, "a case for each bad input, and nothing else")
	testscript.Run(t, scripts(t, "testdata/bad"))
}

// badSpec writes a spec that is too large to stand in a script: badspec KIND FILE.
func badSpec(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: badspec KIND FILE")
	}
	var text []byte
	switch kind := args[0]; kind {
	case "large": // 33 MiB, nearly all of it a comment
		text = append([]byte("version: 1\n"), bytes.Repeat([]byte("# filler\n"), 33<<20/9)...)
	case "keys": // 200,000 siblings
		text = []byte("version: 1\nnodes:\n")
		for i := range 200_000 {
			text = fmt.Appendf(text, "  n%d: {}\n", i)
		}
	case "deep": // 200,000 levels
		text = append([]byte("version: 1\nnodes: "), bytes.Repeat([]byte("["), 200_000)...)
	case "targets": // a node with 500 branches, each to a request with one optional field
		text = manyTargets(500)
	case "nested": // a request of 70 records, each of which requires the next one
		text = nestedRecords(70)
	default:
		ts.Fatalf("badspec: there is no kind %q", kind)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o644))
}

// nestedRecords returns a spec whose request requires a record that requires another one, n deep.
func nestedRecords(n int) []byte {
	text := []byte("version: 1\ngo: {package: routes, out: generated/routes}\ntypes:\n")
	for i := range n {
		next := fmt.Sprintf("R%d", i+1)
		if i == n-1 {
			next = "string"
		}
		text = fmt.Appendf(text, "  R%d: {doc: Level %d., fields: {next: {type: %s, doc: The next "+
			"level.}}}\n", i, i, next)
	}
	return append(text, "results:\n  Report: {doc: What comes back., fields: {text: {type: "+
		"string, doc: The answer.}}}\nnodes:\n  lead:\n    doc: Leads.\n    entry: true\n    "+
		"request: {doc: Starts the work., fields: {first: {type: R0, doc: The first level.}}}\n"+
		"    branches: {report: Report}\n"...)
}

// manyTargets returns a spec whose entry can go to n nodes.
func manyTargets(n int) []byte {
	var nodes, branches bytes.Buffer
	for i := range n {
		fmt.Fprintf(&branches, "      n%dRequest: N%dRequest\n", i, i)
		fmt.Fprintf(&nodes, "  n%d:\n    doc: Does part %d.\n    request: {doc: Asks for part "+
			"%d., fields: {hint: {type: string, optional: true, doc: Where to look first.}}}\n"+
			"    branches: {leadRequest: LeadRequest}\n", i, i, i)
	}
	return fmt.Appendf(nil, "version: 1\ngo: {package: routes, out: generated/routes}\nresults:\n"+
		"  Report: {doc: What comes back., fields: {text: {type: string, doc: The "+
		"answer.}}}\nnodes:\n  lead:\n    doc: Leads.\n"+
		"    entry: true\n    result: Report\n    request: {doc: Starts the work., fields: "+
		"{goal: {type: string, doc: What to reach.}}}\n"+
		"    branches:\n      report: Report\n%s%s", branches.Bytes(), nodes.Bytes())
}

// escaped is a byte or a character as scripts write it, because nobody could see the thing itself.
var escaped = regexp.MustCompile(`\\x[0-9A-F]{2}|\\u[0-9A-F]{4}`)

// unescape replaces \x00 and \u202E in files of a script by the byte and the character: unescape
// FILE...
func unescape(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: unescape FILE...")
	}
	for _, name := range args {
		was := ts.ReadFile(name)
		is := escaped.ReplaceAllStringFunc(was, func(code string) string {
			char, err := strconv.Unquote(`"` + code + `"`)
			ts.Check(err)
			return char
		})
		if is == was {
			ts.Fatalf("unescape: %s holds nothing to replace", name)
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(is), 0o644))
	}
}

// answerWithin ends the process when it has worked for a time that is far more than it needs. What
// it waits for a busy machine does not count, up to many times as much.
func answerWithin(limit string) {
	after, err := time.ParseDuration(limit) // of a limit that is none, 0
	worked := func() time.Duration {
		var u syscall.Rusage
		err = errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	go func() {
		for range 30 {
			if <-time.After(after); worked() >= after || err != nil {
				break
			}
		}
		_, _ = fmt.Fprintln(os.Stderr, "no answer within", after, err)
		os.Exit(99)
	}()
}

// failingDisk wraps a disk in the fault that a script asks for: "readonly", "full N" for one that
// takes N files, "dies N" for a process that is killed when it has made N renames.
func failingDisk(d disk, fault string) disk {
	kind, count, _ := strings.Cut(fault, " ")
	left, _ := strconv.Atoi(count)
	return &faultyDisk{disk: d, kind: kind, left: left}
}

type faultyDisk struct {
	disk
	kind string
	left int
}

// Mkdir refuses where the disk is read-only.
func (d *faultyDisk) Mkdir(name string) error {
	if d.kind == "readonly" {
		return &os.PathError{Op: "mkdirat", Path: name, Err: syscall.EROFS}
	}
	return d.disk.Mkdir(name)
}

// WriteTemp refuses where the disk is read-only; on a full one it leaves half a file.
func (d *faultyDisk) WriteTemp(name string, text []byte) error {
	switch {
	case d.kind == "readonly":
		return &os.PathError{Op: "openat", Path: "file", Err: syscall.EROFS}
	case d.kind == "full" && d.left == 0:
		return errors.Join(&os.PathError{Op: "write", Path: "file", Err: syscall.ENOSPC},
			d.disk.WriteTemp(name, text[:len(text)/2]))
	case d.kind == "full":
		d.left--
	}
	return d.disk.WriteTemp(name, text)
}

// Rename ends the process where its time has come, as a kill does: nothing is tidied up.
func (d *faultyDisk) Rename(from, to string) error {
	if d.kind == "dies" && d.left == 0 {
		os.Exit(137)
	}
	d.left--
	return d.disk.Rename(from, to)
}
