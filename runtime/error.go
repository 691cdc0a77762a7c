package runtime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime/internal/brief"
)

// Code says what kind of error it is. The set is closed; the texts are part of the wire format and
// never change.
type Code string

// The codes. Each says what the caller can do about it.
const (
	CodeInvalid         Code = "invalid"          // the input is wrong: correct it
	CodeNotFound        Code = "not_found"        // no such thing, or not yours
	CodeConflict        Code = "conflict"         // changed in the meantime: load again
	CodeAlreadyAnswered Code = "already_answered" // the interrupt has an answer
	CodeSuperseded      Code = "superseded"       // a later interrupt replaced it
	CodeExpired         Code = "expired"          // the deadline has passed
	CodeNotWaiting      Code = "not_waiting"      // nothing waits for this
	CodeForbidden       Code = "forbidden"        // not allowed for this caller
	CodeAmbiguous       Code = "ambiguous"        // several match: name one
	// CodeNoRoute: no branch is set, or one that is not allowed here
	CodeNoRoute    Code = "no_route"
	CodeManyRoutes Code = "many_routes" // more than one branch is set
	CodeLoop       Code = "loop"        // the limit of repeats is reached
	// CodeInDoubt: an effect began and its end is unknown: a person must settle it
	CodeInDoubt      Code = "in_doubt"
	CodeIncompatible Code = "incompatible" // stored data of another version of the program
	CodeUnavailable  Code = "unavailable"  // nothing was done: try again later
	// CodeUnknown: the call ended before its outcome was known: look, or ask again under the same
	// request id
	CodeUnknown  Code = "outcome_unknown"
	CodeInternal Code = "internal" // a defect, or an error without a code
)

// Error is the one error type of the project: a code for programs, the operation that refused, and
// what was wrong. Data is in Err, see [InvalidError] and [SelectionError]. An Error is immutable.
type Error struct {
	Code Code
	Op   string // what was tried, with the name of its subject: "decode InterruptRouting"
	Err  error  // may be nil
}

// Error gives operation, code and reason on one line.
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Op != "" {
		text = e.Op + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first [Error] in err's chain, "" for nil, and [CodeInternal] for
// an error that has none.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// Problem is one thing wrong in a JSON document.
type Problem struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) to the value; "" is the document
	Reason  string `json:"reason"`  // what is wrong and, where known, what to write instead
}

// InvalidError is the data of [CodeInvalid] for a JSON document: all problems found, in the order
// of the document, at most 20.
type InvalidError struct {
	Problems []Problem
}

// Error lists the problems, separated by "; ".
func (e *InvalidError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		if p.Pointer != "" {
			b.WriteString(p.Pointer)
			b.WriteString(": ")
		}
		b.WriteString(p.Reason)
	}
	return b.String()
}

// SelectionError is the data of [CodeNoRoute] and [CodeManyRoutes]. Names are JSON names in the
// order of the routing.
type SelectionError struct {
	Routing string   // type name of the routing
	Set     []string // what was found set; empty when nothing was
	Allowed []string // what may be set
}

// Error says what was set and what may be set.
func (e *SelectionError) Error() string {
	allowed := "set exactly one of " + brief.JoinNames(e.Allowed)
	if len(e.Allowed) == 0 {
		allowed = "no branch is allowed"
	}
	switch len(e.Set) {
	case 0:
		return fmt.Sprintf("%s has no branch set: %s", e.Routing, allowed)
	case 1:
		return fmt.Sprintf("%s must not set %s here: %s", e.Routing, e.Set[0], allowed)
	}
	return fmt.Sprintf("%s has %d branches set, %s: %s", e.Routing, len(e.Set),
		brief.JoinNames(e.Set),
		allowed)
}

// Errorf returns an [*Error] with that code and operation. Its Err is what [fmt.Errorf] returns for
// the format and its arguments, so %w wraps.
func Errorf(code Code, op, format string, args ...any) error {
	return &Error{Code: code, Op: op, Err: fmt.Errorf(format, args...)}
}
