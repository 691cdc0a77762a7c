// Package storetest tests a store against the contract of [thread.Store]. [Run] has one subtest for
// each clause, named as the sentence that it proves, and reports what could not be tried because
// the store does not offer it.
//
//	func TestContract(t *testing.T) {
//		t.Parallel()
//		storetest.Run(t, func(t *testing.T) storetest.Opened {
//			s := mem.Open()
//			return storetest.Opened{Store: s, Close: s.Close}
//		})
//	}
//
// The package's own tests run every clause against a store that breaks it, and each must be caught.
package storetest

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime/thread"
)

// Opened is an empty store under test and what can be done to it. Only Store is required: a nil
// function is a capability that the store does not have, and the clauses that need it are reported
// as not tried. Each Opened is used by one clause.
type Opened struct {
	Store thread.Store

	// Close closes the store. Capability "close".
	Close func() error

	// Reopen closes the store, in whatever way the test of the store likes, and opens what it left.
	// Capability "durable".
	Reopen func() thread.Store

	// Second opens another store on the same data, as another process would. Capability "shared".
	Second func() thread.Store

	// Damage flips a bit in what is stored of a thread's record. Capability "damage".
	Damage func(thread string)

	// Break makes the store unreachable, full or read-only, until mend is called. Capability
	// "outage".
	Break func() (mend func())
}

// Report says what a run covered.
type Report struct {
	Present []string            // capabilities
	Absent  []string            // capabilities
	Tried   []string            // clauses
	Missing map[string][]string // clauses that were not tried, by the capability they need
}

// String is the report as text, a line for each capability.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the contract of thread.Store: %d clauses tried", len(r.Tried))
	for _, name := range r.Present {
		b.WriteString("\ncapability " + name + ": present")
	}
	for _, name := range r.Absent {
		fmt.Fprintf(&b, "\ncapability %s: absent, not tried: %s", name,
			strings.Join(r.Missing[name], "; "))
	}
	return b.String()
}

// Run tests a store against every clause. open is called once for each clause and once for the
// report, by several goroutines, and cleans up by t.Cleanup. The report is logged and returned.
func Run(t *testing.T, open func(t *testing.T) Opened) *Report {
	t.Helper()
	first := open(t)
	report := reportOn(&first)
	t.Log(report)
	for _, c := range clauses {
		if !c.possible(&first) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.runOn(t, open(t))
		})
	}
	return report
}

// capability is something that not every store can do.
type capability string

const (
	always  capability = ""
	closes  capability = "close"
	durable capability = "durable"
	shared  capability = "shared"
	damage  capability = "damage"
	outage  capability = "outage"
)

func (o *Opened) hasCapability(c capability) bool {
	switch c {
	case closes:
		return o.Close != nil
	case durable:
		return o.Reopen != nil
	case shared:
		return o.Second != nil
	case damage:
		return o.Damage != nil
	case outage:
		return o.Break != nil
	case always:
		return true
	default:
		return false
	}
}

func reportOn(o *Opened) *Report {
	r := &Report{Missing: map[string][]string{}}
	for _, c := range []capability{closes, durable, shared, damage, outage} {
		if o.hasCapability(c) {
			r.Present = append(r.Present, string(c))
		} else {
			r.Absent = append(r.Absent, string(c))
		}
	}
	for _, c := range clauses {
		if c.possible(o) {
			r.Tried = append(r.Tried, c.name)
		} else {
			r.Missing[string(c.needs)] = append(r.Missing[string(c.needs)], c.name)
		}
	}
	return r
}

// clause is one thing that a store promises.
type clause struct {
	name  string // a sentence
	from  string // where the promise is made
	needs capability
	check func(tr *trial)
}

func (c *clause) possible(o *Opened) bool { return o.hasCapability(c.needs) }

func (c *clause) runOn(t rapid.TB, o Opened) {
	t.Helper()
	t.Logf("%s (%s)", c.name, c.from)
	c.check(newTrial(t, o))
}
