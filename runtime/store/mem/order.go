package mem

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// sortKey orders rows by number, then time, then id.
type sortKey struct {
	n  int
	at time.Time
	id string
}

func (p sortKey) compareTo(q sortKey) int {
	return cmp.Or(cmp.Compare(p.n, q.n), p.at.Compare(q.at), strings.Compare(p.id, q.id))
}

const pageSize = 256 // bounds what moves when a place is put in or taken out

// pagedIndex is a sorted list of keys, cut into pages, so that a change moves one page and not all
// keys.
type pagedIndex struct{ pages [][]sortKey }

// locate returns the page and the index where p is, or belongs.
func (o *pagedIndex) locate(p sortKey) (page, at int, found bool) {
	page, found = slices.BinarySearchFunc(o.pages, p, func(page []sortKey, p sortKey) int {
		return page[0].compareTo(p)
	})
	if !found && page > 0 {
		page--
		at, found = slices.BinarySearchFunc(o.pages[page], p, sortKey.compareTo)
	}
	return page, at, found
}

// insert adds a key that is not in the index.
func (o *pagedIndex) insert(p sortKey) {
	n, at, _ := o.locate(p)
	if len(o.pages) == 0 {
		o.pages = [][]sortKey{nil}
	}
	o.pages[n] = slices.Insert(o.pages[n], at, p)
	if page := o.pages[n]; len(page) > pageSize {
		half := max(pageSize/2, at) // what comes in order fills its pages
		o.pages[n] = page[:half:half]
		o.pages = slices.Insert(o.pages, n+1, slices.Clone(page[half:]))
	}
}

// remove takes a place out, if it is there.
func (o *pagedIndex) remove(p sortKey) {
	n, at, found := o.locate(p)
	if !found {
		return
	}
	if o.pages[n] = slices.Delete(o.pages[n], at, at+1); len(o.pages[n]) == 0 {
		o.pages = slices.Delete(o.pages, n, n+1)
	}
}

// after returns the ids of the places behind p, in order.
func (o *pagedIndex) after(p sortKey) iter.Seq[string] {
	return func(yield func(string) bool) {
		n, at, found := o.locate(p)
		if found {
			at++
		}
		for ; n < len(o.pages); n, at = n+1, 0 {
			for _, q := range o.pages[n][at:] {
				if !yield(q.id) {
					return
				}
			}
		}
	}
}
