package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// socketClient is the other end of a socket.
type socketClient struct {
	r    *rig
	conn *websocket.Conn
	kept []*message // rows that came before the reply somebody waited for
}

// message is what a client reads.
type message struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
	ID      string          `json:"id"`
	raw     string
}

func (r *rig) dial(token string, headers ...string) (*socketClient, *http.Response, error) {
	r.Helper()
	h := http.Header{}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	host := ""
	var offers []string
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			host = headers[i+1]
		case "Sec-WebSocket-Protocol":
			offers = strings.Split(headers[i+1], ", ")
		default:
			h.Set(headers[i], headers[i+1])
		}
	}
	conn, res, err := websocket.Dial(r.Context(), r.http.URL+"/v1/ws",
		&websocket.DialOptions{HTTPHeader: h, Host: host, Subprotocols: offers})
	if err != nil {
		return nil, res, err
	}
	conn.SetReadLimit(1 << 20)
	r.Cleanup(func() { _ = conn.CloseNow() })
	return &socketClient{r: r, conn: conn}, res, nil
}

func (r *rig) socket(token string) *socketClient {
	r.Helper()
	c, _, err := r.dial(token) //nolint:bodyclose // an accepted socket has none
	require.NoError(r, err)
	return c
}

func (c *socketClient) send(text string) {
	c.r.Helper()
	require.NoError(c.r, c.conn.Write(c.r.Context(), websocket.MessageText, []byte(text)))
}

func (c *socketClient) read() (*message, error) {
	_, data, err := c.conn.Read(c.r.Context())
	if err != nil {
		return nil, err
	}
	m := &message{raw: string(data)}
	return m, json.Unmarshal(data, m)
}

// next reads the next message that is no row.
func (c *socketClient) next() *message {
	c.r.Helper()
	for {
		m, err := c.read()
		require.NoError(c.r, err)
		if m.Type != "row" {
			return m
		}
		c.kept = append(c.kept, m)
	}
}

// ask sends a message and returns its reply.
func (c *socketClient) ask(text string) *message {
	c.r.Helper()
	c.send(text)
	return c.next()
}

// row reads the next row.
func (c *socketClient) row() *web.Row {
	c.r.Helper()
	for {
		var m *message
		if len(c.kept) > 0 {
			m, c.kept = c.kept[0], c.kept[1:]
		} else {
			var err error
			m, err = c.read()
			require.NoError(c.r, err)
		}
		if m.Type == "row" {
			var row web.Row
			require.NoError(c.r, json.Unmarshal(m.Payload, &row))
			c.r.contract.holds("#/components/schemas/Row", m.Payload)
			assert.Equal(c.r, row.ID, m.ID)
			return &row
		}
	}
}

func context0(thread, after string) string {
	return fmt.Sprintf(
		`{"type":"thread_context","payload":{"thread_id":%q,"user_id":"ann","session_id":"s1","after":%q},"id":"ctx"}`, thread, after)
}

// TestTheFramesOfTheOriginal holds the messages to what the clients of the original send and read,
// byte for byte.
func TestTheFramesOfTheOriginal(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.post("/v1/threads", `{"machine":"long","input":"","id":"thread-123"}`).is(201)
		c := r.socket(operator)
		assert.Equal(t,
			`{"type":"thread_context_ack","payload":{"success":true,"thread_id":"thread-123"},"id":"m0"}`,
			c.ask(
				`{"type":"thread_context","payload":{"thread_id":"thread-123","user_id":"u1","session_id":"s1"},"id":"m0"}`).raw)
		assert.Equal(t,
			`{"type":"interrupt_ack","payload":{"success":true,"thread_id":"thread-123","message":"requested"},"id":"msg-001"}`,
			c.ask(
				`{"type":"interrupt","payload":{"thread_id":"thread-123","reason":"user_interrupt","mode":"now"},"id":"msg-001"}`).raw)
		assert.Equal(t,
			`{"type":"interrupt_ack","payload":{"success":true,"thread_id":"thread-123","message":"already_pending"},"id":"msg-002"}`,
			c.ask(
				`{"type":"interrupt","payload":{"thread_id":"thread-123","reason":"user_escape","user_id":"u1","session_id":"s1","modified_plan":["a"]},"id":"msg-002"}`).raw)
		r.settled("thread-123")
		assert.Equal(t,
			`{"type":"resume_ack","payload":{"success":true,"thread_id":"thread-123","message":"resumed"},"id":"msg-003"}`,
			c.ask(
				`{"type":"resume","payload":{"thread_id":"thread-123","user_input":"skip step 3"},"id":"msg-003"}`).raw)
		history := string(r.get("/v1/threads/thread-123/history").body)
		assert.Contains(t, history, `{"choice":"modify","text":"skip step 3"}`)
		r.post("/v1/threads/thread-123/cancel", `{}`).is(200)
		assert.Equal(t,
			`{"type":"interrupt_ack","payload":{"success":false,"thread_id":"thread-123","message":"not_running"},"id":"msg-004"}`,
			c.ask(`{"type":"interrupt","payload":{"thread_id":"thread-123"},"id":"msg-004"}`).raw)
		assert.Contains(t, c.ask(
			`{"type":"resume","payload":{"thread_id":"thread-123","user_input":""},"id":"msg-005"}`).raw,
			`{"type":"resume_ack","payload":{"success":false,"thread_id":"thread-123","message":"not_waiting: `)
		assert.Contains(t, c.ask(
			`{"type":"thread_context","payload":{"thread_id":"unknown"},"id":"m1"}`).raw,
			`{"type":"thread_context_ack","payload":{"success":false,"thread_id":"unknown","error":"not_found: `)
	})
}

