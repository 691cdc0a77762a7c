package tui

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// connectionReporter is an http.RoundTripper that reports the state of the connection of a stream,
// one call at a time. The client of the stream ends a connection that is silent for too long.
type connectionReporter struct {
	next http.RoundTripper
	tell func(connectionChanged)
}

// newStreamClient returns a client that reports the state of its connections to tell.
func newStreamClient(tell func(connectionChanged)) *http.Client {
	return &http.Client{Transport: &connectionReporter{http.DefaultTransport, tell}}
}

// RoundTrip opens a connection.
func (c *connectionReporter) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.next.RoundTrip(req)
	switch {
	case err != nil:
		c.reportLost(req.Context(), err)
		return nil, err
	case res.StatusCode >= http.StatusBadRequest:
		c.tell(connectionChanged{why: res.Status})
	default:
		c.tell(connectionChanged{up: true})
		res.Body = &reportingBody{res.Body, req.Context(), c}
	}
	return res, nil
}

// reportLost reports why a connection ended, unless the caller ended it.
func (c *connectionReporter) reportLost(ctx context.Context, err error) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.Canceled):
		return
	case cause != nil:
		err = cause
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the server ended it")
	}
	c.tell(connectionChanged{why: err.Error()})
}

// reportingBody is the body of a response that connectionReporter watches.
type reportingBody struct {
	io.ReadCloser

	ctx context.Context //nolint:containedctx // a body is read within the request it belongs to
	of  *connectionReporter
}

// Read reads from the body.
func (b *reportingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.of.reportLost(b.ctx, err)
	}
	return n, err
}
