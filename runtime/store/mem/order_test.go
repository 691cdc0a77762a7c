package mem

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestOrderIsASortedSet compares an order with a sorted slice, over enough places for several
// pages.
func TestOrderIsASortedSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var o pagedIndex
		var want []sortKey
		add := func(p sortKey) {
			if n, found := slices.BinarySearchFunc(want, p, sortKey.compareTo); !found {
				o.insert(p)
				want = slices.Insert(want, n, p)
			}
		}
		many := rapid.IntRange(0, 4*pageSize).Draw(t, "many")
		step := rapid.SampledFrom([]int{1, -1, 7, 211}).Draw(t, "step")
		for n := range many {
			add(placeNo(n*step + 1<<16))
		}
		for range rapid.IntRange(0, 400).Draw(t, "changes") {
			p := placeNo(rapid.IntRange(0, 2048).Draw(t, "place"))
			if rapid.Bool().Draw(t, "remove") && len(want) > 0 {
				p = want[rapid.IntRange(0, len(want)-1).Draw(t, "which")]
				want = slices.DeleteFunc(want, func(q sortKey) bool { return p == q })
				o.remove(p)
				o.remove(p) // what is not there is let be
			} else {
				add(p)
			}
		}
		for _, page := range o.pages {
			require.NotEmpty(t, page)
			require.LessOrEqual(t, len(page), pageSize)
		}
		from := placeNo(rapid.IntRange(0, 1<<17).Draw(t, "from"))
		at, found := slices.BinarySearchFunc(want, from, sortKey.compareTo)
		if found {
			at++
		}
		var ids []string
		for _, p := range want[at:] {
			ids = append(ids, p.id)
		}
		assert.Equal(t, ids, slices.Collect(o.after(from)))
		for range o.after(from) {
			break // who has enough may stop
		}
	})
}

// placeNo makes places that differ in each of their parts.
func placeNo(n int) sortKey {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return sortKey{n: n / 100, at: began.Add(time.Duration(n/10) * time.Second),
		id: fmt.Sprintf("%06d", n)}
}

func TestPlacesCompareByNumberThenTimeThenID(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	sorted := []sortKey{
		{n: -1, at: now.Add(9), id: "z"}, {n: 0, id: "z"}, {n: 0, at: now, id: "a"},
		{n: 0, at: now, id: "b"}, {n: 0, at: now.Add(1), id: "a"}, {n: 2},
	}
	for n, p := range sorted {
		for m, q := range sorted {
			assert.Equal(t, cmp.Compare(n, m), p.compareTo(q))
		}
	}
}
