package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

const (
	soakRounds = 20
	// bytes of a message: one thread's rows are more than a connection holds on its way
	soakText = 20_000
)

// soak is a rig with many threads and sockets. Each thread says something long and asks, round
// after round.
type soak struct {
	*rig
	threads []string
	want    map[string][]string // the ids of its rows, by thread
}

// narrow is a listener whose connections from the address of silent readers hold little that was
// not read: that such a reader stops is felt soon.
type narrow struct{ net.Listener }

// silence is the address of readers who do not read. Everybody else comes from 127.0.0.1.
var silence = net.IPv4(127, 0, 0, 2)

func (n narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok &&
		strings.HasPrefix(tcp.RemoteAddr().String(), silence.String()+":") {
		err = errors.Join(err, tcp.SetWriteBuffer(32<<10))
	}
	return conn, err
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	rounds := thread.Func("rounds", func(ctx context.Context, name string) (int, error) {
		for n := range soakRounds {
			if err := thread.Say(ctx, fmt.Sprintf("m%d", n),
				strings.Repeat(name, soakText/len(name))); err != nil {
				return 0, err
			}
			if _, err := thread.Ask[int](ctx, fmt.Sprintf("q%d", n),
				thread.Question{Text: "Next?"}); err != nil {
				return 0, err
			}
		}
		return soakRounds, nil
	})
	s := &soak{want: map[string][]string{}}
	// who stops reading is not cut here
	s.rig = newRig(t, "sqlite", web.Config{Timeout: 10 * time.Minute, Rate: 1e6, Burst: 1e6},
		rounds)
	s.contract.off = true
	front := httptest.NewUnstartedServer(s.server)
	front.Listener = narrow{front.Listener}
	front.Start()
	t.Cleanup(front.Close)
	s.http = front
	for n := range soakThreads {
		s.threads = append(s.threads,
			decode[web.Thread](s.post("/v1/threads",
				fmt.Sprintf(`{"machine":"rounds","input":"t%d."}`, n)).is(201)).ID)
	}
	return s
}

// connect opens a socket that follows a thread after a row.
func (s *soak) connect(id, after string, silent bool) (*websocket.Conn, error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (
		net.Conn, error) {
		dialer := &net.Dialer{}
		if silent {
			dialer.LocalAddr = &net.TCPAddr{IP: silence}
		}
		conn, err := dialer.DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok && silent {
			err = errors.Join(err, tcp.SetReadBuffer(32<<10))
		}
		return conn, err
	}}
	//nolint:bodyclose // an accepted socket has none
	conn, _, err := websocket.Dial(s.Context(), s.http.URL+"/v1/ws", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport},
		HTTPHeader: http.Header{"Authorization": {"Bearer " + operator}},
	})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 20)
	return conn, conn.Write(s.Context(), websocket.MessageText, []byte(context0(id, after)))
}

// follow reads a thread to its end through sockets that it cuts after a few rows, as random says,
// and returns the ids of the rows.
func (s *soak) follow(id, after string, random *rand.Rand) (rows []string, err error) {
	for {
		conn, err := s.connect(id, after, false)
		if err != nil {
			return rows, err
		}
		for left := 1 + random.IntN(8); left > 0; {
			_, data, err := conn.Read(s.Context())
			if err != nil {
				return rows, err
			}
			var m message
			var row web.Row
			if err := errors.Join(json.Unmarshal(data, &m),
				json.Unmarshal(m.Payload, &row)); err != nil {
				return rows, err
			}
			if m.Type != "row" {
				continue
			}
			left--
			if rows, after = append(rows, m.ID), m.ID; row.Type == thread.EntryOver {
				return rows, conn.CloseNow()
			}
		}
		_ = conn.CloseNow() // in the middle of everything
	}
}

