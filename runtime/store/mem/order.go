package mem

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// place is where a row stands in an order: by number, then time, then id.
type place struct {
	n  int
	at time.Time
	id string
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.n, q.n), p.at.Compare(q.at), strings.Compare(p.id, q.id))
}

const pageSize = 256 // bounds what moves when a place is put in or taken out

// order is a sorted list of places, cut into pages, so that a change moves one page and not all that comes after it. No page is empty.
type order struct{ pages [][]place }

// find returns where p is, or belongs: the page, and the index on it.
func (o *order) find(p place) (page, at int, found bool) {
	page, found = slices.BinarySearchFunc(o.pages, p, func(page []place, p place) int { return page[0].compare(p) })
	if !found && page > 0 {
		page--
		at, found = slices.BinarySearchFunc(o.pages[page], p, place.compare)
	}
	return page, at, found
}

// add puts in a place that is not there.
func (o *order) add(p place) {
	n, at, _ := o.find(p)
	if len(o.pages) == 0 {
		o.pages = [][]place{nil}
	}
	o.pages[n] = slices.Insert(o.pages[n], at, p)
	if page := o.pages[n]; len(page) > pageSize {
		half := max(pageSize/2, at) // what comes in order fills its pages
		o.pages[n] = page[:half:half]
		o.pages = slices.Insert(o.pages, n+1, slices.Clone(page[half:]))
	}
}

// remove takes a place out, if it is there.
func (o *order) remove(p place) {
	n, at, found := o.find(p)
	if !found {
		return
	}
	if o.pages[n] = slices.Delete(o.pages[n], at, at+1); len(o.pages[n]) == 0 {
		o.pages = slices.Delete(o.pages, n, n+1)
	}
}

// after returns the ids of the places behind p, in order.
func (o *order) after(p place) iter.Seq[string] {
	return func(yield func(string) bool) {
		n, at, found := o.find(p)
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
