package tui

import (
	"fmt"
	"testing"

	"github.com/routegen/routegen/runtime/thread"
)

// BenchmarkRows is what 256 rows that come at once, as they do at the beginning of a long thread,
// cost up to the screen.
func BenchmarkRows(b *testing.B) {
	s := full(false)
	s.width, s.height = 80, 24
	rows := make(rowsReceived, 256)
	for n := range rows {
		rows[n].Type, rows[n].Name, rows[n].Value = thread.EntryMessage, "said",
			fmt.Appendf(nil, `"message %d"`, n)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.handle(rows)
		s.view()
	}
}
