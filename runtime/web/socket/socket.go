package socket

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
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

// socket is one connection. Its reader takes one message at a time, and a full queue of replies
// makes it wait; its writer takes rows from the store as fast as the client reads. So what a
// connection holds is bounded, whatever the client does.
type socket struct {
	*web.Call
	conn *websocket.Conn
	//nolint:containedctx // of the connection, which outlives each of its messages
	life     context.Context
	end      context.CancelFunc
	user     string
	replies  chan *frame
	unfollow context.CancelFunc
}

// comeBack is the reason that a client gets when the server ends its connection.
const comeBack = "come back with the id of the last row"

// accept takes over the connection of a call, and serves it in a goroutine of its own.
func accept(c *web.Call) error {
	if g := c.Grant(); g != nil && g.Interrupt != "" {
		return web.ErrForbidden
	}
	w, r := c.HTTP()
	if r.Header.Get("Upgrade") == "" { // Accept would refuse it in words of its own
		return web.BadRequest("this is a WebSocket: send Upgrade: websocket")
	}
	// The reader notices the end of the connection by itself.
	ctx, leave, err := c.EnterStream(context.WithoutCancel(c.Context()))
	if err != nil {
		return err
	}
	// With the call net/http would hold what it needs for a request: a socket outlives it.
	s := &socket{Call: c.Detach(), replies: make(chan *frame, 16), unfollow: func() {}}
	options := &websocket.AcceptOptions{OriginPatterns: c.Config().Origins,
		OnPingReceived: func(context.Context, []byte) bool {
			return s.TakeRate() // a client that floods gets no pong
		}}
	if c.Identity() != nil && web.BearerToken(r) == "" {
		options.OriginPatterns = nil // a cookie, or a proxy's header, goes with pages of any origin
	}
	if offer := r.Header.Get("Sec-WebSocket-Protocol"); strings.Contains(offer, protocol) {
		options.Subprotocols = []string{protocol}
	}
	if s.conn, err = websocket.Accept(smallBuffers{w}, r, options); err != nil {
		leave()
		c.Audit(http.StatusForbidden, runtime.CodeForbidden)
		return nil //nolint:nilerr // Accept has answered
	}
	s.conn.SetReadLimit(web.MaxBody)
	s.life, s.end = context.WithCancel(ctx)
	go s.serveMessages(leave)
	return nil
}

