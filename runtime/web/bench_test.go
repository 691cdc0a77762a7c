package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/web/socket"
)

// Each benchmark measures its floor in the same run, alternating with what stands on it: figures of
// one run compare, those of two do not.

// bench is an engine on SQLite, on disk, with its server.
func bench(b *testing.B) (*thread.Engine, *httptest.Server) {
	b.Helper()
	disk, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(b, err)
	engine, err := thread.Open(b.Context(), disk, thread.Config{}, machines()...)
	require.NoError(b, err)
	server, err := web.New(engine, operator,
		web.Config{Rate: 1e9, Burst: 1e9, Doors: []web.Door{socket.Door()}})
	require.NoError(b, err)
	front := httptest.NewServer(server)
	b.Cleanup(func() {
		front.Close()
		require.NoError(b, engine.Close(context.Background()))
		require.NoError(b, disk.Close())
	})
	return engine, front
}

// part reports the value below which a part of the times are, in microseconds.
func part(b *testing.B, times []time.Duration, p float64, name string) float64 {
	b.Helper()
	slices.Sort(times)
	v := float64(times[int(float64(len(times)-1)*p)]) / float64(time.Microsecond)
	b.ReportMetric(v, name)
	return v
}

// BenchmarkAnswer answers by the engine's own call, over HTTP, and through the barest door that
// net/http can have to that call, in turn: it reads the answer and writes an id, for whoever comes.
// The ratios are those of the medians.
func BenchmarkAnswer(b *testing.B) {
	engine, front := bench(b)
	caller := &client.Client{Base: front.URL, Token: operator}
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a thread.Answer
		//nolint:musttag // by the names of its fields: there is no barer door
		err := json.NewDecoder(r.Body).Decode(&a)
		if err == nil {
			_, err = engine.Answer(r.Context(), "", a)
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, a.Interrupt)
	}))
	defer door.Close()
	ways := map[string]func(a thread.Answer) error{
		"engine": func(a thread.Answer) error {
			_, err := engine.Answer(b.Context(), "", a)
			return err
		},
		"http": func(a thread.Answer) error {
			_, err := caller.Answer(b.Context(), a)
			return err
		},
		"door": func(a thread.Answer) error {
			data, err := json.Marshal(a) //nolint:musttag // as above
			if err != nil {
				return err
			}
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, door.URL,
				bytes.NewReader(data))
			if err != nil {
				return err
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil ||
				res.StatusCode != http.StatusOK {
				return errors.Join(err, errors.New(res.Status))
			}
			return res.Body.Close()
		},
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for way, answer := range ways {
			t, err := engine.Start(b.Context(), thread.Begin{Machine: "ask", Input: "x"})
			require.NoError(b, err)
			t, err = engine.Wait(b.Context(), t.ID)
			require.NoError(b, err)
			begin := time.Now()
			require.NoError(b, answer(thread.Answer{Interrupt: t.Open[0].ID,
				Value: json.RawMessage(`{"ok":true}`), By: "ann"}))
			took[way] = append(took[way], time.Since(begin))
		}
	}
	floor, bare, ours := part(b, took["engine"], 0.5, "engine-µs"), part(b, took["door"], 0.5,
		"door-µs"), part(b, took["http"], 0.5, "http-µs")
	b.ReportMetric(ours/floor, "http/engine")
	b.ReportMetric(bare/floor, "door/engine")
	b.ReportMetric(ours/bare, "http/door")
}

