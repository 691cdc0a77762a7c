package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Bounds of texts that are stored as they come.
const (
	maxBy     = 200
	maxReason = 4000
)

type callKey struct{}

// call is one request on its way through the server.
type call struct {
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	came  context.Context //nolint:containedctx // of the connection; that of r outlives it, so that nothing stops half-way
	id    string
	who   principal
	route *route
	body  []byte
	limit int                // of a page
	asked *runtime.Interrupt // that of the path
	about string             // thread or interrupt, for the audit line
}

// serve checks what the route demands, and answers.
func (c *call) serve() error {
	if err := c.permit(); err != nil {
		return err
	}
	query := c.r.URL.Query()
	for name, values := range query {
		if len(values) > 1 || !slices.Contains(c.route.query, name) {
			return invalid("the query may hold, once each: %v", c.route.query)
		}
	}
	limit, err := c.number("limit", 1000)
	if c.limit = int(limit); err != nil {
		return err
	}
	if c.limit == 0 {
		c.limit = runtime.DefaultLimit
	}
	if err := c.receive(); err != nil {
		return err
	}
	if c.route.stream != nil {
		return c.route.stream(c)
	}
	c.came = c.r.Context()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.came), c.s.cfg.Timeout) // a client that goes away stops nothing half-way
	defer cancel()
	c.r = c.r.WithContext(ctx)
	out, err := c.route.do(c)
	if err != nil {
		return err
	}
	if c.r.Method != http.MethodGet {
		c.audit(c.route.status, "")
	}
	return c.reply(out)
}

func (c *call) ctx() context.Context { return c.r.Context() }

// permit holds the caller's token to the route. What another thread has does not exist for it.
func (c *call) permit() error {
	name, interrupt := c.r.PathValue("thread"), c.r.PathValue("interrupt")
	c.about = name + interrupt
	for _, id := range []string{name, interrupt, c.r.PathValue("grant")} {
		if id != "" && !legalID(id) {
			return invalid("that is no id: use letters, digits and - _ . ~, at most 200")
		}
	}
	if interrupt != "" {
		var err error
		if c.asked, err = c.s.engine.Interrupt(c.ctx(), interrupt); err != nil {
			return err
		}
		name = c.asked.Thread
		c.about = name + " " + interrupt
	}
	g := c.who.grant
	switch {
	case g == nil, c.route.may == anyToken:
		return nil
	case c.route.may == "":
		return errForbidden
	case name != g.Thread, interrupt != "" && g.Interrupt != "" && g.Interrupt != interrupt:
		return errNotFound
	case interrupt == "" && g.Interrupt != "", c.route.often && g.Once:
		return errForbidden
	}
	if !c.who.may(c.route.may) {
		return errForbidden
	}
	return nil
}

// receive reads the body: JSON by its header, of bounded size, in the time that [Server.ServeHTTP] has set. One that the route does not take is
// read too, and let go: a stream that began before it would wait for it, without limit.
func (c *call) receive() (err error) {
	if c.route.body != "" {
		media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
		if err != nil || media != "application/json" {
			return refusal(http.StatusUnsupportedMediaType, runtime.CodeInvalid, "send application/json")
		}
	}
	if c.r.Body == http.NoBody {
		return nil
	}
	c.body, err = io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	if tooBig, is := errors.AsType[*http.MaxBytesError](err); is {
		return refusal(http.StatusRequestEntityTooLarge, runtime.CodeInvalid, fmt.Sprintf("the body has more than %d bytes", tooBig.Limit))
	}
	if err != nil {
		c.w.Header().Set("Connection", "close")
		return refusal(http.StatusRequestTimeout, runtime.CodeInvalid, "the body did not arrive")
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // a recorder in a test has none
	return nil
}

func (c *call) reply(out any) error {
	if out == nil {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	data, ok := out.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(out); err != nil { // with < and > escaped: inert wherever it ends up
			return err
		}
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(c.s.cfg.Timeout)) // a recorder in a test has none
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(c.route.status)
	_, _ = c.w.Write(data) // a client that is gone hears nothing
	return nil
}

// refuse answers with a problem. Refused tokens and defects are logged; nothing that the caller sent is.
func (c *call) refuse(err error) {
	p := problemOf(err)
	p.Request = c.id
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusTooManyRequests:
		c.audit(p.Status, p.Code)
	case http.StatusServiceUnavailable: // a store says what it lacks, and quotes nobody
		c.s.log.Error("web unavailable", "request", c.id, "error", err.Error())
	case http.StatusInternalServerError:
		c.s.log.Error("web defect", "request", c.id, "operation", c.operation(), "type", fmt.Sprintf("%T", innermost(err)))
	default:
		if c.route != nil && c.r.Method != http.MethodGet {
			c.audit(p.Status, p.Code)
		}
	}
	p.write(c.w)
}

