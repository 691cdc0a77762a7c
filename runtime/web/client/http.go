package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// Stream yields the outbox of a thread, or of all when it is "", after a row, and goes on until ctx
// ends, which is not yielded as an error. A connection that drops is opened again after the last
// row that arrived, so each row is yielded once. A refusal is yielded as an error and ends the
// stream.
func (c *Client) Stream(ctx context.Context, thread, after string) iter.Seq2[web.Row, error] {
	path := "/v1/stream"
	if thread != "" {
		path = threadPath(thread, "/stream")
	}
	return func(yield func(web.Row, error) bool) {
		for pause := time.Duration(0); ; pause = min(2*pause+100*time.Millisecond, 5*time.Second) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			up, err := c.stream(ctx, path, &after, yield)
			switch {
			case errors.Is(err, errStop) || ctx.Err() != nil:
				return
			case err != nil && runtime.CodeOf(err) != runtime.CodeUnavailable:
				yield(web.Row{}, err)
				return
			case up:
				pause = 0
			}
		}
	}
}

var errStop = errors.New("the reader stopped")

// silence is how long a stream may be without data before it counts as dropped. A running server
// sends something at least every [web.Config.Beat], 15 seconds by default.
const silence = 50 * time.Second

// stream reads one connection to its end, and reports whether there was one.
func (c *Client) stream(ctx context.Context, path string, after *string,
	yield func(web.Row, error) bool) (up bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(errors.New("the server is silent")) })
	defer quiet.Stop()
	body, err := c.open(ctx, http.MethodGet, path, nil, "Last-Event-ID", *after)
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return true, nil // it dropped: the caller connects again
		}
		quiet.Reset(silence)
		data, is := strings.CutPrefix(line, "data: ")
		if !is {
			continue
		}
		var row web.Row
		if err := json.Unmarshal([]byte(data), &row); err != nil {
			return true, err
		}
		if *after = row.ID; !yield(row, nil) {
			return true, errStop
		}
	}
}

func threadPath(id, more string) string { return "/v1/threads/" + url.PathEscape(id) + more }

func interruptPath(id, more string) string { return "/v1/interrupts/" + url.PathEscape(id) + more }

func get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	return send[T](ctx, c, http.MethodGet, path, nil, "")
}

func post[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	return send[T](ctx, c, http.MethodPost, path, body, "")
}

// listed returns the items of a page and where the next one begins.
func listed[T any](page *list[T], err error) (items []T, next string, _ error) {
	if err != nil {
		return nil, "", err
	}
	return page.Items, page.Next, nil
}

// send makes one call, with a key or the client's as its Idempotency-Key.
func send[T any](ctx context.Context, c *Client, method, path string, body any, key string) (*T,
	error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = runtime.Encode(body); err != nil {
			return nil, err
		}
	}
	stream, err := c.open(ctx, method, path, data, "Idempotency-Key", cmp.Or(key, c.key))
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	out := new(T)
	if err := json.NewDecoder(stream).Decode(out); err != nil && !errors.Is(err, io.EOF) {
		return nil, runtime.Errorf(runtime.CodeUnavailable, "read answer", "%w", err)
	}
	return out, nil
}

// open sends a request and returns the body of its success.
func (c *Client) open(ctx context.Context, method, path string, body []byte, header, value string) (
	io.ReadCloser, error) {
	const op = "call server"
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base, "/")+path,
		bytes.NewReader(body))
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, op, "%w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if value != "" {
		req.Header.Set(header, value)
	}
	res, err := cmp.Or(c.HTTP, http.DefaultClient).Do(req)
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	if res.StatusCode < http.StatusBadRequest {
		return res.Body, nil
	}
	defer func() { _ = res.Body.Close() }()
	p := new(web.Problem)
	if err := json.NewDecoder(io.LimitReader(res.Body, web.MaxBody)).Decode(p); err != nil ||
		p.Code == "" {
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%s", res.Status)
	}
	return nil, p
}
