package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// RefusalError is the data of a refusal: CodeForbidden.
type RefusalError struct {
	Provider string
	Category string // a word of the provider: "content_filter"; "" when it gives none
	// what the model or the provider said; not part of Error, it may quote the prompt
	Text  string
	Usage Usage
}

// Error names provider and category.
func (e *RefusalError) Error() string {
	return e.Provider + " refused to answer" + inBrackets(e.Category)
}

// The reasons of a [StopError].
const (
	StopLength  = "length"  // the limit of the reply
	StopContext = "context" // the window of the model: prompt and reply together
	StopOther   = "other"
)

// StopError is the data of an incomplete reply: CodeUnavailable, or CodeInvalid with StopContext.
type StopError struct {
	Provider string
	Reason   string // one of the above
	Word     string // the provider's own word for it
	Text     string // what there was of the reply; not part of Error
	Usage    Usage
}

// Error names provider and reason.
func (e *StopError) Error() string {
	switch e.Reason {
	case StopLength:
		return e.Provider + " stopped at the limit of tokens before the reply was whole: raise " +
			"MaxTokens or ask for less"
	case StopContext:
		return e.Provider + " cannot fit prompt and reply in the model's window: shorten the prompt"
	}
	return e.Provider + " stopped before the reply was whole" + inBrackets(e.Word)
}

// CallError is the data of a call without a reply.
type CallError struct {
	Provider   string
	Status     int           // of the HTTP answer; 0 when there was none
	Type       string        // the provider's word for it: "rate_limit_error"
	Request    string        // the provider's id of the call, to ask there about it
	RetryAfter time.Duration // how long to wait, as the provider says; 0 when it does not
	// what the provider or its client said; not part of Error, it may quote prompt, reply, address
	// or key
	Message string
	Unsent  bool // the client refused the request before it went out
	// context.Canceled, context.DeadlineExceeded or a *net.OpError, where that was it
	Err error
}

// Error says how the call ended, without any payload.
func (e *CallError) Error() string {
	switch {
	case e.Status != 0:
		text := fmt.Sprintf("%s answered %d %s", e.Provider, e.Status, http.StatusText(e.Status))
		if e.Request != "" {
			text += ", request " + e.Request
		}
		return strings.TrimSpace(text) + inBrackets(e.Type)
	case e.Unsent:
		return "the client of " + e.Provider +
			" did not send the request: look at address, key and options"
	case errors.Is(e.Err, context.Canceled):
		return e.Provider + ": the call was cancelled"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return e.Provider + " did not answer in time"
	case e.Err != nil:
		return e.Provider + " cannot be reached: " + e.Err.Error()
	}
	return e.Provider + " gave no answer that can be read"
}

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

func (e *CallError) code() runtime.Code {
	switch {
	case e.Unsent:
		return runtime.CodeInvalid
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return runtime.CodeForbidden
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict,
		e.Status == http.StatusTooEarly,
		e.Status == http.StatusTooManyRequests, e.Status < http.StatusBadRequest,
		e.Status >= http.StatusInternalServerError:
		return runtime.CodeUnavailable
	}
	return runtime.CodeInvalid
}

// Fail is for adapters: it returns the error of an operation with one of the data types of this
// package, under the code that the package comment names. Texts of a provider are kept only if they
// look like identifiers.
func Fail(op string, err error) error {
	code := runtime.CodeUnavailable
	switch e := err.(type) { //nolint:errorlint // it is the data itself, not a chain to search
	case *RefusalError:
		code, e.Category = runtime.CodeForbidden, keepWord(e.Category)
	case *StopError:
		e.Word = keepWord(e.Word)
		if e.Reason == StopContext {
			code = runtime.CodeInvalid
		}
	case *CallError:
		e.Type, e.Request = keepWord(e.Type), keepWord(e.Request)
		code = e.code()
	}
	return runtime.Errorf(code, op, "%w", err)
}

// Answered is for adapters: it returns the data of an answer with an error status.
func Answered(provider string, answer *http.Response, kind, message string) *CallError {
	get := answer.Header.Get
	return &CallError{
		Provider: provider, Status: answer.StatusCode, Type: kind, Message: message,
		Request: cmp.Or(get("Request-Id"), get("X-Request-Id")),
		RetryAfter: cmp.Or(parseWait(get("Retry-After-Ms"), time.Millisecond),
			parseWait(get("Retry-After"), time.Second)),
	}
}

// parseWait parses a number of units; it returns 0 for anything else. The client handles the other
// form of the header, a date.
func parseWait(text string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n < 1e6) {
		return 0
	}
	return time.Duration(n * float64(unit))
}

// Unanswered is for adapters: it returns the data of a call that ended with err and without an
// answer. sent says whether the client began to send it. The error of the caller's context takes
// precedence.
func Unanswered(ctx context.Context, provider string, sent bool, err error) *CallError {
	e := &CallError{Provider: provider, Message: err.Error()}
	op, broken := errors.AsType[*net.OpError](err)
	_, onTheWay := errors.AsType[*url.Error](err)
	switch {
	case ctx.Err() != nil:
		e.Err = ctx.Err()
	case errors.Is(err, context.Canceled):
		e.Err = context.Canceled
	case errors.Is(err, context.DeadlineExceeded), timedOut(err):
		e.Err = context.DeadlineExceeded
	case broken:
		e.Err = op
	case !sent && !onTheWay:
		e.Unsent = true
	}
	return e
}

func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// keepWord returns s if it looks like an identifier, "" otherwise: a server may send any text.
func keepWord(s string) string {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
	if len(s) > 100 || strings.Trim(s, legal) != "" {
		return ""
	}
	return s
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}
