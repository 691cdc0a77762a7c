package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// events opens a stream, and returns how to read its next row, and how to end it. next returns nil
// at the end of the stream.
func (r *rig) events(token, path, last string) (next func() *web.Row, end func()) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.http.URL+path, nil)
	require.NoError(r, err)
	req.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultTransport.RoundTrip(req) //nolint:bodyclose // end closes it
	require.NoError(r, err)
	require.Equal(r, 200, res.StatusCode)
	assert.Equal(r, "text/event-stream", res.Header.Get("Content-Type"))
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	next = func() *web.Row {
		r.Helper()
		id := ""
		for lines.Scan() {
			if got, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = got
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var row web.Row
				require.NoError(r, json.Unmarshal([]byte(data), &row))
				r.contract.holds("#/components/schemas/Row", []byte(data))
				assert.Equal(r, id, row.ID)
				return &row
			}
		}
		return nil
	}
	return next, func() { _ = res.Body.Close() }
}

// until reads rows up to the first of a type.
func until(t *testing.T, next func() *web.Row, last thread.EntryType) (rows []web.Row) {
	t.Helper()
	for {
		row := next()
		require.NotNil(t, row, "the stream ended before %s", last)
		if rows = append(rows, *row); row.Type == last {
			return rows
		}
	}
}

func TestAStreamCutInTheMiddleLosesNothing(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		r.start("ask", `"another thread"`)
		path := "/v1/threads/" + th.ID + "/stream"
		next, end := r.events(operator, path, "")
		rows := until(t, next, thread.EntryAsked)
		assert.Equal(t, th.Open[0].ID, rows[len(rows)-1].Question.ID)
		end()
		// R26 the other way round: an answer while nobody listens
		r.post("/v1/interrupts/"+th.Open[0].ID+"/answer", `{"value":{"ok":true}}`).is(200)
		next, end = r.events(operator, path, rows[len(rows)-1].ID)
		defer end()
		rows = append(rows, until(t, next, thread.EntryOver)...)
		want := decode[struct{ Items []web.Row }](r.get("/v1/threads/" + th.ID + "/outbox")).Items
		require.Len(t, rows, len(want), "each row once")
		for n := range want {
			assert.Equal(t, want[n].ID, rows[n].ID)
		}
	})
}

func TestAnAnswerBeforeTheEventWasRead(t *testing.T) {
	onBoth(t, func(r *rig) {
		next, end := r.events(operator, "/v1/stream", "")
		defer end()
		th := r.start("ask", `"x"`)
		r.post("/v1/interrupts/"+th.Open[0].ID+"/answer", `{"value":{"ok":true}}`).is(200)
		var types []thread.EntryType
		for _, row := range until(t, next, thread.EntryOver) {
			types = append(types, row.Type)
		}
		assert.Equal(t, []thread.EntryType{"started", "message", "asked", "answered", "over"},
			types)
	})
}

func TestCursorsThatWereNeverGivenOut(t *testing.T) {
	onBoth(t, func(r *rig) {
		a, b := r.start("ask", `"a"`), r.start("ask", `"b"`)
		for _, last := range []string{a.ID + "/9999", b.ID + "/1", "1", a.ID + "/01", a.ID + "/-1",
			"/1", a.ID + "/", "../1"} {
			r.try(operator, http.MethodGet, "/v1/threads/"+a.ID+"/stream", "", "Last-Event-ID",
				last).is(400)
		}
		r.get("/v1/threads/" + a.ID + "/outbox?after=" + b.ID + "/1").is(400)
		r.get("/v1/threads/unknown/stream").is(404)
		next, end := r.events(operator, "/v1/stream", b.ID+"/1")
		defer end()
		assert.Equal(t, b.ID, next().Thread)
	})
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		g := r.grant(th.ID, fmt.Sprintf(
			`{"actions":["follow"],"by":"ann","expires":%d}`, r.soon()))
		next, end := r.events(g.Token, "/v1/threads/"+th.ID+"/stream", "")
		defer end()
		until(t, next, thread.EntryAsked)
		r.try(g.Token, http.MethodGet, "/v1/stream", "").is(403)
		r.try(operator, http.MethodDelete, "/v1/threads/"+th.ID+"/tokens/"+g.ID, "").is(204)
		assert.Nil(t, next(), "nothing comes after the token was revoked")

		short := r.grant(th.ID, `{"actions":["follow"],"by":"ann","expires":`+jsonOf(r.clock.now().
			Add(3*time.Second).UnixMilli())+`}`)
		next, end = r.events(short.Token, "/v1/threads/"+th.ID+"/stream",
			th.ID+"/"+jsonOf(r.settled(th.ID).Seq))
		defer end()
		assert.Nil(t, next(), "nothing comes after the token's time")
	})
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{MaxStreams: 1, Beat: time.Millisecond})
	r.start("ask", `"x"`)
	next, end := r.events(operator, "/v1/stream", "")
	until(t, next, thread.EntryAsked)
	r.get("/v1/stream").is(503, runtime.CodeUnavailable)
	end()
}

// TestASlowReader leaves a stream of 20 MB unread: the server gives it up after its time, and
// another reader is not delayed.
func TestASlowReader(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{MaxStreams: 2, Timeout: 5 * time.Second})
	r.contract.off = true // there are many rows, and others hold them to their schema
	_, slow := r.events(operator, "/v1/stream", "")
	defer slow()
	id, messages := r.flood()
	next, end := r.events(operator, "/v1/threads/"+id+"/stream", "")
	defer end()
	assert.Greater(t, len(until(t, next, thread.EntryOver)), messages)
	end()
	assert.Eventually(t, func() bool { return r.opens(t, 2) }, 2*time.Minute, 50*time.Millisecond,
		"the slow reader keeps its place")
}

// opens reports whether so many streams can be open at once.
func (r *rig) opens(t *testing.T, streams int) bool {
	t.Helper()
	for range streams {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.http.URL+"/v1/stream",
			nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+operator)
		res, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}
