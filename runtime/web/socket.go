package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/routegen/routegen/runtime"
)

// The messages of the WebSocket. A client says which thread it follows (thread_context), asks it to pause (interrupt) and answers what it
// waits for (resume); each is acknowledged under its own id. The rows of the thread come between, in their order.
const (
	frameContext   = "thread_context"
	frameInterrupt = "interrupt"
	frameResume    = "resume"
	frameError     = "error"
	frameRow       = "row"
)

// frame is one message of the server.
type frame struct {
	Type    string `json:"type"`
	Payload any    `json:"payload"`
	ID      string `json:"id,omitempty"`

	rows <-chan Row // what is followed once this message is out
}

// contextAck, and the acks of interrupt and resume, have the keys that clients of the original know.
type contextAck struct {
	Success bool   `json:"success"`
	Thread  string `json:"thread_id"`
	Error   string `json:"error,omitempty"`
}

type frameAck struct {
	Success bool   `json:"success"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"`
}

// frameForm is one message of a client.
type frameForm struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
	ID      string          `json:"id,omitempty"`
}

// payloadForm is what the payloads hold. Some clients send more than is read: session_id and modified_plan say nothing here.
type payloadForm struct {
	Thread    string          `json:"thread_id"`
	User      string          `json:"user_id,omitempty"`
	Session   string          `json:"session_id,omitempty"`
	After     string          `json:"after,omitempty"` // thread_context: the id of the last row that came; default: from the beginning
	Reason    string          `json:"reason,omitempty"`
	Mode      string          `json:"mode,omitempty"`
	Plan      json.RawMessage `json:"modified_plan,omitempty"`
	UserInput json.RawMessage `json:"user_input,omitempty"`   // resume: a string, or an object with message
	Interrupt string          `json:"interrupt_id,omitempty"` // resume: default is the one that is open
	Value     json.RawMessage `json:"value,omitempty"`        // resume: an answer that is no text
	RouteTo   string          `json:"route_to,omitempty"`     // resume: where the work goes on; user_input is the note then
}

// socket is one connection. Its reader takes one message at a time, and a full queue of replies makes it wait; its writer takes rows from the
// store as fast as the client reads. So what a connection holds is bounded, whatever the client does.
type socket struct {
	*call
	conn     *websocket.Conn
	life     context.Context //nolint:containedctx // of the connection, which outlives each of its messages
	end      context.CancelFunc
	user     string
	replies  chan *frame
	unfollow context.CancelFunc
}

// comeBack is what a client is told whose connection ends before it wants that.
const comeBack = "come back with the id of the last row"

func (c *call) socket() error {
	if g := c.who.grant; g != nil && g.Interrupt != "" {
		return errForbidden
	}
	ctx, leave, err := c.enter(context.WithoutCancel(c.ctx())) // the reader hears when the connection ends
	if err != nil {
		return err
	}
	s := &socket{call: c, replies: make(chan *frame, 16), unfollow: func() {}}
	options := &websocket.AcceptOptions{OriginPatterns: c.s.cfg.Origins, OnPingReceived: func(context.Context, []byte) bool {
		return c.s.calls.take(c.who.label()) // who floods is not answered
	}}
	if offer := c.r.Header.Get("Sec-WebSocket-Protocol"); strings.Contains(offer, protocol) {
		options.Subprotocols = []string{protocol}
	}
	if s.conn, err = websocket.Accept(lean{c.w}, c.r, options); err != nil {
		leave()
		c.audit(http.StatusForbidden, runtime.CodeForbidden)
		return nil //nolint:nilerr // it has answered by itself
	}
	s.conn.SetReadLimit(maxBody)
	s.life, s.end = context.WithCancel(ctx)
	c.w, c.r = nil, nil // with what net/http holds for a call: the socket outlives it, and is idle most of its life
	go s.run(leave)
	return nil
}

// run serves a connection until it ends.
func (s *socket) run(leave func()) {
	defer leave()
	defer s.recovered()
	defer func() { _ = s.conn.CloseNow() }()
	done, own := make(chan struct{}), *s.call
	go func() {
		defer close(done)
		defer s.end()
		s.write(s.life, &own)
	}()
	s.read(s.life)
	s.end()
	<-done
}

// protocol is the subprotocol that a browser offers beside its token, and that is chosen.
const protocol = "routegen"

// read takes messages until the connection ends. None of them ends it but too many.
func (s *socket) read(ctx context.Context) {
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			if ctx.Err() == nil { // where the other end has not said goodbye: it broke the protocol, or is gone
				_ = s.conn.Close(websocket.StatusProtocolError, "")
			}
			return
		}
		if !s.s.calls.take(s.who.label()) {
			_ = s.conn.Close(websocket.StatusPolicyViolation, "too many messages")
			return
		}
		out := s.handle(ctx, kind, data)
		select {
		case s.replies <- &out:
		case <-ctx.Done():
			return
		}
	}
}

