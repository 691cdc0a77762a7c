package runtime

import (
	"errors"
	"fmt"
	"strings"
)

// Code says what kind of refusal an error is. The set is closed; texts are part of the wire form and never change.
type Code string

// The codes. Each says what the caller can do about it.
const (
	CodeInvalid         Code = "invalid"          // the input is wrong: mend it
	CodeNotFound        Code = "not_found"        // no such thing, or not yours
	CodeConflict        Code = "conflict"         // someone was faster: load again
	CodeAlreadyAnswered Code = "already_answered" // the interrupt has an answer
	CodeSuperseded      Code = "superseded"       // another interrupt took its place
	CodeExpired         Code = "expired"          // the deadline is over
	CodeNotWaiting      Code = "not_waiting"      // nothing waits for this
	CodeForbidden       Code = "forbidden"        // not allowed for this caller
	CodeAmbiguous       Code = "ambiguous"        // several match: name one
	CodeNoRoute         Code = "no_route"         // no branch is set, or one that is not allowed here
	CodeManyRoutes      Code = "many_routes"      // more than one branch is set
	CodeLoop            Code = "loop"             // the limit of repeats is reached
	CodeInDoubt         Code = "in_doubt"         // an effect began and its end is unknown: a person must settle it
	CodeIncompatible    Code = "incompatible"     // stored data of another version of the program
	CodeUnavailable     Code = "unavailable"      // nothing was done: try again later
	CodeUnknown         Code = "outcome_unknown"  // the call ended before its outcome was known: look, or ask again under the same request id
	CodeInternal        Code = "internal"         // a defect, or a foreign error
)

// Error is the one error type of the project: a code for programs, the operation that refused, and what was wrong. Data travels in Err,
// see [InvalidError] and [SelectionError]. An Error is not changed after it is made.
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

// CodeOf returns the code of the first [Error] in err's chain, "" for nil, and [CodeInternal] for an error that has none.
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
	Pointer string // JSON pointer (RFC 6901) to the value; "" is the whole document
	Reason  string // what is wrong and, where it can be known, what to write instead
}

// InvalidError is the data of [CodeInvalid] for a JSON document: all problems found, in the order of the document, at most 20.
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

// SelectionError is the data of [CodeNoRoute] and [CodeManyRoutes]. Names are JSON names in the order of the routing.
type SelectionError struct {
	Routing string   // type name of the routing
	Set     []string // what was found set; empty when nothing was
	Allowed []string // what may be set
}

// Error says what was set and what may be set.
func (e *SelectionError) Error() string {
	allowed := "set exactly one of " + listed(e.Allowed)
	if len(e.Allowed) == 0 {
		allowed = "no branch is allowed"
	}
	switch len(e.Set) {
	case 0:
		return fmt.Sprintf("%s has no branch set: %s", e.Routing, allowed)
	case 1:
		return fmt.Sprintf("%s must not set %s here: %s", e.Routing, e.Set[0], allowed)
	}
	return fmt.Sprintf("%s has %d branches set, %s: %s", e.Routing, len(e.Set), listed(e.Set), allowed)
}

// listed joins names for a message and stops at 30: a union may have thousands of branches.
func listed(names []string) string {
	const most = 30
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func refuse(code Code, op string, err error) error { return &Error{Code: code, Op: op, Err: err} }

// invalid is a refusal of one text, not of a document.
func invalid(op, format string, args ...any) error {
	return refuse(CodeInvalid, op, fmt.Errorf(format, args...))
}
