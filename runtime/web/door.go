package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

// Door is a way in beside REST, like the WebSocket of package socket. Its routes stand in the table
// of the server, so they share its authentication, limits, audit lines and OpenAPI document. A
// program mounts it in [Config]:
//
//	web.Config{Doors: []web.Door{socket.Door(), agui.Door()}}
type Door struct {
	Routes []Endpoint
	// Schemas is a JSON object: the schemas that Body and Reply of the routes name. The first of a
	// schema's examples is that of the operations.
	Schemas []byte
	// NeedsConversation has [New] return CodeInvalid if Config.Conversation is nil.
	NeedsConversation bool
	// Reroutes is the machine whose running nodes take reroute events through the door.
	Reroutes string
	// Plan returns what a [Moment] shows as the plan of a thread, nil if the thread has none.
	Plan func(t *thread.Thread) any
}

// addDoors checks the doors of a server, and adds their schemas to the document's.
func (s *Server) addDoors() error {
	s.schemas = map[string]json.RawMessage{}
	for _, d := range append([]Door{{Schemas: schemas}}, s.cfg.Doors...) {
		// names that are there stay, and those of the door come
		if d.Schemas != nil {
			if err := json.Unmarshal(d.Schemas, &s.schemas); err != nil {
				return runtime.Errorf(runtime.CodeInvalid, "new server",
					"schemas of a door: %w", err)
			}
		}
		if d.NeedsConversation && s.cfg.Conversation == nil {
			return runtime.Errorf(runtime.CodeInvalid, "new server", "a door serves "+
				"conversations and Config.Conversation is nil: set it, or leave the door out")
		}
	}
	return nil
}

// The methods below are what the routes of a door may use of a call.

// Tenant returns whose threads the caller sees.
func (c *Call) Tenant() string { return c.s.tenantOf(c.who) }

// Engine returns the engine as the tenant of the caller sees it.
func (c *Call) Engine() *thread.Engine { return c.engine }

// Conversation returns Config.Conversation for the tenant of the caller, nil if there is none.
func (c *Call) Conversation() *chat.Conversation {
	if c.s.cfg.Conversation == nil {
		return nil
	}
	own := *c.s.cfg.Conversation
	own.Engine = c.engine
	return &own
}

// Config returns the configuration of the server, with its defaults. It must not be changed.
func (c *Call) Config() *Config { return &c.s.cfg }

// Context returns the context of the call. It does not end when the client goes away, except in an
// Endpoint.Stream: a change is never left half-way.
func (c *Call) Context() context.Context { return c.Acting(c.r.Context()) }

// Acting returns a context with which histories say that the operator acted for the people whom
// [Call.By] was given, and a person who has signed in answers what their groups may.
func (c *Call) Acting(ctx context.Context) context.Context {
	if who := c.Identity(); who != nil {
		return thread.InGroups(ctx, who.User, who.Groups...)
	}
	if len(c.acts) == 0 {
		return ctx
	}
	return thread.ActFor(ctx, operatorName, c.acts...)
}

// HTTP returns the response and the request of the call.
func (c *Call) HTTP() (http.ResponseWriter, *http.Request) { return c.w, c.r }

// Body returns the body of the request.
func (c *Call) Body() []byte { return c.body }

// Detach returns the call of a connection that outlives its request: it holds on to neither the
// response nor the request. Its Context must not be used.
func (c *Call) Detach() *Call {
	out := *c
	out.w, out.r = nil, nil
	return &out
}

// Grant returns the capability token of the caller, nil for the operator. That of a person who has
// signed in is for no thread: ask [Call.Reaches] which ones a caller may be told of.
func (c *Call) Grant() *Grant { return c.who.grant }

// Caller identifies who makes the call, for what only they may go on with: the id of their
// capability token, a hash of who has signed in, and "operator" for the operator.
func (c *Call) Caller() string {
	if g := c.who.grant; g != nil {
		return g.ID
	}
	return operatorName
}

// Allows reports whether the caller's token is for an action.
func (c *Call) Allows(action string) bool { return c.who.may(action) }