// TestATextThatWouldChangeNothingIsRefused: the machine takes no change of the work.
func TestATextThatWouldChangeNothingIsRefused(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("yes", `""`)
		c := r.socket(operator)
		c.ask(`{"type":"interrupt","payload":{"thread_id":"` + th.ID + `"},"id":"1"}`)
		r.settled(th.ID)
		said := c.ask(`{"type":"resume","payload":{"thread_id":"` + th.ID +
			`","user_input":"skip step 3"},"id":"2"}`).raw
		assert.Contains(t, said, `"success":false`)
		assert.Contains(t, said, "use continue, cancel, status")
		require.Len(t, r.settled(th.ID).Open, 1)
		assert.Equal(t, thread.KindUserEscape, r.settled(th.ID).Open[0].Kind, "it stays paused")
	})
}

func TestAnEmptyTextGoesOnUnchanged(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("yes", `""`)
		c := r.socket(operator)
		c.ask(`{"type":"interrupt","payload":{"thread_id":"` + th.ID + `"},"id":"1"}`)
		r.settled(th.ID)
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+th.ID+
			`","user_input":{"message":" "}},"id":"2"}`).raw, `"success":true`)
		th = r.settled(th.ID)
		require.Len(t, th.Open, 1)
		assert.Equal(t, "yes", th.Open[0].Name,
			"the question that the pause superseded is asked anew")
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+th.ID+
			`","user_input":"not really, hm"},"id":"3"}`).raw, "neither a clear yes")
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+th.ID+
			`","user_input":"yes","interrupt_id":"stale"},"id":"4"}`).raw, "not_found")
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+th.ID+
			`","value":true},"id":"5"}`).raw, `"success":true`)
		assert.JSONEq(t, `true`, string(r.settled(th.ID).Result))
	})
}

// TestOneAnswerInAResume refuses a resume that says two things, or more than is read: what is
// dropped silently looks like what was done.
func TestOneAnswerInAResume(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("yes", `""`)
		c := r.socket(operator)
		for payload, want := range map[string]string{
			`"user_input":"yes","value":false`:               "has a user_input and a value",
			`"user_input":{"message":"yes"},"value":null`:    "has a user_input and a value",
			`"user_input":{"message":"yes","by":"eve"}`:      "by",
			`"user_input":{"message":"yes","input":{"a":1}}`: "input",
			`"user_input":{"message":"yes","cancel":true}`:   "cancel",
			`"user_input":{"message":"yes","Message":"no"}`:  "Message",
			`"user_input":{}`:      "message",
			`"user_input":["yes"]`: "object",
		} {
			m := c.ask(`{"type":"resume","payload":{"thread_id":"` + th.ID + `",` + payload +
				`},"id":"r"}`)
			assert.Equal(t, "resume_ack", m.Type)
			assert.Contains(t, m.raw, `"success":false`, payload)
			assert.Contains(t, m.raw, "invalid: ", payload)
			assert.Contains(t, m.raw, want, payload)
		}
		assert.Equal(t, th.Seq, r.settled(th.ID).Seq, "nothing was done, or counted")
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+th.ID+
			`","user_input":{"message":"yes"}},"id":"r"}`).raw, `"success":true`)
		assert.JSONEq(t, `true`, string(r.settled(th.ID).Result))
	})
}

