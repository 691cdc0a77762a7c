package web

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
)

// leanBuffer is what most messages of a socket fit into.
const leanBuffer = 1 << 10

// lean is a response whose connection, when it is taken over, reads and writes through small buffers in place of those of net/http: a socket is
// idle most of its life, and there are many.
type lean struct{ http.ResponseWriter }

// Hijack takes the connection over.
func (l lean) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, old, err := http.NewResponseController(l.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	came, _ := old.Peek(old.Reader.Buffered()) // sent right behind the request: it is moved from buffer to buffer
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(came)), conn), max(leanBuffer, len(came)))
	_, err = in.Peek(len(came))
	return conn, bufio.NewReadWriter(in, bufio.NewWriterSize(conn, leanBuffer)), err
}
