package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Problem is a refusal on the wire, application/problem+json, and the error that a client returns
// for it: [runtime.CodeOf] finds its code. Fields beside the first five are set where the code has
// such data.
//
//nolint:errname // it is data first: a document of the wire, as RFC 9457 calls it
type Problem struct {
	Title   string       `json:"title"`
	Status  int          `json:"status"`
	Code    runtime.Code `json:"code"`
	Detail  string       `json:"detail,omitempty"`
	Request string       `json:"request,omitempty"` // also in the server's log

	Problems []runtime.Problem `json:"problems,omitempty"` // invalid: what is wrong where
	Set      []string          `json:"set,omitempty"`      // no_route, many_routes: what was named
	Allowed  []string          `json:"allowed,omitempty"`  // the same: what may be named
	// ambiguous, conflict: the interrupts that wait
	Open       []string `json:"open,omitempty"`
	AnsweredBy string   `json:"answeredBy,omitempty"` // already_answered
	AnsweredAt int64    `json:"answeredAt,omitempty"`
	// an unclear answer: how often it is asked again; absent means until it is clear
	Left  *int `json:"left,omitempty"`
	Index *int `json:"index,omitempty"` // a batch: which answer was refused
}

// Error gives code and detail.
func (p *Problem) Error() string { return fmt.Sprintf("%s (%d): %s", p.Code, p.Status, p.Detail) }

// Unwrap returns a [runtime.Error] of the code.
func (p *Problem) Unwrap() error { return &runtime.Error{Code: p.Code, Err: errors.New(p.Detail)} }

// statuses has the HTTP status of every code.
var statuses = map[runtime.Code]int{
	runtime.CodeInvalid:         http.StatusBadRequest,
	runtime.CodeNotFound:        http.StatusNotFound,
	runtime.CodeConflict:        http.StatusConflict,
	runtime.CodeAlreadyAnswered: http.StatusConflict,
	runtime.CodeSuperseded:      http.StatusConflict,
	runtime.CodeExpired:         http.StatusGone,
	runtime.CodeNotWaiting:      http.StatusConflict,
	runtime.CodeForbidden:       http.StatusForbidden,
	runtime.CodeAmbiguous:       http.StatusConflict,
	runtime.CodeNoRoute:         http.StatusUnprocessableEntity,
	runtime.CodeManyRoutes:      http.StatusUnprocessableEntity,
	runtime.CodeLoop:            http.StatusConflict,
	runtime.CodeInDoubt:         http.StatusConflict,
	runtime.CodeIncompatible:    http.StatusConflict,
	runtime.CodeUnavailable:     http.StatusServiceUnavailable,
	runtime.CodeUnknown:         http.StatusGatewayTimeout,
	runtime.CodeInternal:        http.StatusInternalServerError,
}

// refusal is a refusal that this package makes itself, where the status says more than the code.
func refusal(status int, code runtime.Code, detail string) error {
	return &Problem{Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// BadRequest refuses a call with CodeInvalid.
func BadRequest(format string, args ...any) error {
	return refusal(http.StatusBadRequest, runtime.CodeInvalid, fmt.Sprintf(format, args...))
}

var (
	// ErrNotFound refuses what does not exist, and what the caller may not know of.
	ErrNotFound = refusal(http.StatusNotFound, runtime.CodeNotFound, "no such thing, or not yours")
	errToken    = refusal(http.StatusUnauthorized, runtime.CodeForbidden,
		"a valid bearer token is needed in the Authorization header")
	// ErrForbidden refuses what the caller's token is not for.
	ErrForbidden = refusal(http.StatusForbidden, runtime.CodeForbidden,
		"this token may not do that")
	errAnothers = refusal(http.StatusForbidden, runtime.CodeForbidden,
		"the conversation is with another person than this token speaks for")
	errOnlyWords = refusal(http.StatusForbidden, runtime.CodeForbidden,
		"this token may say something to its thread: leave out machine, name and input")
	// ErrOtherBody refuses an Idempotency-Key, or a token for one answer, that was used with
	// another body.
	ErrOtherBody = refusal(http.StatusUnprocessableEntity, runtime.CodeConflict,
		"this key, or this token, was used with another body: take a new one")
	errTooMany = refusal(http.StatusTooManyRequests, runtime.CodeUnavailable,
		"too many requests: wait")
)

// ProblemOf returns what may leave the server of any error.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		out := *p
		return &out
	}
	code := runtime.CodeOf(err)
	p := &Problem{Status: statuses[code], Code: code}
	switch code {
	case runtime.CodeInternal:
		p.Detail = "a defect: the server's log has more under the request's id"
	case runtime.CodeUnavailable:
		p.Detail = "try again later"
	case runtime.CodeUnknown:
		p.Detail = "it may be done or not: ask again under the same Idempotency-Key, or look"
	case runtime.CodeIncompatible: // its text and data quote what the thread holds
		p.Detail = "this program cannot read what the thread holds: routegen-threads check names it"
	case runtime.CodeNotFound: // the same text for what is not there and what is not yours
		p.Detail = ProblemOf(ErrNotFound).Detail
	default:
		p.Detail = err.Error()
	}
	p.Title = http.StatusText(p.Status)
	if e, ok := errors.AsType[*thread.BatchError](err); ok {
		p.Index = &e.Index
	}
	p.data(err)
	return p
}

// data fills the fields that belong to the error's data.
func (p *Problem) data(err error) {
	// under another code it is about what is stored, and quotes it
	if e, ok := errors.AsType[*runtime.InvalidError](err); ok && p.Code == runtime.CodeInvalid {
		p.Problems = e.Problems
	}
	if e, ok := errors.AsType[*runtime.SelectionError](err); ok {
		p.Set, p.Allowed = e.Set, e.Allowed
	}
	if e, ok := errors.AsType[*thread.AmbiguousError](err); ok {
		p.Open = e.Open
	}
	if e, ok := errors.AsType[*thread.PendingError](err); ok {
		p.Open = e.Open
	}
	if e, ok := errors.AsType[*thread.AnsweredError](err); ok {
		p.AnsweredBy, p.AnsweredAt = e.By, millis(e.At)
	}
	if e, ok := errors.AsType[*thread.UnclearError](err); ok && e.Left >= 0 {
		p.Left = &e.Left
	}
}

func (p *Problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(p.Status)
	//nolint:errchkjson // plain fields; and a client that is gone hears nothing
	_ = json.NewEncoder(w).Encode(p)
}
