package tui

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// door is an address that stays while servers behind it come and go: no other process can take its
// port meanwhile. While there is no server, it closes each connection at once.
type door struct {
	net.Listener
	mu  sync.Mutex
	now *hall // of the server that is there; nil for none
}

// hall is where a server finds those who came through the door for it. It is a [net.Listener].
type hall struct {
	door  *door
	came  chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func newDoor(t *testing.T) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := &door{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.lead(conn)
		}
	}()
	return d
}

// lead hands a connection to the server that is there.
func (d *door) lead(conn net.Conn) {
	d.mu.Lock()
	h := d.now
	d.mu.Unlock()
	if h == nil {
		_ = conn.Close()
		return
	}
	select {
	case h.came <- conn:
	case <-h.ended:
		_ = conn.Close()
	}
}

// open begins a hall, for the next server.
func (d *door) open() *hall {
	h := &hall{door: d, came: make(chan net.Conn), ended: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = h
	return h
}

func (h *hall) Accept() (net.Conn, error) {
	select {
	case conn := <-h.came:
		return conn, nil
	case <-h.ended:
		return nil, net.ErrClosed
	}
}

func (h *hall) Close() error {
	h.once.Do(func() {
		h.door.mu.Lock()
		defer h.door.mu.Unlock()
		if h.door.now == h {
			h.door.now = nil
		}
		close(h.ended)
	})
	return nil
}

func (h *hall) Addr() net.Addr { return h.door.Addr() }