func TestASocketThatDropsLosesNothing(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("yes", `""`)
		c := r.socket(operator)
		assert.Contains(t, c.ask(context0(th.ID, "")).raw, `"success":true`)
		var rows []string
		last := c.row()
		for rows = append(rows, last.ID); last.Type != thread.EntryAsked; rows =
			append(rows, last.ID) {
			last = c.row()
		}
		c.send(`{"type":"resume","payload":{"thread_id":"` + th.ID +
			`","user_input":"yes"},"id":"1"}`)
		for m, err := c.read(); ; m, err = c.read() {
			require.NoError(t, err)
			if m.Type != "row" {
				break
			}
			rows = append(rows, m.ID)
			require.NoError(t, json.Unmarshal(m.Payload, last)) // it may be the final one already
		}
		require.NoError(t, c.conn.CloseNow())
		assert.Equal(t, thread.StatusDone, r.settled(th.ID).Status)
		c = r.socket(operator)
		c.send(context0(th.ID, rows[len(rows)-1]))
		for last.Type != thread.EntryOver {
			last = c.row()
			rows = append(rows, last.ID)
		}
		var want []string
		for _, row := range decode[struct{ Items []web.Row }](
			r.get("/v1/threads/" + th.ID + "/outbox")).Items {
			want = append(want, row.ID)
		}
		assert.Equal(t, want, rows, "each row once, of this thread only")
	})
}

func TestAWrongMessageIsAnsweredAndTheSocketStaysOpen(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		c := r.socket(operator)
		for text, id := range map[string]string{
			`{`: "", `[]`: "", `{"type":"nonsense","payload":{"thread_id":"a"},"id":"n"}`: "n",
			`{"type":"resume","payload":{"thread_id":"a/b"},"id":"t"}`:               "t",
			`{"type":"resume","payload":{"thread_id":"a","thread_id":"b"},"id":"d"}`: "d",
			`{"type":"resume","payload":{"Thread_id":"a"},"id":"c"}`:                 "c",
			`{"type":"resume","payload":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) +
				`,"id":"deep"}`: "deep",
		} {
			m := c.ask(text)
			assert.Equal(t, "error", m.Type, text)
			assert.Equal(t, id, m.ID, text)
			r.contract.holds("#/components/schemas/Problem", m.Payload)
		}
		require.NoError(t, c.conn.Write(t.Context(), websocket.MessageBinary, []byte(`{}`)))
		assert.Equal(t, "error", c.next().Type)
		assert.Contains(t, c.ask(context0(th.ID, th.ID+"/99")).raw, `"success":false`)
		assert.Contains(t, c.ask(context0(th.ID, "other/1")).raw, `"success":false`)
		assert.Contains(t, c.ask(context0(th.ID, "")).raw, `"success":true`)
	})
}

// TestASlowSocket has one client read on time, one late, and one not at all. The late one hears
// why its connection ends, and goes on after the last row that reached it. The one that reads
// nothing is cut: what is behind a message that it does not take cannot reach it.
func TestASlowSocket(t *testing.T) {
	t.Parallel()
	// The quick one is never so slow for a write, however busy this machine is; a ping it answers
	// when it has read all that is on its way.
	r := newRig(t, "mem", web.Config{Timeout: 10 * time.Second, MaxStreams: 3, Beat: time.Hour})
	r.contract.off = true // there are many rows, and others hold them to their schema
	id, messages := r.flood()
	never, quick := r.socket(operator), r.socket(operator)
	never.send(context0(id, ""))
	quick.send(context0(id, ""))
	n := 0
	for row := quick.row(); row.Type != thread.EntryOver; row = quick.row() {
		n++
	}
	assert.Greater(t, n, messages, "nobody waits for the others")
	require.NoError(t, quick.conn.CloseNow())
	late := r.socket(operator) // only now: while it does not read it answers no ping either
	late.send(context0(id, ""))
	noted := func() bool {
		return strings.Count(r.logs.String(),
			"operation=socket about="+id+" status=408") == 2
	}
	require.Eventually(t, noted, 3*time.Minute, 10*time.Millisecond, "they take nothing")
	last, err := late.rest()
	require.NotEmpty(t, last, "what came before has its cursor")
	var said websocket.CloseError
	require.ErrorAs(t, err, &said)
	assert.Equal(t, websocket.StatusTryAgainLater, said.Code)
	assert.Equal(t, "come back with the id of the last row", said.Reason)
	want := decode[struct{ Items []web.Row }](r.get("/v1/threads/" + id + "/outbox?after=" + last)).
		Items
	require.NotEmpty(t, want, last)
	again := r.socket(operator)
	again.send(context0(id, last))
	assert.Equal(t, want[0].ID, again.row().ID)
	require.NoError(t, again.conn.CloseNow())

	assert.Eventually(t, func() bool { return r.opens(t, 3) }, 2*time.Minute, 50*time.Millisecond,
		"the one that reads nothing has lost its place")
	last, err = never.rest()
	require.NotEmpty(t, last, "what was on its way has its cursor too")
	assert.Equal(t, websocket.StatusCode(-1), websocket.CloseStatus(err), "%v", err)
}

// rest reads to the end, and returns the id of the last row and why there are no more.
func (c *socketClient) rest() (last string, err error) {
	c.r.Helper()
	for {
		m, err := c.read()
		if err != nil {
			return last, err
		}
		if m.Type == "row" {
			last = m.ID
		}
	}
}
