package postgres

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/routegen/routegen/runtime"
)

// Codes that commit_threads raises.
const (
	stateConflict = "RG409"
	stateLine     = "RG410" // the server was promoted: its transactions need a new line
)

// again are the SQLSTATEs of transactions that were undone and may pass when they are repeated:
// serialization, deadlock and lock timeout.
var again = []string{"40001", "40P01", "55P03"}

// codes are the codes of SQLSTATEs, or of their classes. All others are CodeInternal: damage, and
// defects of this package.
var codes = map[string]runtime.Code{
	"08":          runtime.CodeUnavailable,  // connection
	"25":          runtime.CodeUnavailable,  // a standby, or a transaction that was cut
	"28":          runtime.CodeUnavailable,  // the role may not log in
	"3D":          runtime.CodeUnavailable,  // no such database
	"40":          runtime.CodeUnavailable,  // serialization, deadlock
	"53":          runtime.CodeUnavailable,  // connections, disk, memory
	"55":          runtime.CodeUnavailable,  // locks, a database that takes no connections
	"57":          runtime.CodeUnavailable,  // the server stops, starts or cancels
	"58":          runtime.CodeUnavailable,  // input and output of the server
	"3F":          runtime.CodeIncompatible, // no such schema
	"42":          runtime.CodeIncompatible, // no such table, column or function, or no right to it
	"54":          runtime.CodeInvalid,      // a key is too long
	"22021":       runtime.CodeInvalid,      // a text that PostgreSQL cannot keep
	"22P05":       runtime.CodeInvalid,      // the same
	stateConflict: runtime.CodeConflict,     // of commit_threads
	stateLine:     runtime.CodeUnavailable,
}

// wrapError gives an error its operation and its code.
func wrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*runtime.Error](err); ok {
		return runtime.Errorf(e.Code, op, "%w", e.Err)
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok { // a context that is over, a connection that was refused or cut
		return runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	code, known := codes[e.Code]
	if !known && len(e.Code) == 5 {
		code, known = codes[e.Code[:2]]
	}
	if !known {
		code = runtime.CodeInternal
	}
	return runtime.Errorf(code, op, "%w", err)
}

// outcome is what is known of a call of commit_threads.
type outcome int

const (
	failed   outcome = iota // the server has taken it back, and repeating it would not help
	refused                 // it conflicts with what is stored
	retried                 // it was taken back, or not sent, and may pass when it is sent again
	newLine                 // it was taken back, since the server needs a new line of transactions
	noServer                // there is no connection, so it was not sent
	unknown                 // it may be done, or may still be
)

// outcomeOf tells what became of a call that returned err.
func outcomeOf(err error) outcome {
	e, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case errors.As(err, new(*noConnectionError)):
		return noServer
	case pgconn.SafeToRetry(err):
		return retried
	case !answered || e.SeverityUnlocalized != "ERROR": // a server that stops may have done it
		return unknown
	case e.Code == stateConflict:
		return refused
	case e.Code == stateLine:
		return newLine
	case slices.Contains(again, e.Code):
		return retried
	default:
		return failed
	}
}

// noConnectionError is the error of a connection that could not be had.
type noConnectionError struct{ error }

func (e *noConnectionError) Unwrap() error { return e.error }