// audit writes who did what to what. The thread's own log has the change itself.
func (c *call) audit(status int, code runtime.Code) {
	who := c.who.label()
	if status == http.StatusUnauthorized {
		who = "nobody"
	}
	c.s.log.Info("web audit", "request", c.id, "who", who, "operation", c.operation(), "about", c.about, "status", status, "code", code)
}

func (c *call) operation() string {
	if c.route == nil {
		return ""
	}
	return c.route.id
}

// innermost is the cause of an error. Its type may be logged; its text may hold what people said.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// recovered keeps a defect of one call from the others.
func (c *call) recovered() {
	if r := recover(); r != nil {
		if err, is := r.(error); is && errors.Is(err, http.ErrAbortHandler) {
			panic(r) //nolint:forbidigo // net/http wants it
		}
		c.s.log.Error("web defect", "request", c.id, "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
		if c.w != nil { // a socket has left its call
			c.refuse(&runtime.Error{Code: runtime.CodeInternal})
		}
	}
}

// by is in whose name a call acts: the operator says so, a token has it.
func (c *call) by(named string) (string, error) {
	switch g := c.who.grant; {
	case len(named) > maxBy:
		return "", wrong("/by", fmt.Sprintf("has more than %d bytes", maxBy))
	case g == nil && named == "":
		return "operator", nil
	case g == nil:
		return named, nil
	case named != "" && named != g.By:
		return "", errForbidden
	default:
		return g.By, nil
	}
}

// with makes an operation of a function on the body: its form, in whose By is who acts.
func with[T any](do func(c *call, f *T) (any, error)) func(c *call) (any, error) {
	return func(c *call) (any, error) {
		f := new(T)
		if err := read(c.body, f); err != nil {
			return nil, err
		}
		form := reflect.ValueOf(f).Elem()
		if field := form.FieldByName("Reason"); field.IsValid() && field.Len() > maxReason {
			return nil, wrong("/reason", fmt.Sprintf("has more than %d bytes", maxReason))
		}
		if field := form.FieldByName("By"); field.IsValid() {
			by, err := c.by(field.String())
			if err != nil {
				return nil, err
			}
			field.SetString(by)
		}
		return do(c, f)
	}
}

// request is the id under which the engine knows this call, so that the same one again finds the first result; "" when the caller gave no key.
func (c *call) request() (string, error) {
	const most = 200
	key := c.r.Header.Get("Idempotency-Key")
	if key == "" || len(key) > most {
		if key != "" {
			return "", invalid("the Idempotency-Key has more than %d bytes", most)
		}
		return "", nil
	}
	who := "operator"
	if c.who.grant != nil {
		who = c.who.grant.ID
	}
	sum := sha256.Sum256([]byte(who + "\x00" + c.route.id + "\x00" + key))
	return "web/" + hex.EncodeToString(sum[:16]), nil
}

// threadID is the id of the thread that a request makes.
func threadID(request string) string { return strings.ReplaceAll(request, "/", "-") }

// number reads a whole number of the query; absent is 0.
func (c *call) number(name string, most int64) (int64, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := whole(text, 0, most)
	if err != nil {
		return 0, invalid("%s is a whole number from 0 to %d", name, most)
	}
	return n, nil
}

// whole reads a number that is written one way only.
func whole(text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || strconv.FormatInt(n, 10) != text {
		return 0, invalid("%q is no whole number from %d to %d", text, least, most)
	}
	return n, nil
}

// same compares two JSON documents without regard to spaces and the order of keys.
func same(a, b json.RawMessage) bool {
	one, err1 := canonical(a)
	two, err2 := canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// canonical writes a JSON document in one way. Numbers stay as they are written.
func canonical(data []byte) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
