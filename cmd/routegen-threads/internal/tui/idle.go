package tui

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// idleTimeout ends a stream that sends nothing. A living server sends something every 15 seconds.
const idleTimeout = 50 * time.Second

// idleTransport is an http.RoundTripper that aborts a stream after a time without data and reports
// the state of the connection.
type idleTransport struct {
	next    http.RoundTripper
	silence time.Duration
	tell    func(connectionChanged)
}

var errIdle = errors.New("the server is silent")

// newStreamClient returns a client that reports the state of its connections to tell, one call at a
// time.
func newStreamClient(tell func(connectionChanged)) *http.Client {
	return &http.Client{Transport: &idleTransport{next: http.DefaultTransport, silence: idleTimeout,
		tell: tell}}
}

// RoundTrip opens a connection.
func (l *idleTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(l.silence, func() { cancel(errIdle) })
	res, err := l.next.RoundTrip(req.WithContext(ctx))
	switch {
	case err != nil:
		timer.Stop()
		cancel(nil)
		l.reportLost(req.Context(), ctx, err)
		return nil, err
	case res.StatusCode >= http.StatusBadRequest:
		l.tell(connectionChanged{why: res.Status})
	default:
		l.tell(connectionChanged{up: true})
	}
	res.Body = &idleBody{
		ReadCloser: res.Body, told: res.StatusCode >= http.StatusBadRequest, link: l, timer: timer,
		outer: req.Context(), inner: ctx, cancel: cancel,
	}
	return res, nil
}

// reportLost reports why a connection ended, unless the caller ended it.
func (l *idleTransport) reportLost(outer, inner context.Context, err error) {
	if outer.Err() != nil {
		return
	}
	if cause := context.Cause(inner); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the server ended it")
	}
	l.tell(connectionChanged{why: err.Error()})
}

// idleBody is the body of a response that idleTransport watches.
type idleBody struct {
	io.ReadCloser
	told  bool // the response is an error, which was reported
	link  *idleTransport
	timer *time.Timer
	//nolint:containedctx // a body is read within the request it belongs to
	outer, inner context.Context
	cancel       context.CancelCauseFunc
}

// Read reads from the body. Every successful read restarts the timeout.
func (s *idleBody) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil {
		if !s.told {
			s.link.reportLost(s.outer, s.inner, err)
		}
		return n, err
	}
	s.timer.Reset(s.link.silence)
	return n, nil
}

// Close ends the connection.
func (s *idleBody) Close() error {
	s.timer.Stop()
	s.cancel(nil)
	return s.ReadCloser.Close()
}
