package web_test

import (
	"fmt"
	goruntime "runtime"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/web"
)

func TestMeasure(t *testing.T) {
	r := newRig(t, "sqlite", web.Config{Rate: 1e9, Burst: 1e9})
	r.contract.off = true
	var ids []string
	for range 100 {
		ids = append(ids, r.start("talk", `"x"`).ID)
	}
	goruntime.GC()
	var a, b goruntime.MemStats
	goruntime.ReadMemStats(&a)
	var cs []*client
	for n := range 1000 {
		c := r.socket(operator)
		require.NotNil(t, c.ask(context0(ids[n%100], "")))
		for { m, err := c.read(); require.NoError(t, err); if m.Type == "row" && m.ID != "" { var x = string(m.Payload); if len(x) > 0 && contains(x, `"returned"`) { break } } }
		cs = append(cs, c)
	}
	goruntime.GC()
	goruntime.ReadMemStats(&b)
	t.Logf("1000 sockets, both ends: heap+stack %d MB, goroutines %d", (int64(b.HeapInuse+b.StackInuse)-int64(a.HeapInuse+a.StackInuse))>>20, goruntime.NumGoroutine())
	var mu sync.Mutex
	var took []time.Duration
	for round := range 50 {
		id := ids[round%100]
		start := time.Now()
		_, err := (&web.Client{Base: r.http.URL, Token: operator}).Deliver(t.Context(), id, "again", "", "")
		require.NoError(t, err)
		sent := time.Since(start)
		var all sync.WaitGroup
		for n := round % 100; n < 1000; n += 100 {
			all.Go(func() {
				for { m, err := cs[n].read(); if err != nil || contains(string(m.Payload), `"returned"`) { break } }
				mu.Lock(); took = append(took, time.Since(start)-sent); mu.Unlock()
			})
		}
		all.Wait()
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	t.Log(fmt.Sprintf("after the reply to the row on the socket: p50 %v p95 %v max %v", took[len(took)/2], took[len(took)*95/100], took[len(took)-1]))
}

func contains(s, sub string) bool { for i := 0; i+len(sub) <= len(s); i++ { if s[i:i+len(sub)] == sub { return true } }; return false }
