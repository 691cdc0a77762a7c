package main

import (
	"errors"
	"fmt"
	"strings"
)

// exitCode is what the program returns to its caller. The numbers do not change.
type exitCode int

// The four exit codes. If several apply, the worst is returned: failed, findings, drift, fine.
const (
	exitFine     exitCode = 0
	exitFindings exitCode = 1
	exitFailed   exitCode = 2
	exitDrift    exitCode = 3
)

// exitCodes is the table users read in `routegen help exit-codes`, worst first.
var exitCodes = []struct {
	code           exitCode
	meaning, whose string
}{
	{exitFailed, "the command failed: wrong usage, unreadable file, failed write, output that " +
		"does not compile", "the caller, the machine, or this program"},
	{exitFindings, "the spec, or a handwritten file of the generated package, has errors; a " +
		"change breaks something", "a person"},
	{exitDrift, "the spec is fine, the generated files are missing, edited or left over",
		"routegen generate"},
	{exitFine, "nothing to report, or everything is written", "-"},
}

// exitCodeHelp prints the table.
func exitCodeHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes, the worst first; when several apply, the first of them is " +
		"returned:\n\n")
	for _, row := range exitCodes {
		fmt.Fprintf(&b, "  %d  %s\n     repaired by: %s\n", row.code, row.meaning, row.whose)
	}
	b.WriteString("\nWarnings do not change the code unless --warnings-as-errors is given. " +
		"Without a command, and with --help,\n" +
		"the help is printed and the code is 0. `go generate` and `go run` turn every code but 0 " +
		"into 1; `go tool` keeps it.\n" +
		"The last line on standard error always says what happened.\n")
	return b.String()
}

// worse returns the worse of two codes.
func worse(a, b exitCode) exitCode {
	for _, row := range exitCodes {
		if row.code == a || row.code == b {
			return row.code
		}
	}
	return exitFailed
}

// exitError ends a command with an exit code and one line that gives the reason.
type exitError struct {
	code exitCode
	err  error
}

// Error returns the line, without the program's name.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// failf returns an error that ends a command with exit code 2.
func failf(format string, args ...any) error {
	return &exitError{code: exitFailed, err: fmt.Errorf(format, args...)}
}

// codeOf returns the exit code of an error. Any other error than an exitError is a failure.
func codeOf(err error) exitCode {
	var e *exitError
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &e):
		return e.code
	default:
		return exitFailed
	}
}
