package storetest

import "github.com/routegen/routegen/runtime/thread"

// forgetsClashes is a store whose brief interrupts lack a number.
func forgetsClashes() *broken {
	return finds(func(q *thread.InterruptQuery, found []*thread.Interrupt) []*thread.Interrupt {
		for n := range found {
			i := *found[n]
			if q.Brief {
				i.Clashes = 0
			}
			found[n] = &i
		}
		return found
	})
}

// forgetsMarks is a store whose brief interrupts begin anew with each page.
func forgetsMarks() *broken {
	return asks(func(q *thread.InterruptQuery) {
		if q.Brief {
			q.After = nil
		}
	})
}
