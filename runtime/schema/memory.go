package schema

import "sync"

// memory is what a document is taken apart into. What Narrow needs is gone when it returns, so the next call takes it over: most of the time
// that a large document takes would go into getting and collecting it otherwise.
type memory struct {
	values arena[Value]
	rows   arena[Member]
	stack  []Member // of the arrays and objects that are being read
	places arena[place]
	links  arena[reference]
	order  []*place
}

const (
	largestKept = 1 << 20 // bytes of a document whose memory is kept
	largestRow  = 128     // values in a row that come out of a chunk: a long row would leave the rest of it unused
)

var memories = sync.Pool{New: func() any { return new(memory) }}

// release forgets everything, for the next one to use. Nobody may hold any of it.
func (m *memory) release(size int) {
	if size > largestKept {
		return
	}
	m.values.reset()
	m.rows.reset()
	m.places.reset()
	m.links.reset()
	clear(m.stack[:cap(m.stack)])
	clear(m.order[:cap(m.order)])
	m.stack, m.order = m.stack[:0], m.order[:0]
	memories.Put(m)
}

// arena hands out memory that is taken for many at once.
type arena[T any] struct {
	chunks [][]T
	full   int // chunks that are used up
	used   int // of the next one
}

// take returns n zero values in a row. Where there are none left, it gets as many as the hint says.
func (a *arena[T]) take(n, hint int) []T {
	if n > largestRow {
		return make([]T, n)
	}
	for a.full < len(a.chunks) && len(a.chunks[a.full])-a.used < n {
		a.full, a.used = a.full+1, 0
	}
	if a.full == len(a.chunks) {
		a.chunks = append(a.chunks, make([]T, max(n, hint)))
	}
	out := a.chunks[a.full][a.used : a.used+n : a.used+n]
	a.used += n
	return out
}

func (a *arena[T]) reset() {
	for _, chunk := range a.chunks[:min(a.full+1, len(a.chunks))] {
		clear(chunk)
	}
	a.full, a.used = 0, 0
}
