package llmtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/routegen/routegen/runtime/schema"
)

// Recorder is an [http.RoundTripper] that answers from files in Dir, one for each exchange. With Next set it asks there instead, and writes
// the files. A request is known by its method, path and body; the same request again is the next file of that name, so a call with
// retries replays as it was. Headers of requests, hosts and queries are not kept. Safe for concurrent use.
//
// It refuses to write an exchange in which a credential of the request shows up anywhere, and to replay a file with a header that is not
// on its short list.
type Recorder struct {
	Dir  string
	Next http.RoundTripper // nil: replay

	mu    sync.Mutex
	times map[string]int
}

// exchange is one file.
type exchange struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Request json.RawMessage   `json:"request"`
	Status  int               `json:"status"`
	Header  map[string]string `json:"header"`
	Reply   json.RawMessage   `json:"reply,omitempty"`
	Text    string            `json:"text,omitempty"` // a reply that is not JSON
}

// keptHeaders are the only headers that a file has.
var keptHeaders = []string{"Content-Type", "Request-Id", "Retry-After", "Retry-After-Ms", "X-Request-Id", "X-Should-Retry"}

// secret finds the headers and parameters whose value is a credential.
var secret = regexp.MustCompile(`(?i)auth|cookie|secret|token|api-?key|^key$|^code$|^sig`)

// RoundTrip replays or records one exchange. Its errors name the file and never quote a body.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readAll(req)
	if err != nil {
		return nil, err
	}
	name := r.name(req, body)
	if r.Next == nil {
		return r.replay(req, name)
	}
	return r.record(req, body, name)
}

func readAll(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }()
	return io.ReadAll(req.Body)
}

func (r *Recorder) name(req *http.Request, body []byte) string {
	sum := sha256.Sum256([]byte(req.Method + "\n" + req.URL.Path + "\n" + canonical(string(body))))
	base := hex.EncodeToString(sum[:8])
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.times == nil {
		r.times = map[string]int{}
	}
	r.times[base]++
	return filepath.Join(r.Dir, fmt.Sprintf("%s-%d.json", base, r.times[base]))
}

func (r *Recorder) replay(req *http.Request, name string) (*http.Response, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("replay %s %s: no such exchange was recorded: %w", req.Method, req.URL.Path, err)
	}
	var e exchange
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return nil, fmt.Errorf("replay %s: %w", name, err)
	}
	header := http.Header{}
	for key, value := range e.Header {
		if !slices.Contains(keptHeaders, key) {
			return nil, fmt.Errorf("replay %s: header %s must not be in a recording", name, key)
		}
		header.Set(key, value)
	}
	text := []byte(e.Text)
	if e.Reply != nil {
		text = e.Reply
	}
	return &http.Response{
		Status: fmt.Sprint(e.Status, " ", http.StatusText(e.Status)), StatusCode: e.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: req,
	}, nil
}

func (r *Recorder) record(req *http.Request, body []byte, name string) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := r.Next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	reply, err := io.ReadAll(resp.Body)
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	e := exchange{Method: req.Method, Path: req.URL.Path, Status: resp.StatusCode, Header: map[string]string{}}
	for _, key := range keptHeaders {
		if value := resp.Header.Get(key); value != "" {
			e.Header[key] = value
		}
	}
	if e.Request = body; !json.Valid(body) {
		return nil, errors.New("record: the body of a request is not JSON")
	}
	if json.Valid(reply) {
		e.Reply = reply
	} else {
		e.Text = string(reply)
	}
	if err := e.write(name, secretsOf(req)); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(reply))
	return resp, nil
}

// write is where nothing gets past the canary: it searches all that the file would hold.
func (e *exchange) write(name string, secrets []string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	said := canonical(b.String()) // one way of writing each string, so that no escape hides one
	if said == "" {
		return errors.New("record: a body names a key twice or nests too deep, so it cannot be searched for credentials, and is not written")
	}
	for _, s := range secrets {
		written := (&schema.Value{Kind: schema.String, Text: s}).String()
		if strings.Contains(said, written[1:len(written)-1]) {
			return errors.New("record: a credential of the request shows up in the exchange, so it is not written")
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// secretsOf returns the credentials of a request: of headers, of the query, of the address.
func secretsOf(req *http.Request) []string {
	var out []string
	for key, values := range req.Header {
		if secret.MatchString(key) {
			for _, v := range values {
				_, bare, found := strings.Cut(v, " ") // "Bearer KEY"
				if out = append(out, v); found {
					out = append(out, bare)
				}
			}
		}
	}
	for key, values := range req.URL.Query() {
		if secret.MatchString(key) {
			out = append(out, values...)
		}
	}
	if password, ok := req.URL.User.Password(); ok {
		out = append(out, password)
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < 4 })
}
