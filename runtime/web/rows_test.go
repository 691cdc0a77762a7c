package web_test

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// A workflow is where reroute events go.

// raw is a bare connection with a request on it.
func (r *rig) raw(request string) (net.Conn, *bufio.Reader) {
	r.Helper()
	conn, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", r.http.Listener.Addr().String())
	require.NoError(r, err)
	r.Cleanup(func() { _ = conn.Close() })
	require.NoError(r, conn.SetDeadline(time.Now().Add(2*time.Minute)))
	_, err = conn.Write([]byte(request))
	require.NoError(r, err)
	return conn, bufio.NewReader(conn)
}

func TestAnEndlessChunkedBody(t *testing.T) {
	onBoth(t, func(r *rig) {
		conn, in := r.raw("POST /v1/threads HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
			operator +
			"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
		chunk := []byte("1000\r\n" + strings.Repeat("x", 0x1000) + "\r\n")
		sent := 0
		for ; sent < 1<<30; sent += len(chunk) {
			if _, err := conn.Write(chunk); err != nil {
				break
			}
		}
		assert.Less(t, sent, 64<<20, "the server closes the connection")
		_, err := in.ReadString('\n') // the answer, or what a closed connection gives
		var late net.Error
		assert.False(t, errors.As(err, &late) && late.Timeout())
	})
}

func TestOneWayToAnswer(t *testing.T) {
	onBoth(t, func(r *rig) {
		i := r.start("route", `""`).Open[0]
		for _, body := range []string{`{}`, `{"value":null,"routeTo":"HERE"}`,
			`{"value":1,"text":"x"}`, `{"value":1,"text":"x","routeTo":"HERE"}`} {
			r.post("/v1/interrupts/"+i.ID+"/answer", body).is(400, runtime.CodeInvalid)
		}
		assert.Equal(t, thread.InterruptOpen, decode[web.Interrupt](r.get("/v1/interrupts/"+i.ID)).
			State)
	})
}

// TestARouteTakesANote: over REST and over the socket, and in what the step gets.
func TestARouteTakesANote(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("route", `""`)
		r.post("/v1/interrupts/"+th.Open[0].ID+"/answer",
			`{"text":"look \"there\"","routeTo":"HERE"}`).is(200)
		assert.Contains(t, string(r.settled(th.ID).Result), `"value":"look \"there\""`)

		th = r.start("route", `""`)
		c := r.socket(operator)
		said := c.ask(`{"type":"resume","payload":{"thread_id":"` + th.ID +
			`","user_input":"look there","route_to":"HERE"},"id":"1"}`).raw
		assert.Contains(t, said, `"success":true`)
		th = r.settled(th.ID)
		assert.Contains(t, string(th.Result), `"value":"look there"`)
		assert.Contains(t, string(th.Result), `"routeTo":"HERE"`)
	})
}

// TestWhatTheStoreRefuses has the answers to stored data of another version, and to
// damaged data.
func TestWhatTheStoreRefuses(t *testing.T) {
	onBoth(t, func(r *rig) {
		i := r.start("ask", `"x"`).Open[0]
		for code, status := range map[runtime.Code]int{runtime.CodeIncompatible: 409,
			runtime.CodeInternal: 500} {
			r.store.spoil(&runtime.Error{Code: code, Op: "load",
				Err: &runtime.InvalidError{Problems: []runtime.Problem{{Pointer: "/frames/0/input",
					Reason: "it is CANARY-9"}}}})
			got := r.post("/v1/answers", `{"answers":[{"interrupt":"`+i.ID+
				`","value":{"ok":true}}]}`).is(status, code)
			assert.NotContains(t, string(got.body), "CANARY-9")
		}
		r.store.spoil(nil)
		assert.Equal(t, thread.InterruptOpen, decode[web.Interrupt](r.get("/v1/interrupts/"+i.ID)).
			State)
	})
}

