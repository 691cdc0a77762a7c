package record

import "github.com/routegen/routegen/runtime/thread"

// Part is a part of a store, as a copy of it takes it over: entries and interrupts of any threads,
// in the order in which they were committed, and the threads that they belong to, by id.
type Part struct {
	Threads    map[string]*thread.Thread
	Entries    []thread.Entry
	Interrupts []*thread.Interrupt
}

// Place is how far a copy has come: the entry and the interrupt that were written last.
type Place struct {
	Thread    string // "" at the beginning
	Seq       int64  // of the entry in its thread
	Interrupt string // "" at the beginning
}

// Rows encodes a part. A row has entries of one thread, or an interrupt, in the order of the part;
// so a thread may have several. Each changes nothing of its thread: a store that does not have it
// yet writes it with the first row, as new.
func (p *Part) Rows() ([]Row, error) {
	var rows []Row
	add := func(id string, c *thread.Change) error {
		c.Thread = p.Threads[id]
		c.Before = c.Thread.Version
		rows = append(rows, Row{})
		return rows[len(rows)-1].encodeThread(c)
	}
	for from, n := 0, 0; n < len(p.Entries); n++ {
		id, next := p.Entries[n].Thread, n+1
		if next < len(p.Entries) && p.Entries[next].Thread == id && !p.Entries[n].End {
			continue
		}
		if err := add(id, &thread.Change{Entries: p.Entries[from:next]}); err != nil {
			return nil, err
		}
		from = next
	}
	for n, i := range p.Interrupts {
		c := &thread.Change{Interrupts: p.Interrupts[n : n+1]}
		if err := add(i.Thread, c); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
