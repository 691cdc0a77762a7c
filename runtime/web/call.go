package web

import (
	"cmp"
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
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
	"github.com/routegen/routegen/runtime/web/internal/names"
)

// MaxReason bounds texts that are stored as they come, in bytes.
const MaxReason = 4000

const maxBy = 200

type callKey struct{}

// Call is one request on its way through the server, as an [Endpoint] gets it.
type Call struct {
	s *Server
	// as the tenant of the caller sees it
	engine *thread.Engine
	w      http.ResponseWriter
	r      *http.Request
	//nolint:containedctx // of the connection; that of r outlives it: nothing stops half-way
	came  context.Context
	id    string
	who   principal
	route *Endpoint
	body  []byte
	limit int               // of a page
	asked *thread.Interrupt // that of the path
	about string            // thread or interrupt, for the audit line
	acts  []string          // in whose names the operator acts
}

// handle checks what the route demands, and answers.
func (c *Call) handle() error {
	c.came = c.r.Context()
	defer c.giveTime()()
	if err := c.permit(); err != nil {
		return err
	}
	query := c.r.URL.Query()
	for name, values := range query {
		if len(values) > 1 || !slices.Contains(c.route.Query, name) {
			return BadRequest("the query may hold, once each: %v", c.route.Query)
		}
	}
	limit, err := c.numberParam("limit", 1000)
	if c.limit = cmp.Or(int(limit), thread.DefaultLimit); err != nil {
		return err
	}
	if err := c.receive(); err != nil {
		return err
	}
	if c.route.Stream != nil {
		c.r = c.r.WithContext(c.came)
		return c.route.Stream(c)
	}
	defer c.giveTime()()
	out, err := c.route.Do(c)
	if err != nil {
		return err
	}
	if c.r.Method != http.MethodGet {
		c.Audit(c.route.Status, "")
	}
	return c.reply(out)
}

// giveTime gives the call Config.Timeout from now on. A client that goes away stops nothing.
func (c *Call) giveTime() context.CancelFunc {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.came), c.s.cfg.Timeout)
	c.r = c.r.WithContext(ctx)
	return cancel
}

// permit holds the caller's token to the route. What another thread has does not exist for it.
func (c *Call) permit() error {
	name, interrupt := c.r.PathValue("thread"), c.r.PathValue("interrupt")
	c.about = name + interrupt
	if name == "" && c.route.QueryRequired {
		name = c.r.URL.Query().Get("thread")
	}
	for _, id := range []string{name, interrupt, c.r.PathValue("grant")} {
		if id != "" && !input.ValidID(id) {
			return BadRequest("that is no id: " + input.IDRule)
		}
	}
	if interrupt != "" {
		var err error
		if c.asked, err = c.engine.Interrupt(c.Context(), interrupt); err != nil {
			return err
		}
		name = c.asked.Thread
		c.about = name + " " + interrupt
	}
	g := c.who.grant
	switch {
	case g == nil, c.route.Needs == AnyToken:
		return nil
	case c.who.person != nil:
		if right := cmp.Or(c.route.Needs, c.route.People); right == "" || !c.who.may(right) {
			return ErrForbidden
		}
		return nil
	case c.route.Needs == "":
		return ErrForbidden
	case c.route.Machine: // what it may see of the machine, Do says
	case name != g.Thread, interrupt != "" && g.Interrupt != "" && g.Interrupt != interrupt:
		return ErrNotFound
	case interrupt == "" && g.Interrupt != "":
		return ErrForbidden
	}
	if !c.who.may(c.route.Needs) {
		return ErrForbidden
	}
	return nil
}

// receive reads the body: JSON by its header, of bounded size, in the time that [Server.ServeHTTP]
// has set. One that the route does not take is read too, and let go: a stream that began before it
// would wait for it, without limit.
func (c *Call) receive() (err error) {
	if c.route.Body != "" {
		media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
		if err != nil || media != "application/json" {
			return refusal(http.StatusUnsupportedMediaType, runtime.CodeInvalid,
				"send application/json")
		}
	}
	if c.r.Body == http.NoBody {
		return nil
	}
	c.body, err = io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, MaxBody))
	if tooBig, is := errors.AsType[*http.MaxBytesError](err); is {
		return refusal(http.StatusRequestEntityTooLarge, runtime.CodeInvalid,
			fmt.Sprintf("the body has more than %d bytes", tooBig.Limit))
	}
	if err != nil {
		c.w.Header().Set("Connection", "close")
		return refusal(http.StatusRequestTimeout, runtime.CodeInvalid, "the body did not arrive")
	}
	// a recorder in a test has none
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	return nil
}

func (c *Call) reply(out any) error {
	if out == nil {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	out = c.withhold(out)
	data, ok := out.([]byte)
	if !ok {
		var err error
		// with < and > escaped: inert wherever it ends up
		if data, err = json.Marshal(out); err != nil {
			return err
		}
	}
	// a recorder in a test has none
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(c.s.cfg.Timeout))
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(c.route.Status)
	//nolint:gosec // JSON, sent as that with nosniff: no browser takes it for a page
	_, _ = c.w.Write(data) // a client that is gone hears nothing
	return nil
}

