//go:build unix

package killloop

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// post makes a call that the client has no method for.
func post(ctx context.Context, c *client.Client, path, key string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return &runtime.Error{Code: runtime.CodeUnavailable, Op: "post", Err: err}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return &runtime.Error{Code: runtime.CodeUnavailable, Op: "post", Err: err}
	case res.StatusCode < http.StatusBadRequest:
		return nil
	}
	refused := new(web.Problem)
	if json.Unmarshal(data, refused) != nil || refused.Code == "" {
		return &runtime.Error{Code: runtime.CodeUnavailable, Op: "post"}
	}
	return refused
}

// all lists every thread there is.
func (p *person) all() (ids []string, err error) {
	after := ""
	for {
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
		}
		err := p.call("", func(ctx context.Context, c *client.Client) error {
			return get(ctx, c, "/v1/threads?after="+url.QueryEscape(after), &page)
		})
		if err != nil || len(page.Items) == 0 {
			return ids, err
		}
		for _, row := range page.Items {
			ids = append(ids, row.ID)
			after = row.ID
		}
	}
}

func get(ctx context.Context, c *client.Client, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return &runtime.Error{Code: runtime.CodeUnavailable, Op: "get", Err: err}
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return &runtime.Error{Code: runtime.CodeUnavailable, Op: "get", Err: err}
	}
	return nil
}

// finish brings every thread to its end, and returns those that did not come there.
func (p *person) finish() (stuck []string) {
	p.calm = true
	patience := 30 * time.Second
	if p.control != "" {
		patience = time.Second // it may never come there
	}
	for end := time.Now().Add(patience); ; {
		ids, err := p.all()
		if err == nil {
			for _, id := range ids {
				p.know(id)
			}
			if ids = p.unfinished(); len(ids) == 0 || time.Now().After(end) {
				return ids
			}
		}
		var each sync.WaitGroup
		for k := range 4 {
			q := p.fresh()
			each.Go(func() {
				for n, id := range ids {
					if n%4 == k {
						q.visit(id)
					}
				}
			})
		}
		each.Wait()
		<-time.After(20 * time.Millisecond)
	}
}