// BenchmarkEventToSocket measures from the return of the call that committed an event to its row on
// a socket, with 100 threads, each followed by a socket. Its floor is one message over such a
// socket there and back. Below zero, the row was there first.
func BenchmarkEventToSocket(b *testing.B) {
	const threads = 100
	engine, front := bench(b)
	came := make([]chan time.Time, threads)
	conns := make([]*websocket.Conn, threads)
	ids := make([]string, threads)
	for n := range threads {
		t, err := engine.Start(b.Context(), thread.Begin{Machine: "votes", Input: ""})
		require.NoError(b, err)
		ids[n] = t.ID
		_, err = engine.Wait(b.Context(), t.ID)
		require.NoError(b, err)
		//nolint:bodyclose // an accepted socket has none
		conns[n], _, err = websocket.Dial(b.Context(), front.URL+"/v1/ws", &websocket.DialOptions{
			HTTPHeader: http.Header{"Authorization": {"Bearer " + operator}},
		})
		require.NoError(b, err)
		came[n] = make(chan time.Time, 1)
		require.NoError(b, conns[n].Write(b.Context(), websocket.MessageText,
			[]byte(context0(t.ID, ""))))
		go follow(b.Context(), conns[n], came[n])
		<-came[n]
	}
	var floor, rows []time.Duration
	claim := func(n int) {
		t, err := engine.Thread(b.Context(), ids[n])
		if err != nil || len(t.Open) == 0 {
			b.Error("thread ", ids[n], " is lost: ", err)
			return
		}
		i := t.Open[0]
		if _, err = engine.Claim(b.Context(), i.ID, "ann", i.ClaimedBy != ""); err != nil {
			b.Error(err)
		}
	}
	for b.Loop() {
		var all sync.WaitGroup
		var mu sync.Mutex
		for n := range 10 { // a tenth of the threads at once
			all.Go(func() {
				at := (len(rows) + n*10) % threads
				claim(at)
				committed := time.Now()
				took := (<-came[at]).Sub(committed)
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, took)
			})
		}
		all.Wait()
		begin := time.Now()
		require.NoError(b, conns[0].Write(b.Context(), websocket.MessageText, []byte(`{}`)))
		floor = append(floor, (<-came[0]).Sub(begin))
	}
	part(b, floor, 0.5, "echo-p50-µs")
	part(b, rows, 0.5, "row-p50-µs")
	part(b, rows, 0.95, "row-p95-µs")
}

// follow tells when a claim, an error or the first question comes.
func follow(ctx context.Context, conn *websocket.Conn, came chan<- time.Time) {
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		for _, sign := range []string{`"type":"claimed"`, `"type":"error"`, `"type":"asked"`} {
			if strings.Contains(string(data), sign) {
				came <- time.Now()
				break
			}
		}
	}
}

// BenchmarkIdleSockets measures what a socket holds on the server that follows a thread and has
// nothing to tell. The clients are bare connections without a goroutine. Its floor is the same
// number of connections whose server waits for a byte.
func BenchmarkIdleSockets(b *testing.B) {
	const sockets = 1000
	engine, front := bench(b)
	t, err := engine.Start(b.Context(), thread.Begin{Machine: "ask", Input: "x"})
	require.NoError(b, err)
	t, err = engine.Wait(b.Context(), t.ID)
	require.NoError(b, err)
	hello := "GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + operator +
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: " +
		"13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	said := `{"type":"thread_context","payload":{"thread_id":"` + t.ID + `","after":"` + t.ID +
		`/` + jsonOf(t.Seq) + `"}}`
	floor, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, floor.Close()) })
	go func() {
		for conn, err := floor.Accept(); err == nil; conn, err = floor.Accept() {
			go func() {
				_, _ = conn.Write([]byte("x"))
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}()
		}
	}()
	hold := func(addr string, greet func(conn net.Conn)) float64 {
		before := used()
		conns := make([]net.Conn, sockets)
		for n := range conns {
			conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", addr)
			require.NoError(b, err)
			greet(conn)
			conns[n] = conn
		}
		held := float64(used()-before) / sockets
		for _, conn := range conns {
			require.NoError(b, conn.Close())
		}
		return held
	}
	for b.Loop() {
		b.ReportMetric(hold(floor.Addr().String(), func(conn net.Conn) {
			_, err := conn.Read(make([]byte, 1))
			require.NoError(b, err)
		})/1024, "bare-KB/socket")
		b.ReportMetric(hold(front.Listener.Addr().String(), func(conn net.Conn) {
			_, err := conn.Write(append([]byte(hello), masked(said)...))
			require.NoError(b, err)
			in := bufio.NewReaderSize(conn, 1024)
			// the reply to thread_context ends with its payload
			for line := ""; !strings.Contains(line, `_ack"`); {
				line, err = in.ReadString('}')
				require.NoError(b, err)
			}
		})/1024, "KB/socket")
		goruntime.GC()
	}
}

// masked is a short text as a client's frame.
func masked(text string) []byte {
	// a mask of zeros changes nothing
	out := []byte{0x81, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}
	return append(out, text...)
}
