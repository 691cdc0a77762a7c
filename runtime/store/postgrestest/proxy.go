//go:build unix

package postgrestest

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Cut says where a Proxy breaks a connection.
type Cut int

// Where a connection breaks, counted from the first message that has the proxy's mark.
const (
	CutBefore  Cut = iota // the message does not reach the server
	CutSent               // it has reached the server, whose answer is lost; the server goes on
	CutAnswer             // the server has answered, and the answer is lost
	CutDelayed            // the client is cut off, and the message reaches the server at Release
)

// cancelRequest begins a connection that asks the server to cancel a statement of another one. It
// does not get through: what broke the one would break the other.
var cancelRequest = []byte{0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e}

// Proxy stands between clients and a server, and breaks one connection.
type Proxy struct {
	to, mark string
	cut      Cut
	once     sync.Once
	late     chan struct{}
	answered chan struct{} // closed when a delayed message has its answer
}

// NewProxy returns a proxy to the server whose socket is in a folder, and the folder of its own
// socket. It breaks the first connection that sends mark.
func NewProxy(tb testing.TB, server, mark string, cut Cut) (p *Proxy, dir string) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "routegen-proxy-") //nolint:usetesting // a socket's path is short
	if err != nil {
		tb.Fatal(err)
	}
	p = &Proxy{to: filepath.Join(server, ".s.PGSQL.5432"), mark: mark, cut: cut,
		late: make(chan struct{}), answered: make(chan struct{})}
	l, err := new(net.ListenConfig).Listen(tb.Context(), "unix",
		filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = l.Close()
		_ = os.RemoveAll(dir)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p, dir
}

// Release lets a delayed message go on to the server, and returns when the server has answered it.
func (p *Proxy) Release() {
	close(p.late)
	<-p.answered
}

func (p *Proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := new(net.Dialer).DialContext(context.Background(), "unix", p.to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var mine bool // of this goroutine: the connection to break
	lost, done := make(chan struct{}), make(chan struct{})
	go func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil {
				_ = client.Close()
				return
			}
			select {
			case <-lost:
				close(done) // an answer that nobody gets
				return
			default:
			}
			if _, err = client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil || bytes.HasPrefix(buffer[:n], cancelRequest) {
			return
		}
		if bytes.Contains(buffer[:n], []byte(p.mark)) {
			p.once.Do(func() { mine = true })
		}
		if mine {
			p.breakOff(client, server, buffer[:n], lost, done)
			return
		}
		if _, err = server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// breakOff does with the message what the cut says.
func (p *Proxy) breakOff(client, server net.Conn, message []byte, lost, done chan struct{}) {
	if p.cut == CutBefore {
		return
	}
	close(lost)
	if p.cut != CutAnswer {
		_ = client.Close()
	}
	if p.cut == CutDelayed {
		<-p.late
	}
	if _, err := io.Copy(server, bytes.NewReader(message)); err != nil {
		return
	}
	<-done
	if p.cut == CutDelayed {
		close(p.answered)
	}
}