// refuse answers with a problem. Refused tokens and defects are logged; nothing that the caller
// sent is.
func (c *Call) refuse(err error) {
	p := ProblemOf(err)
	p.Request = c.id
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest,
		http.StatusTooManyRequests:
		c.Audit(p.Status, p.Code)
	case http.StatusServiceUnavailable: // the text of a store quotes no user
		c.s.log.Error("web unavailable", "request", c.id, "error", err.Error())
	case http.StatusInternalServerError:
		c.LogDefect(err)
	default:
		if c.route != nil && c.r.Method != http.MethodGet {
			c.Audit(p.Status, p.Code)
		}
	}
	p.write(c.w)
}

// Audit writes who did what to what. The thread's own log has the change itself.
func (c *Call) Audit(status int, code runtime.Code) {
	who := c.who.label()
	if status == http.StatusUnauthorized {
		who = "nobody"
	}
	c.s.log.Info("web audit", "request", c.id, "who", who, "operation", c.operation(), "about",
		c.about, "status", status, "code", code)
}

func (c *Call) operation() string {
	if c.route == nil {
		return ""
	}
	return c.route.ID
}

// innermost is the cause of an error. Its type may be logged; its text may hold what people said.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// Recover is deferred: it keeps a defect of one call from the others.
func (c *Call) Recover() {
	if r := recover(); r != nil {
		if err, is := r.(error); is && errors.Is(err, http.ErrAbortHandler) {
			panic(r) //nolint:forbidigo // net/http wants it
		}
		c.s.log.Error("web defect", "request", c.id, "panic", fmt.Sprintf("%T", r), "stack",
			string(debug.Stack()))
		if c.w != nil { // a socket has left its call
			c.refuse(&runtime.Error{Code: runtime.CodeInternal})
		}
	}
}

const isReserved = "is a name of the engine's own, or of a group: give a person's"

// operatorName is the name under which the operator acts who names no person.
const operatorName = "operator"

// reservedName reports whether a log would take a name for that of the engine, the operator or a
// group.
func reservedName(name string) bool {
	if normal, err := names.Normal(name); err == nil {
		name = normal
	}
	return name == "policy" || name == operatorName ||
		strings.HasPrefix(name, operatorName+" for ") ||
		strings.HasPrefix(name, runtime.GroupPrefix)
}

// By returns in whose name a call acts: the operator types it, anybody else is who they are and may
// name nobody else. What an operator types is brought to its [NormalName]. The names policy and
// operator are refused: the log has them for the engine, and for an operator who names nobody. A
// door whose calls have a context of their own gives it to [Call.Acting] after that.
func (c *Call) By(named string) (string, error) {
	switch g := c.who.grant; {
	case g != nil && named != "" && named != g.By:
		return "", ErrForbidden
	case g != nil:
		return g.By, nil
	case named == "":
		return operatorName, nil
	}
	by, err := typedName(named)
	if err == nil && !slices.Contains(c.acts, by) {
		c.acts = append(slices.Clip(c.acts), by)
	}
	return by, err
}

// typedName returns the normal form of a name that an operator types. It refuses what is empty
// then, too long, or the engine's own.
func typedName(named string) (string, error) {
	by, err := names.Normal(named)
	switch {
	case err != nil:
		return "", input.Invalid("/by", err.Error())
	case by == "":
		return "", input.Invalid("/by", "is empty: give the name of a person")
	case reservedName(by):
		return "", input.Invalid("/by", isReserved)
	case len(by) > maxBy:
		return "", input.Invalid("/by", fmt.Sprintf("has more than %d bytes", maxBy))
	}
	return by, nil
}

// Form returns an Endpoint.Do that decodes the body strictly into a struct: unknown and repeated
// names are refused, and so is a missing field whose tag has neither omitempty nor omitzero. A
// field By is set to the person who acts, see [Call.By]; a field Reason is bounded.
func Form[T any](do func(c *Call, f *T) (any, error)) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		f := new(T)
		if err := input.Decode(c.body, f); err != nil {
			return nil, err
		}
		form := reflect.ValueOf(f).Elem()
		if field := form.FieldByName("Reason"); field.IsValid() && field.Len() > MaxReason {
			return nil, input.Invalid("/reason", fmt.Sprintf("has more than %d bytes", MaxReason))
		}
		if field := form.FieldByName("By"); field.IsValid() {
			by, err := c.By(field.String())
			if err != nil {
				return nil, err
			}
			field.SetString(by)
		}
		return do(c, f)
	}
}

// RequestID returns the id under which the engine knows this call, so that the same one again finds
// the first result; "" when the caller gave no key.
func (c *Call) RequestID() (string, error) {
	const most = 200
	key := c.r.Header.Get("Idempotency-Key")
	switch {
	case key == "":
		return "", nil
	case len(key) > most:
		return "", BadRequest("the Idempotency-Key has more than %d bytes", most)
	}
	sum := sha256.Sum256([]byte(c.Caller() + "\x00" + c.route.ID + "\x00" + key))
	return "web/" + hex.EncodeToString(sum[:16]), nil
}

// threadID is the id of the thread that a request makes.
func threadID(request string) string { return strings.ReplaceAll(request, "/", "-") }

// numberParam reads a whole number of the query; absent is 0.
func (c *Call) numberParam(name string, most int64) (int64, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := whole(text, 0, most)
	if err != nil {
		return 0, BadRequest("%s is a whole number from 0 to %d", name, most)
	}
	return n, nil
}

// whole reads a number that is written one way only.
func whole(text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || strconv.FormatInt(n, 10) != text {
		return 0, BadRequest("%q is no whole number from %d to %d", text, least, most)
	}
	return n, nil
}
