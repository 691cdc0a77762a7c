package tui

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// silence is how long a stream may say nothing. A server that lives shows it every 15 seconds; one that is gone without a word says nothing.
const silence = 50 * time.Second

// link is the way of the stream's requests. It changes nothing about them but that silence ends them, and tells how the connection is.
type link struct {
	next    http.RoundTripper
	silence time.Duration
	tell    func(lineCame)
}

var errSilent = errors.New("the server is silent")

// linked is a client whose connections are told of, one at a time.
func linked(tell func(lineCame)) *http.Client {
	return &http.Client{Transport: &link{next: http.DefaultTransport, silence: silence, tell: tell}}
}

// RoundTrip begins one connection.
func (l *link) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(l.silence, func() { cancel(errSilent) })
	res, err := l.next.RoundTrip(req.WithContext(ctx))
	switch {
	case err != nil:
		timer.Stop()
		cancel(nil)
		l.lost(req.Context(), ctx, err)
		return nil, err
	case res.StatusCode >= http.StatusBadRequest:
		l.tell(lineCame{why: res.Status})
	default:
		l.tell(lineCame{up: true})
	}
	res.Body = &stretch{
		ReadCloser: res.Body, told: res.StatusCode >= http.StatusBadRequest, link: l, timer: timer, outer: req.Context(), inner: ctx, cancel: cancel,
	}
	return res, nil
}

// lost tells why a connection ended, unless it was ended here.
func (l *link) lost(outer, inner context.Context, err error) {
	if outer.Err() != nil {
		return
	}
	if cause := context.Cause(inner); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the server ended it")
	}
	l.tell(lineCame{why: err.Error()})
}

// stretch is the body of one connection.
type stretch struct {
	io.ReadCloser
	told         bool // that it is none to read rows from
	link         *link
	timer        *time.Timer
	outer, inner context.Context //nolint:containedctx // a body is read within the request it belongs to
	cancel       context.CancelCauseFunc
}

// Read reads on. Every sign of life counts.
func (s *stretch) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil {
		if !s.told {
			s.link.lost(s.outer, s.inner, err)
		}
		return n, err
	}
	s.timer.Reset(s.link.silence)
	return n, nil
}

// Close ends the connection.
func (s *stretch) Close() error {
	s.timer.Stop()
	s.cancel(nil)
	return s.ReadCloser.Close()
}
