package storetest

import (
	"slices"

	"github.com/routegen/routegen/runtime"
)

// model is what a store must hold, in plain maps. It knows nothing of versions of records, frames or encodings: it counts commits and
// entries, and follows each interrupt. What it says of an interrupt is what a person was told.
type model struct {
	threads []string // in the order they were made
	commits map[string]int64
	entries map[string]int64
	asked   map[string][]string // interrupts by thread, in the order they were asked
	state   map[string]runtime.InterruptState
	answer  map[string]string
	holder  map[string]string // who claimed it
	over    map[string]bool
	log     []string // thread of each entry
}

func newModel() *model {
	return &model{
		commits: map[string]int64{}, entries: map[string]int64{}, asked: map[string][]string{}, state: map[string]runtime.InterruptState{},
		answer: map[string]string{}, holder: map[string]string{}, over: map[string]bool{},
	}
}

// commits counts a commit of a thread with so many entries.
func (m *model) committed(thread string, entries int) {
	if m.commits[thread] == 0 {
		m.threads = append(m.threads, thread)
	}
	m.commits[thread]++
	m.entries[thread] += int64(entries)
	for range entries {
		m.log = append(m.log, thread)
	}
}

func (m *model) ask(thread, interrupt string) {
	m.asked[thread] = append(m.asked[thread], interrupt)
	m.state[interrupt] = runtime.InterruptOpen
}

// open lists the open interrupts of a thread in the order they were asked.
func (m *model) open(thread string) []string {
	return slices.DeleteFunc(slices.Clone(m.asked[thread]), func(i string) bool { return m.state[i] != runtime.InterruptOpen })
}

// close ends the life of all interrupts of a thread that are open.
func (m *model) close(thread string, state runtime.InterruptState) {
	for _, i := range m.open(thread) {
		m.state[i] = state
	}
}

// end is a thread that is over: what was open is taken back.
func (m *model) end(thread string) {
	m.close(thread, runtime.InterruptCancelled)
	m.over[thread] = true
}

// alive lists the threads that are not over, and with asking those of them that have a question open.
func (m *model) alive(asking bool) []string {
	return slices.DeleteFunc(slices.Clone(m.threads), func(id string) bool { return m.over[id] || asking && len(m.open(id)) == 0 })
}

// inbox lists all open interrupts.
func (m *model) inbox() []string {
	var out []string
	for _, id := range m.threads {
		out = append(out, m.open(id)...)
	}
	return out
}

// closed lists the interrupts in a state.
func (m *model) closed(state runtime.InterruptState) []string {
	var out []string
	for _, id := range m.threads {
		for _, i := range m.asked[id] {
			if m.state[i] == state {
				out = append(out, i)
			}
		}
	}
	return out
}