// handle does what a message says, and returns the reply.
func (s *socket) handle(ctx context.Context, kind websocket.MessageType, data []byte) frame {
	var in frameForm
	var p payloadForm
	err := invalid("send text")
	if kind == websocket.MessageText {
		if err = read(data, &in); err == nil {
			err = below(read(in.Payload, &p), "/payload")
		}
	}
	if err != nil {
		var id struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(data, &id) // as far as it can be known
		return s.refused(id.ID, err)
	}
	if err := s.reaches(ctx, &in, &p); err != nil {
		return s.refused(in.ID, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.s.cfg.Timeout) // a connection that drops stops nothing half-way
	defer cancel()
	s.about = p.Thread
	switch in.Type {
	case frameContext:
		out := frame{Type: frameContext + "_ack", Payload: contextAck{Success: true, Thread: p.Thread}, ID: in.ID}
		if out.rows, err = s.choose(ctx, &p); err != nil {
			out.Payload = contextAck{Thread: p.Thread, Error: said(err)}
		}
		return out
	case frameInterrupt:
		told, err := s.pause(ctx, &p)
		return s.acked(&in, &p, told, err)
	default:
		told, err := s.resume(ctx, &p)
		return s.acked(&in, &p, told, err)
	}
}

// reaches holds a message to its type, and to the token of the connection, which may have been revoked since.
func (s *socket) reaches(ctx context.Context, in *frameForm, p *payloadForm) error {
	may := map[string]string{frameContext: mayView, frameInterrupt: mayEscape, frameResume: mayAnswer}[in.Type]
	switch {
	case may == "":
		return invalid("%q is no type of message: use thread_context, interrupt or resume", in.Type)
	case !legalID(p.Thread):
		return wrong("/payload/thread_id", "is no id: use letters, digits and - _ . ~, at most 200")
	case len(p.Reason) > maxReason:
		return wrong("/payload/reason", "is too long")
	}
	if g := s.who.grant; g != nil {
		if _, err := s.s.granted(ctx, g.Thread, g.ID); err != nil {
			return err
		}
		if g.Thread != p.Thread {
			return errNotFound
		}
		p.User = "" // the token says who it is
	}
	if !s.who.may(may) {
		return errForbidden
	}
	if p.User == "" {
		p.User = s.user
	}
	return nil
}

func (s *socket) refused(id string, err error) frame {
	p := problemOf(err)
	p.Request = s.id
	return frame{Type: frameError, Payload: p, ID: id}
}

func (s *socket) acked(in *frameForm, p *payloadForm, told string, err error) frame {
	ack := frameAck{Success: err == nil, Thread: p.Thread, Message: told}
	status, code := http.StatusOK, runtime.Code("")
	if err != nil {
		status, code = problemOf(err).Status, problemOf(err).Code
		if ack.Message = said(err); in.Type == frameInterrupt && code == runtime.CodeNotWaiting {
			ack.Message = "not_running"
		}
	}
	s.audit(status, code)
	return frame{Type: in.Type + "_ack", Payload: ack, ID: in.ID}
}

// said is a refusal in an ack: its code, and what can be told.
func said(err error) string {
	p := problemOf(err)
	return string(p.Code) + ": " + p.Detail
}

// choose makes the connection follow a thread, from its beginning or after a row, and no other one any more.
func (s *socket) choose(ctx context.Context, p *payloadForm) (<-chan Row, error) {
	if _, err := s.s.engine.Thread(ctx, p.Thread); err != nil {
		return nil, err
	}
	at, err := s.s.placed(ctx, p.Thread, p.After)
	if err != nil {
		return nil, err
	}
	s.user = p.User
	s.unfollow()
	var following context.Context
	following, s.unfollow = context.WithCancel(s.life)
	return s.follow(following, p.Thread, at.Cursor, s.end), nil //nolint:contextcheck // rows outlive the message that asked for them
}

func (s *socket) pause(ctx context.Context, p *payloadForm) (string, error) {
	if p.Mode == "" {
		p.Mode = runtime.EscapeSafe
	}
	by, err := s.by(p.User)
	if err != nil {
		return "", err
	}
	return s.s.engine.Escape(ctx, p.Thread, p.Mode, by, p.Reason)
}

// resume answers what the thread waits for. A text on a paused thread is how the work shall change, and an empty one that it shall not.
func (s *socket) resume(ctx context.Context, p *payloadForm) (string, error) {
	t, err := s.s.engine.Thread(ctx, p.Thread)
	if err != nil {
		return "", err
	}
	a := runtime.Answer{Interrupt: p.Interrupt, Value: p.Value, RouteTo: p.RouteTo}
	if a.By, err = s.by(p.User); err != nil {
		return "", err
	}
	if g := s.who.grant; g != nil && g.Once {
		a.Request, a.Spend = spentRequest(g.ID), true
	}
	if p.UserInput != nil {
		var said struct {
			Message string `json:"message"`
		}
		if err := read(worded(p.UserInput), &said); err != nil {
			return "", below(err, "/payload/user_input")
		}
		if p.Value != nil {
			return "", wrong("/payload", "has a user_input and a value: send one of them")
		}
		if err := put(&a, t, said.Message); err != nil {
			return "", err
		}
	}
	i, err := s.s.engine.Answer(ctx, p.Thread, a)
	if err == nil && a.Request != "" && (i == nil || !gave(i, a)) {
		err = errOtherBody
	}
	return "resumed", err
}

// put writes a text as the answer to the interrupt that it is for.
func put(a *runtime.Answer, t *runtime.Thread, text string) (err error) {
	var i *runtime.Interrupt
	for _, open := range t.Open {
		if a.Interrupt == "" && open.State == runtime.InterruptOpen || open.ID == a.Interrupt {
			i = open
		}
	}
	switch {
	case a.RouteTo != "":
		a.Text = text
	case i != nil && i.Kind == runtime.KindUserEscape && strings.TrimSpace(text) == "":
		a.Value = json.RawMessage(`"continue"`)
	case i != nil && i.Kind == runtime.KindUserEscape:
		a.Value, err = runtime.Encode(map[string]string{"choice": "modify", "text": text})
	case i != nil && i.Plain == "" && i.Kind != runtime.KindSystemError:
		a.Value, err = runtime.Encode(text)
	default: // read as the question says; and the engine knows what to say when there is none
		a.Text = text
	}
	return err
}

// write sends replies and rows, one at a time, until the connection ends or a write takes too long. Who is cut then comes back with the id of
// the last row that reached it. own is the call as the writer's audit lines see it.
func (s *socket) write(ctx context.Context, own *call) {
	beat := time.NewTicker(s.s.cfg.Beat)
	defer beat.Stop()
	var rows <-chan Row
	for {
		var out *frame
		select {
		case out = <-s.replies:
		case row, more := <-rows:
			if !more { // another thread is followed now, or all is over
				rows = nil
				continue
			}
			own.about = row.Thread
			out = &frame{Type: frameRow, Payload: row, ID: row.ID}
		case <-beat.C:
			if out = s.ping(ctx, own); out == nil {
				continue
			}
		case <-ctx.Done():
			_ = s.conn.Close(websocket.StatusGoingAway, comeBack)
			return
		}
		if !s.hand(ctx, own, out) {
			return
		}
		beat.Reset(s.s.cfg.Beat) // what was taken tells as much as a pong, which would stand behind all that is on its way
		if out.rows != nil {
			rows = out.rows
		}
	}
}

// hand writes a message, and reports whether the client has taken it in time. One that has not is noted, and gets as much time again: who reads
// then hears why the connection ends. Who does not cannot hear it, since a close may not stand inside a message.
func (s *socket) hand(ctx context.Context, own *call, out *frame) bool {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(out); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.s.cfg.Timeout)
	defer cancel()
	late := time.AfterFunc(s.s.cfg.Timeout, func() { own.audit(http.StatusRequestTimeout, runtime.CodeUnavailable) })
	err := s.conn.Write(ctx, websocket.MessageText, bytes.TrimSpace(b.Bytes()))
	if late.Stop() {
		return err == nil
	}
	if err == nil {
		_ = s.conn.Close(websocket.StatusTryAgainLater, comeBack)
	}
	return false
}

// ping finds out whether the client of an idle connection is still there, and ends the connection when it is not. A message of the client says
// so too: its reply is returned, since the reader may wait to hand that over, and would not get to the answer.
func (s *socket) ping(ctx context.Context, own *call) (out *frame) {
	answer := make(chan error, 1)
	go func() {
		timed, cancel := context.WithTimeout(ctx, s.s.cfg.Timeout)
		defer cancel()
		answer <- s.conn.Ping(timed)
	}()
	select {
	case out = <-s.replies:
	case err := <-answer:
		if errors.Is(err, context.DeadlineExceeded) {
			own.audit(http.StatusRequestTimeout, runtime.CodeUnavailable)
			_ = s.conn.Close(websocket.StatusTryAgainLater, comeBack)
		}
		if err != nil {
			s.end()
		}
	}
	return out
}
