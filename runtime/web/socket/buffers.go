package socket

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
)

// bufferSize is what most messages of a socket fit into.
const bufferSize = 1 << 10

// smallBuffers is a response whose connection, once it is hijacked, reads and writes through small
// buffers instead of those of net/http: a socket is idle most of its life, and there are many.
type smallBuffers struct{ http.ResponseWriter }

// Hijack takes the connection over.
func (b smallBuffers) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, old, err := http.NewResponseController(b.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	// What was sent right behind the request moves from buffer to buffer.
	came, _ := old.Peek(old.Reader.Buffered())
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(came)), conn),
		max(bufferSize, len(came)))
	_, err = in.Peek(len(came))
	return conn, bufio.NewReadWriter(in, bufio.NewWriterSize(conn, bufferSize)), err
}