// play answers every question of a thread. Each answer is sent three times under its key, and the
// first is cut at some moment on its way.
func (s *soak) play(id string, random *rand.Rand) error {
	c := &client.Client{Base: s.http.URL, Token: operator}
	for row, err := range c.Stream(s.Context(), id, "") {
		switch {
		case err != nil:
			return err
		case row.Type == thread.EntryOver:
			return nil
		case row.Type != thread.EntryAsked:
			continue
		}
		a := thread.Answer{Interrupt: row.Interrupt, Value: json.RawMessage("1"), By: "ann",
			Request: row.Interrupt}
		cut, cancel := context.WithTimeout(s.Context(),
			time.Duration(random.IntN(3000))*time.Microsecond)
		_, _ = c.Answer(cut, a) // cut, or not
		cancel()
		for range 2 {
			if _, err := c.Answer(s.Context(), a); err != nil {
				return err
			}
		}
	}
	return s.Context().Err()
}

// used is the memory that is held.
func used() uint64 {
	var m goruntime.MemStats
	for range 3 { // what pools keep outlives one collection
		goruntime.GC()
	}
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// TestManySocketsAndSlowReaders has threads answered and followed while two in five sockets read
// nothing at all: every thread ends all the same, what the silent sockets hold is bounded, and when
// they are cut and come back they miss nothing. Every row comes once, to everybody.
func TestManySocketsAndSlowReaders(t *testing.T) {
	s := newSoak(t)
	for _, id := range s.threads {
		s.settled(id)
	}
	silent := make([]*websocket.Conn, soakSockets*2/5)
	for n := range silent {
		var err error
		silent[n], err = s.connect(s.threads[n%soakThreads], "", true)
		require.NoError(t, err)
	}
	type result struct {
		id   string
		rows []string
		err  error
	}
	results := make(chan result, soakSockets)
	for n := len(silent); n < soakSockets; n++ {
		go func() {
			id := s.threads[n%soakThreads]
			rows, err := s.follow(id, "", rand.New(rand.NewPCG(1, uint64(n))))
			results <- result{id, rows, err}
		}()
	}
	played := make([]error, soakThreads)
	var players sync.WaitGroup
	for n, id := range s.threads {
		players.Go(func() { played[n] = s.play(id, rand.New(rand.NewPCG(2, uint64(n)))) })
	}
	players.Wait()
	for n, err := range played {
		require.NoError(t, err, s.threads[n])
	}
	for _, id := range s.threads {
		th := s.settled(id)
		require.Equal(t, thread.StatusDone, th.Status,
			"nobody who does not read holds a thread up")
		var answers int
		for _, row := range decode[struct{ Items []web.Row }](
			s.get("/v1/threads/" + id + "/outbox?limit=1000").is(200)).Items {
			if s.want[id] = append(s.want[id], row.ID); row.Type == thread.EntryAnswered {
				answers++
			}
		}
		require.Equal(t, soakRounds, answers,
			"each question has one answer, however often it was sent")
	}
	for range soakSockets - len(silent) {
		r := <-results
		require.NoError(t, r.err)
		require.Equal(t, s.want[r.id], r.rows, "each row once, in order")
	}
	running, held := goruntime.NumGoroutine(), used()
	s.comeBack(silent)
	const each = 2 // goroutines of the server for a socket, at least
	require.Eventually(t, func() bool {
		return goruntime.NumGoroutine() <= running-each*len(silent)
	}, 3*time.Minute, 10*time.Millisecond, "they are gone")
	// What a thread says is soakRounds times soakText: a queue that grows with what is not read
	// would hold it.
	held = (held - min(held, used())) / uint64(len(silent))
	t.Logf("%d silent sockets held %d bytes each", len(silent), held)
	assert.Less(t, held, uint64(soakRounds*soakText*2/3),
		"bytes that a socket holds whose client reads nothing")
}

// comeBack reads what is on its way to silent sockets, cuts them, and has each go on after the last
// row that reached it.
func (s *soak) comeBack(silent []*websocket.Conn) {
	s.Helper()
	for n, conn := range silent {
		id, last := s.threads[n%soakThreads], ""
		var got []string
		for range 2 + n%3 {
			_, data, err := conn.Read(s.Context())
			require.NoError(s, err)
			var m message
			require.NoError(s, json.Unmarshal(data, &m))
			if m.Type == "row" {
				got, last = append(got, m.ID), m.ID
			}
		}
		require.NoError(s, conn.CloseNow())
		rest, err := s.follow(id, last, rand.New(rand.NewPCG(3, uint64(n))))
		require.NoError(s, err)
		require.Equal(s, s.want[id], append(got, rest...))
	}
}