// CheckGrant returns an error if the caller's token has expired or was revoked since the call
// began, or the person is signed in no longer.
func (c *Call) CheckGrant(ctx context.Context) error {
	if c.who.person != nil {
		return c.s.signedIn(c.who) //nolint:contextcheck // that of its request
	}
	if g := c.who.grant; g != nil {
		_, err := c.s.granted(ctx, c.engine, g.Thread, g.ID)
		return err
	}
	if c.who.key.life.Err() != nil {
		return errToken
	}
	return nil
}

// TakeRate uses up one call of the caller's rate, and reports whether there was one left.
func (c *Call) TakeRate() bool { return c.s.calls.Allow(c.who.label()) }

// SetAbout sets the thread or interrupt that the audit lines name.
func (c *Call) SetAbout(id string) { c.about = id }

// Problem returns what the caller may know of an error.
func (c *Call) Problem(err error) *Problem {
	p := ProblemOf(err)
	p.Request = c.id
	return p
}

// LogDefect logs the type of an internal error, whose text goes nowhere.
func (c *Call) LogDefect(err error) {
	c.s.log.Error("web defect", "request", c.id, "operation", c.operation(), "type",
		fmt.Sprintf("%T", innermost(err)))
}

// Rows returns the rows of a thread's outbox after a cursor, the id of a row; "" is the beginning.
// A row is handed out when the one before it was taken. The channel is closed when ctx ends, and
// after broken was called: the store failed, or the token was revoked. An unknown thread and a
// cursor that was never given out are refused.
func (c *Call) Rows(ctx, life context.Context, threadID, after string, broken func()) (
	<-chan Row, error) {
	if _, err := c.engine.Thread(ctx, threadID); err != nil {
		return nil, err
	}
	at, err := c.placed(ctx, threadID, after)
	if err != nil {
		return nil, err
	}
	return c.follow(life, threadID, at.Cursor, broken), nil
}

// Answer answers an interrupt of a thread. A token for one answer is spent in the same commit, and
// a request id that was used with another answer is refused with [ErrOtherBody]. It returns nil if
// the answer is kept for a later question.
func (c *Call) Answer(ctx context.Context, threadID string, a thread.Answer) (*thread.Interrupt,
	error) {
	a.NoOrders = !c.Allows(ActionOperate)
	if g := c.who.grant; g != nil && g.Once {
		a.Request, a.Spend = spentRequest(g.ID), true
	}
	i, err := c.engine.Answer(c.Acting(ctx), threadID, a)
	if err == nil && i != nil && a.Request != "" && !gave(i, a) {
		err = ErrOtherBody
	}
	return i, err
}

// Thread returns a thread as it is sent.
func (c *Call) Thread(id string) (any, error) {
	t, err := c.engine.Thread(c.Context(), id)
	return sent(threadOf, t, err)
}

// Patient returns a context for a call that waits for a model: it ends after Config.Patience, and
// with the connection. What it waits for continues in the engine.
func (c *Call) Patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Acting(c.came), c.s.cfg.Patience)
}

// Once does something that commits by itself and finds its own first result, like a reroute event.
// The same Idempotency-Key with the same body returns what was told the first time; with another
// body it is refused with [ErrOtherBody].
func (c *Call) Once(threadID string, do func() (told string, err error)) (string, error) {
	request, err := c.RequestID()
	if err != nil {
		return "", err
	}
	digest := c.digest()
	if told, err := c.reserve(threadID, request, digest); err != nil || told != "" {
		return told, err
	}
	told, err := do()
	if err != nil || request == "" {
		return told, err
	}
	return told, c.tell(threadID, request+"/told", digest, told)
}

// planOf returns the plan of a thread as the doors see it.
func (s *Server) planOf(t *thread.Thread) (json.RawMessage, error) {
	for i := range s.cfg.Doors {
		if see := s.cfg.Doors[i].Plan; see != nil {
			if plan := see(t); plan != nil {
				return runtime.Encode(plan)
			}
		}
	}
	return nil, nil
}

// reroutes reports whether the running nodes of a machine take reroute events.
func (c *Config) reroutes(machine string) bool {
	return slices.ContainsFunc(c.Doors, func(d Door) bool {
		return d.Reroutes != "" && d.Reroutes == machine
	})
}
