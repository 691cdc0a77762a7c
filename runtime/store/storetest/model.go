package storetest

import (
	"slices"

	"github.com/routegen/routegen/runtime/thread"
)

// model is what a store must hold, in plain maps. It knows nothing of versions of records, frames
// or encodings: it counts commits and entries, and follows each interrupt. What it says of an
// interrupt is what a person was told.
type model struct {
	threads []string // in the order they were made
	commits map[string]int64
	entries map[string]int64
	asked   map[string][]string // interrupts by thread, in the order they were asked
	state   map[string]thread.InterruptState
	answer  map[string]string
	holder  map[string]string // who claimed it
	over    map[string]bool
	log     []string // thread of each entry
}

func newModel() *model {
	return &model{
		commits: map[string]int64{}, entries: map[string]int64{}, asked: map[string][]string{},
		state:  map[string]thread.InterruptState{},
		answer: map[string]string{}, holder: map[string]string{}, over: map[string]bool{},
	}
}

// committed counts a commit of a thread with so many entries.
func (m *model) committed(threadID string, entries int) {
	if m.commits[threadID] == 0 {
		m.threads = append(m.threads, threadID)
	}
	m.commits[threadID]++
	m.entries[threadID] += int64(entries)
	for range entries {
		m.log = append(m.log, threadID)
	}
}

func (m *model) addQuestion(threadID, interrupt string) {
	m.asked[threadID] = append(m.asked[threadID], interrupt)
	m.state[interrupt] = thread.InterruptOpen
}

// openOf lists the open interrupts of a thread in the order they were asked.
func (m *model) openOf(id string) []string {
	return slices.DeleteFunc(slices.Clone(m.asked[id]), func(i string) bool {
		return m.state[i] != thread.InterruptOpen
	})
}

// closeOpen closes all open interrupts of a thread.
func (m *model) closeOpen(id string, state thread.InterruptState) {
	for _, i := range m.openOf(id) {
		m.state[i] = state
	}
}

// endThread ends a thread: its open interrupts are cancelled.
func (m *model) endThread(id string) {
	m.closeOpen(id, thread.InterruptCancelled)
	m.over[id] = true
}

// aliveThreads lists the threads that are not over; with asking, only those with an open question.
func (m *model) aliveThreads(asking bool) []string {
	return slices.DeleteFunc(slices.Clone(m.threads), func(id string) bool {
		return m.over[id] || asking && len(m.openOf(id)) == 0
	})
}

// inbox lists all open interrupts.
func (m *model) inbox() []string {
	var out []string
	for _, id := range m.threads {
		out = append(out, m.openOf(id)...)
	}
	return out
}

// closedIn lists the interrupts in a state.
func (m *model) closedIn(state thread.InterruptState) []string {
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