// TestTheOutcomeIsUnknown has a store that commits and says that it could not: the engine reads
// back, and the caller's second try finds one effect.
func TestTheOutcomeIsUnknown(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		r.store.lie(&runtime.Error{Code: runtime.CodeUnavailable, Op: "commit",
			Err: errors.New("cut")})
		path, body := "/v1/interrupts/"+th.Open[0].ID+"/answer", `{"value":{"ok":true}}`
		r.post(path, body, "Idempotency-Key", "k")
		r.store.lie(nil)
		r.post(path, body, "Idempotency-Key", "k").is(200)
		r.settled(th.ID)
		assert.Equal(t, 1, strings.Count(string(r.get("/v1/threads/"+th.ID+"/history").body),
			`"type":"answered"`))
	})
}

// TestADiskThatStandsStill has commits that do not come back. Every call that commits is answered
// within its time, and says that its outcome is not known; reads go on.
func TestADiskThatStandsStill(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			const limit = 5 * time.Second
			r := newRig(t, store, web.Config{Timeout: limit})
			var asked []web.Thread
			for range 7 {
				asked = append(asked, r.start("ask", `"x"`))
			}
			answers := func(n int) string { return "/v1/interrupts/" + asked[n].Open[0].ID }
			idle := r.start("talk", `"x"`)
			calls := map[string]string{
				"/v1/threads":                            `{"machine":"ask","input":"x"}`,
				answers(0) + "/answer":                   `{"value":{"ok":true}}`,
				answers(1) + "/claim":                    `{"by":"ann"}`,
				"/v1/threads/" + asked[2].ID + "/cancel": `{}`,
				"/v1/threads/" + asked[3].ID + "/escape": `{"mode":"safe"}`,
				"/v1/threads/" + asked[4].ID + "/fork":   fmt.Sprintf(`{"seq":%d}`, asked[4].Seq),
				"/v1/threads/" + idle.ID + "/messages":   `"again"`,
				"/v1/threads/" + asked[5].ID + "/tokens": fmt.Sprintf(`{"actions":["follow"],"by":"ann","expires":%d}`, r.soon()),
				"/v1/answers":                            fmt.Sprintf(`{"answers":[{"interrupt":%q,"value":{"ok":true}}]}`, asked[6].Open[0].ID),
			}
			thaw := r.store.freeze()
			t.Cleanup(thaw) // before the engine is closed
			var all sync.WaitGroup
			for path, body := range calls {
				for _, key := range []string{"", "k"} {
					all.Go(func() {
						var headers []string
						if key != "" {
							headers = []string{"Idempotency-Key", key}
						}
						began := time.Now()
						out := r.post(path, body, headers...)
						assert.Less(t, time.Since(began), limit+10*time.Second, path)
						assert.Contains(t, []int{503, 504}, out.status, "%s: %s", path, out.body)
					})
				}
			}
			all.Wait()
			r.get("/v1/threads/" + idle.ID).is(200)
			thaw()
			r.settled(idle.ID)
		})
	}
}

func TestUnmaskedFramesAndPings(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{Rate: 0.001, Burst: 50})
	upgrade := "GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + operator +
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: " +
		"13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	conn, in := r.raw(upgrade)
	res, err := http.ReadResponse(in, nil) //nolint:bodyclose // a switched connection has none
	require.NoError(t, err)
	require.Equal(t, 101, res.StatusCode)
	_, err = conn.Write([]byte("\x81\x02{}")) // a text frame without a mask
	require.NoError(t, err)
	head := make([]byte, 4)
	_, err = io.ReadFull(in, head)
	require.NoError(t, err)
	assert.Equal(t, []byte{0x88, byte(websocket.StatusProtocolError >> 8),
		byte(websocket.StatusProtocolError & 0xff)}, []byte{head[0], head[2], head[3]})

	conn, in = r.raw(upgrade)
	res, err = http.ReadResponse(in, nil) //nolint:bodyclose // a switched connection has none
	require.NoError(t, err)
	require.Equal(t, 101, res.StatusCode)
	for range 200 {
		_, err = conn.Write([]byte("\x89\x80abcd")) // a ping without payload
		require.NoError(t, err)
	}
	_, err = conn.Write([]byte("\x81\x82abcd\x1a\x1f")) // a message: {} under the mask abcd
	require.NoError(t, err)
	pongs := 0
	for {
		frame := make([]byte, 2)
		if _, err = io.ReadFull(in, frame); err != nil || frame[0] != 0x8a {
			break
		}
		pongs++
	}
	assert.LessOrEqual(t, pongs, 50, "who floods is not answered")
}