// serveMessages serves a connection until it ends.
func (s *socket) serveMessages(leave func()) {
	defer leave()
	defer s.Recover()
	defer func() { _ = s.conn.CloseNow() }()
	done, own := make(chan struct{}), s.Detach()
	go func() {
		defer close(done)
		defer s.end()
		s.write(s.life, own)
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
			// The client sent no close frame: it broke the protocol, or is gone.
			if ctx.Err() == nil {
				_ = s.conn.Close(websocket.StatusProtocolError, "")
			}
			return
		}
		if !s.TakeRate() {
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
	err := web.BadRequest("send text")
	if kind == websocket.MessageText {
		if err = input.Decode(data, &in); err == nil {
			err = input.Under(input.Decode(in.Payload, &p), "/payload")
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
	// a connection that drops stops nothing half-way
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Config().Timeout)
	defer cancel()
	s.SetAbout(p.Thread)
	switch in.Type {
	case frameContext:
		out := frame{Type: frameContext + "_ack",
			Payload: contextAck{Success: true, Thread: p.Thread}, ID: in.ID}
		if out.rows, err = s.followThread(ctx, &p); err != nil {
			out.Payload = contextAck{Thread: p.Thread, Error: errorText(s.Problem(err))}
		}
		return out
	case frameInterrupt:
		told, err := s.requestPause(ctx, &p)
		return s.acked(&in, &p, told, err)
	default:
		told, err := s.resume(ctx, &p)
		return s.acked(&in, &p, told, err)
	}
}

// reaches holds a message to its type, and to the token of the connection, which may have been
// revoked since.
func (s *socket) reaches(ctx context.Context, in *frameForm, p *payloadForm) error {
	may := map[string]string{frameContext: web.ActionFollow, frameInterrupt: web.ActionEscape,
		frameResume: web.ActionAnswer}[in.Type]
	switch {
	case may == "":
		return web.BadRequest("%q is no type of message: use thread_context, interrupt or resume",
			in.Type)
	case !input.ValidID(p.Thread):
		return input.Invalid("/payload/thread_id", "is no id: "+input.IDRule)
	case len(p.Reason) > web.MaxReason:
		return input.Invalid("/payload/reason", "is too long")
	}
	if err := s.CheckGrant(ctx); err != nil {
		return err
	}
	if !s.Reaches(p.Thread) {
		return web.ErrNotFound
	}
	if s.Grant() != nil {
		p.User = "" // the token says who it is
	}
	if !s.Allows(may) {
		return web.ErrForbidden
	}
	if p.User == "" {
		p.User = s.user
	}
	return nil
}

func (s *socket) refused(id string, err error) frame {
	return frame{Type: frameError, Payload: s.Problem(err), ID: id}
}

func (s *socket) acked(in *frameForm, p *payloadForm, told string, err error) frame {
	ack := frameAck{Success: err == nil, Thread: p.Thread, Message: told}
	status, code := http.StatusOK, runtime.Code("")
	if err != nil {
		status, code = s.Problem(err).Status, s.Problem(err).Code
		if ack.Message = errorText(s.Problem(err)); in.Type == frameInterrupt &&
			code == runtime.CodeNotWaiting {
			ack.Message = "not_running"
		}
	}
	s.Audit(status, code)
	return frame{Type: in.Type + "_ack", Payload: ack, ID: in.ID}
}

// errorText is a refusal in an ack: its code and what may be known of it.
func errorText(p *web.Problem) string { return string(p.Code) + ": " + p.Detail }

// followThread makes the connection follow a thread, from its beginning or after a row, instead of
// the one it followed.
func (s *socket) followThread(ctx context.Context, p *payloadForm) (<-chan web.Row, error) {
	following, unfollow := context.WithCancel(s.life)
	rows, err := s.Rows(ctx, following, p.Thread, p.After, s.end)
	if err != nil {
		unfollow()
		return nil, err
	}
	s.unfollow()
	s.user, s.unfollow = p.User, unfollow
	return rows, nil
}

// requestPause asks the thread to pause.
func (s *socket) requestPause(ctx context.Context, p *payloadForm) (string, error) {
	if p.Mode == "" {
		p.Mode = thread.EscapeSafe
	}
	by, err := s.By(p.User)
	if err != nil {
		return "", err
	}
	return s.Engine().Escape(s.Acting(ctx), p.Thread, p.Mode, by, p.Reason)
}

// resume answers what the thread waits for. A text on a paused thread is how the work shall change,
// and an empty one that it shall not.
func (s *socket) resume(ctx context.Context, p *payloadForm) (string, error) {
	t, err := s.Engine().Thread(ctx, p.Thread)
	if err != nil {
		return "", err
	}
	a := thread.Answer{Interrupt: p.Interrupt, Value: p.Value, RouteTo: p.RouteTo}
	if a.By, err = s.By(p.User); err != nil {
		return "", err
	}
	if p.UserInput != nil {
		var text struct {
			Message string `json:"message"`
		}
		if err := input.DecodeMessage(p.UserInput, &text); err != nil {
			return "", input.Under(err, "/payload/user_input")
		}
		if p.Value != nil {
			return "", input.Invalid("/payload", "has a user_input and a value: send one of them")
		}
		if err := setText(&a, t, text.Message); err != nil {
			return "", err
		}
	}
	_, err = s.Answer(ctx, p.Thread, a)
	return "resumed", err
}

// setText writes a text as the answer to the interrupt that it is for.
func setText(a *thread.Answer, t *thread.Thread, text string) (err error) {
	var i *thread.Interrupt
	for _, open := range t.Open {
		if a.Interrupt == "" && open.State == thread.InterruptOpen || open.ID == a.Interrupt {
			i = open
		}
	}
	switch {
	case a.RouteTo != "":
		a.Text = text
	case i != nil && i.Kind == thread.KindUserEscape && strings.TrimSpace(text) == "":
		a.Value = json.RawMessage(`"continue"`)
	case i != nil && i.Kind == thread.KindUserEscape:
		a.Value, err = runtime.Encode(map[string]string{"choice": "modify", "text": text})
	case i != nil && i.Plain == "" && i.Kind != thread.KindSystemError:
		a.Value, err = runtime.Encode(text)
	default: // the engine reads it as the question says, and refuses it if nothing is open
		a.Text = text
	}
	return err
}

// write sends replies and rows, one at a time, until the connection ends or a write takes too long.
// A client that is cut comes back with the id of the last row that reached it. own is the call as
// the writer's audit lines see it.
func (s *socket) write(ctx context.Context, own *web.Call) {
	beat := time.NewTicker(s.Config().Beat)
	defer beat.Stop()
	var rows <-chan web.Row
	for {
		var out *frame
		select {
		case out = <-s.replies:
		case row, more := <-rows:
			if !more { // another thread is followed now, or all is over
				rows = nil
				continue
			}
			own.SetAbout(row.Thread)
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
		// a message that was taken shows as much as a pong, which would come after all of them
		beat.Reset(s.Config().Beat)
		if out.rows != nil {
			rows = out.rows
		}
	}
}

// hand writes a message, and reports whether the client has taken it in time. A slow client is
// noted in the audit log and gets as much time again: if it takes the message then, it is told why
// the connection ends. Otherwise it cannot be told, since a close frame cannot stand inside a
// message.
func (s *socket) hand(ctx context.Context, own *web.Call, out *frame) bool {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(out); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.Config().Timeout)
	defer cancel()
	late := time.AfterFunc(s.Config().Timeout, func() {
		own.Audit(http.StatusRequestTimeout, runtime.CodeUnavailable)
	})
	err := s.conn.Write(ctx, websocket.MessageText, bytes.TrimSpace(b.Bytes()))
	if late.Stop() {
		return err == nil
	}
	if err == nil {
		_ = s.conn.Close(websocket.StatusTryAgainLater, comeBack)
	}
	return false
}

// ping finds out whether the client of an idle connection is still there, and ends the connection
// when it is not. A message of the client says so too: its reply is returned, since the reader may
// wait to hand that over, and would not get to the answer.
func (s *socket) ping(ctx context.Context, own *web.Call) (out *frame) {
	answer := make(chan error, 1)
	go func() {
		timed, cancel := context.WithTimeout(ctx, s.Config().Timeout)
		defer cancel()
		answer <- s.conn.Ping(timed)
	}()
	select {
	case out = <-s.replies:
	case err := <-answer:
		if errors.Is(err, context.DeadlineExceeded) {
			own.Audit(http.StatusRequestTimeout, runtime.CodeUnavailable)
			_ = s.conn.Close(websocket.StatusTryAgainLater, comeBack)
		}
		if err != nil {
			s.end()
		}
	}
	return out
}