// TestTheClockJumps moves the server's clock, which tokens end by, and the engine's, by which
// questions expire, an hour back and a day ahead.
func TestTheClockJumps(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		g := r.grant(th.ID, fmt.Sprintf(`{"actions":["follow"],"by":"ann","expires":%d}`, r.soon()))
		r.clock.move(-2 * time.Hour)
		r.try(g.Token, http.MethodGet, "/v1/threads/"+th.ID, "").is(200)
		r.clock.move(2*time.Hour + 24*time.Hour)
		r.try(g.Token, http.MethodGet, "/v1/threads/"+th.ID, "").is(401)
		r.get("/v1/threads/" + th.ID).is(200)
		assert.Equal(t, thread.StatusWaiting, r.settled(th.ID).Status,
			"the question has its own time")
		r.clock.move(-24 * time.Hour)

		i := th.Open[0].ID
		r.post("/v1/interrupts/"+i+"/extend",
			fmt.Sprintf(`{"until":%d}`, r.time.now().Add(2*time.Hour).UnixMilli())).is(200)
		ids := map[string]bool{th.ID: true}
		var rows []web.Row
		for _, jump := range []struct {
			by      time.Duration
			state   thread.InterruptState
			expired int
		}{
			{-time.Hour, thread.InterruptOpen, 0}, {24 * time.Hour, thread.InterruptExpired, 1},
			{-24 * time.Hour, thread.InterruptExpired, 1},
			{25 * time.Hour, thread.InterruptExpired, 1},
		} {
			r.time.move(jump.by)
			for range 2 {
				require.NoError(t, r.engine.RunDue(t.Context()))
			}
			assert.Equal(t, jump.state, decode[web.Interrupt](r.get("/v1/interrupts/"+i)).State,
				"%v", jump)
			beside := r.start("ask", `"y"`)
			assert.False(t, ids[beside.ID] || ids[beside.Open[0].ID], "an id came twice")
			ids[beside.ID], ids[beside.Open[0].ID] = true, true
			if jump.state == thread.InterruptOpen { // something is written at the earlier time
				r.post("/v1/interrupts/"+i+"/claim", `{"by":"ann"}`).is(200)
			}
			rows = decode[struct{ Items []web.Row }](
				r.get("/v1/threads/" + th.ID + "/history?limit=1000").is(200)).Items
			expired := 0
			for n, row := range rows {
				assert.Equal(t, int64(n+1), row.Seq, "the order is that of the sequence")
				if row.Type == thread.EntryExpired {
					expired++
				}
			}
			assert.Equal(t, jump.expired, expired, "%v", jump)
		}
		assert.True(t, slices.IsSortedFunc(rows, func(a, b web.Row) int {
			return cmp.Compare(a.Seq, b.Seq)
		}))
		assert.False(t, slices.IsSortedFunc(rows, func(a, b web.Row) int {
			return cmp.Compare(a.At, b.At)
		}), "the control: times did go back")
		r.post("/v1/interrupts/"+i+"/answer", `{"value":{"ok":true}}`).is(410, runtime.CodeExpired)
	})
}

// TestASocketIsServedInItsTurn has replies in the order of their messages, with rows between them.
func TestASocketIsServedInItsTurn(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("yes", `""`)
		c := r.socket(operator)
		for n := range 30 {
			c.send(fmt.Sprintf(`{"type":"thread_context","payload":{"thread_id":%q},"id":"%d"}`,
				th.ID, n))
		}
		for n := range 30 {
			assert.Equal(t, strconv.Itoa(n), c.next().ID)
		}
	})
}
