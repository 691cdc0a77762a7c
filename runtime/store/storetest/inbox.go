package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/runtime/thread"
)

// inboxStates has one interrupt of each state, and looks for them with and without the fields that
// change what an empty States means.
func inboxStates(tr *trial) {
	states := []thread.InterruptState{
		thread.InterruptOpen, thread.InterruptQueued, thread.InterruptAnswered,
		thread.InterruptSuperseded,
		thread.InterruptCancelled, thread.InterruptExpired,
	}
	var a, b []*thread.Interrupt
	for _, state := range states {
		a = append(a, &thread.Interrupt{ID: "a-" + string(state), State: state})
		b = append(b, &thread.Interrupt{ID: "b-" + string(state), State: state})
	}
	tr.mustCommit(tr.interruptChange("a", a...), tr.interruptChange("b", b...))
	sees := func(q thread.InterruptQuery, want ...string) {
		tr.Helper()
		assert.ElementsMatch(tr, want, idsOf(tr.mustInterrupts(q)), "%+v", q)
	}
	sees(thread.InterruptQuery{}, "a-open", "b-open")
	sees(thread.InterruptQuery{Thread: "a"}, idsOf(a)...)
	sees(thread.InterruptQuery{Thread: "nobody"})
	for _, state := range states {
		one := []thread.InterruptState{state}
		sees(thread.InterruptQuery{States: one}, "a-"+string(state), "b-"+string(state))
		sees(thread.InterruptQuery{Thread: "b", States: one}, "b-"+string(state))
		sees(thread.InterruptQuery{ID: "a-" + string(state)}, "a-"+string(state))
		sees(thread.InterruptQuery{ID: "a-" + string(state), Thread: "a", States: one},
			"a-"+string(state))
		sees(thread.InterruptQuery{ID: "a-" + string(state), Thread: "b"})
	}
	two := []thread.InterruptState{thread.InterruptQueued, thread.InterruptExpired,
		thread.InterruptQueued}
	sees(thread.InterruptQuery{States: two}, "a-queued", "b-queued", "a-expired", "b-expired")
	sees(thread.InterruptQuery{ID: "a-open", States: two})
	sees(thread.InterruptQuery{ID: "nothing"})
	sees(thread.InterruptQuery{States: states}, append(idsOf(a), idsOf(b)...)...)
}

// shuffled is interrupts of few priorities and times, so that every part of the order decides
// somewhere.
func (tr *trial) shuffled(n int) []*thread.Interrupt {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	out := make([]*thread.Interrupt, n)
	for k := range out {
		out[k] = &thread.Interrupt{
			ID: fmt.Sprintf("%c%d", "zyBa"[k%4], k), Priority: (k * 7) % 3,
			Created: began.Add(time.Duration((k*5)%4) * time.Millisecond),
		}
	}
	return out
}

func sortedByUrgency(in []*thread.Interrupt) []*thread.Interrupt {
	return slices.SortedFunc(slices.Values(in), func(a, b *thread.Interrupt) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.Created.Compare(b.Created),
			strings.Compare(a.ID, b.ID))
	})
}

func inboxOrder(tr *trial) {
	all := tr.shuffled(40)
	tr.mustCommit(tr.interruptChange("a", all[:25]...), tr.interruptChange("b", all[25:]...))
	want := idsOf(sortedByUrgency(all))
	assert.Equal(tr, want, idsOf(tr.mustInterrupts(thread.InterruptQuery{})))
	assert.Equal(tr, idsOf(sortedByUrgency(all[25:])),
		idsOf(tr.mustInterrupts(thread.InterruptQuery{Thread: "b"})))
	assert.Equal(tr, want, idsOf(
		tr.mustInterrupts(thread.InterruptQuery{States: []thread.InterruptState{"open",
			"queued"}})))
}

// inboxPages goes through the inbox in pages of every size: each mark is an exact boundary.
func inboxPages(tr *trial) {
	all := tr.shuffled(23)
	tr.mustCommit(tr.interruptChange("a", all...))
	want := sortedByUrgency(all)
	queries := []thread.InterruptQuery{{}, {Thread: "a"},
		{States: []thread.InterruptState{"open", "expired"}}}
	for _, q := range queries {
		for q.Limit = 1; q.Limit <= len(all)+1; q.Limit++ {
			q.After = nil
			var got []string
			for {
				page := tr.mustInterrupts(q)
				assert.LessOrEqual(tr, len(page), q.Limit)
				if len(page) == 0 || len(got) > len(all) {
					break
				}
				got = append(got, idsOf(page)...)
				last := page[len(page)-1]
				q.After = &thread.InterruptMark{Priority: last.Priority, Created: last.Created,
					ID: last.ID}
			}
			assert.Equal(tr, idsOf(want), got, "pages of %d", q.Limit)
		}
	}
	for n, i := range want { // a mark need not be there
		mark := thread.InterruptMark{Priority: i.Priority, Created: i.Created, ID: i.ID + "\x01"}
		assert.Equal(tr, idsOf(want[n+1:]),
			idsOf(tr.mustInterrupts(thread.InterruptQuery{After: &mark})))
	}
	assert.Len(tr, tr.mustInterrupts(
		thread.InterruptQuery{After: &thread.InterruptMark{Priority: -1}}), len(all))
	first := want[0]
	only := thread.InterruptQuery{ID: first.ID,
		After: &thread.InterruptMark{Priority: first.Priority, Created: first.Created,
			ID: first.ID}}
	assert.Empty(tr, tr.mustInterrupts(only), "all fields that are set must match")
}

// inboxAges reads the interrupts in the order they were first committed, in pages of every size:
// one thread's and all, whatever their urgency is, and whatever became of them since.
func inboxAges(tr *trial) {
	all := tr.shuffled(23)
	tr.mustCommit(tr.interruptChange("a", all[:9]...))
	tr.mustCommit(tr.interruptChange("b", all[9:]...))
	changed := *all[3]
	changed.State, changed.Priority = thread.InterruptAnswered, 9
	c := tr.nextChange("a")
	c.Interrupts = append(c.Interrupts, &changed)
	tr.mustCommit(c)
	all[3] = &changed
	opened := append(slices.Clone(all[:3]), all[4:]...)
	either := []thread.InterruptState{thread.InterruptAnswered, thread.InterruptOpen}
	for _, ask := range []struct {
		q    thread.InterruptQuery
		want []*thread.Interrupt
	}{
		{thread.InterruptQuery{}, opened},
		{thread.InterruptQuery{States: either}, all},
		{thread.InterruptQuery{Thread: "a"}, all[:9]},
		{thread.InterruptQuery{Thread: "b", States: either}, all[9:]},
		{thread.InterruptQuery{ID: all[3].ID}, all[3:4]},
	} {
		q := ask.q
		for q.ByAge, q.Limit = true, 1; q.Limit <= len(all)+1; q.Limit++ {
			q.After = nil
			var got []string
			for page := tr.mustInterrupts(q); len(page) > 0 && len(got) <= len(all); page =
				tr.mustInterrupts(q) {
				assert.LessOrEqual(tr, len(page), q.Limit)
				got = append(got, idsOf(page)...)
				q.After = &thread.InterruptMark{ID: got[len(got)-1]}
			}
			assert.Equal(tr, idsOf(ask.want), got, "%+v in pages of %d", ask.q, q.Limit)
		}
		q.After = &thread.InterruptMark{ID: "nothing"}
		assert.Empty(tr, tr.mustInterrupts(q), "after one that is not there")
	}
}

// inboxBriefs compares brief interrupts of every state with whole ones, page by page.
func inboxBriefs(tr *trial) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var list []*thread.Interrupt
	for n, state := range everyState {
		id, at := fmt.Sprint("of state ", n), began.Add(time.Duration(n)*time.Second)
		i := &thread.Interrupt{ID: id, Kind: "k'1", Node: "n\"1", State: state, Created: at,
			Asks: n, Clashes: n % 3}
		i.Name, i.Text = "q", "\U0001F600 {\"asks\": 7}"
		if n%2 == 0 {
			i.Assignees = []string{"group:ann \"x\", é", "bob"}
		}
		if n%3 == 0 {
			i.EscalatedTo = "boss"
		}
		if state != thread.InterruptOpen && state != thread.InterruptQueued {
			i.AnsweredBy, i.ClosedAt = "carl, \\", at.Add(1234*time.Millisecond)
		}
		list = append(list, i)
	}
	tr.mustCommit(tr.interruptChange("a", list[:3]...), tr.interruptChange("b", list[3:]...))
	for _, q := range []thread.InterruptQuery{{}, {ByAge: true}, {ByAge: true, States: everyState},
		{Thread: "a"}, {ID: list[4].ID}, {States: everyState, Nodes: []string{"n\"1"}},
		{ByAge: true, States: everyState, After: &thread.InterruptMark{ID: list[1].ID}, Limit: 2},
		{States: everyState, Assignees: []string{"boss"}}} {
		whole := tr.mustInterrupts(q)
		assert.NotEmpty(tr, whole, "%+v", q)
		q.Brief = true
		assert.Equal(tr, countedOf(whole), countedOf(tr.mustInterrupts(q)), "%+v", q)
	}
}

// countedOf returns what a brief query promises.
func countedOf(list []*thread.Interrupt) []string {
	out := make([]string, len(list))
	for n, i := range list {
		var first string
		if answerers := i.Answerers(); len(answerers) > 0 {
			first = answerers[0]
		}
		out[n] = fmt.Sprintf("%q %q %q %s %d %d %q %q %d %d", i.ID, i.Kind, i.Node, i.State,
			i.Created.UnixMilli(), i.ClosedAt.UnixMilli(), i.AnsweredBy, first, i.Asks, i.Clashes)
	}
	return out
}

// inboxFilters tries each field alone, several at once, and values that nothing has.
func inboxFilters(tr *trial) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	tr.mustCommit(
		tr.interruptChange("a",
			&thread.Interrupt{ID: "1", Kind: "k1", Node: "n1", Created: at(1),
				Question: thread.Question{Assignees: []string{"ann", "bob"}}},
			&thread.Interrupt{ID: "2", Kind: "k2", Node: "n1", Created: at(2)},
			&thread.Interrupt{ID: "3", Kind: "k2", Node: "n2", Created: at(3),
				Question: thread.Question{Assignees: []string{"bob"}}}),
		tr.interruptChange("b",
			&thread.Interrupt{ID: "4", Kind: "k1", Created: at(3),
				Question: thread.Question{Assignees: []string{"bobby"}}},
			&thread.Interrupt{ID: "5", Kind: "k3", Node: "n3", Created: at(5), EscalatedTo: "boss",
				Question: thread.Question{
					Assignees: []string{"ann"},
				}}),
	)
	cases := []struct {
		q    thread.InterruptQuery
		want string
	}{
		{thread.InterruptQuery{}, "12345"},
		{thread.InterruptQuery{Kinds: []string{"k1"}}, "14"},
		{thread.InterruptQuery{Kinds: []string{"k1", "k3"}}, "145"},
		{thread.InterruptQuery{Kinds: []string{"k"}}, ""},
		{thread.InterruptQuery{Kinds: []string{"K1"}}, ""},
		{thread.InterruptQuery{Nodes: []string{"n1"}}, "12"},
		{thread.InterruptQuery{Nodes: []string{"n2", "n3", "n9"}}, "35"},
		{thread.InterruptQuery{Nodes: []string{""}}, "4"},
		{thread.InterruptQuery{Assignees: []string{"bob"}}, "123"},
		{thread.InterruptQuery{Assignees: []string{"ann"}}, "12"},
		{thread.InterruptQuery{Assignees: []string{"bobby"}}, "24"},
		{thread.InterruptQuery{Assignees: []string{"boss"}}, "25"},
		{thread.InterruptQuery{Assignees: []string{"b"}}, "2"},
		{thread.InterruptQuery{Assignees: []string{"b", "bobby", "boss"}}, "245"},
		{thread.InterruptQuery{Assignees: []string{"group:boss", "ann"}}, "12"},
		{thread.InterruptQuery{Before: at(3)}, "12"},
		{thread.InterruptQuery{Before: at(4)}, "1234"},
		{thread.InterruptQuery{Before: at(1)}, ""},
		{thread.InterruptQuery{Before: at(9).In(time.FixedZone("", 7200))}, "12345"},
		{thread.InterruptQuery{Kinds: []string{"k2"}, Nodes: []string{"n1"}}, "2"},
		{thread.InterruptQuery{Kinds: []string{"k1"}, Assignees: []string{"bob"},
			Before: at(2)}, "1"},
		{thread.InterruptQuery{Thread: "a", Assignees: []string{"bobby"}}, "2"},
		{thread.InterruptQuery{Thread: "b", Kinds: []string{"k2"}}, ""},
		{thread.InterruptQuery{ID: "3", Nodes: []string{"n2"}}, "3"},
		{thread.InterruptQuery{ID: "3", Nodes: []string{"n1"}}, ""},
		{thread.InterruptQuery{ID: "3", Assignees: []string{"ann"}}, ""},
		{thread.InterruptQuery{Nodes: []string{"n1", "n2"}, Limit: 2}, "12"},
		{thread.InterruptQuery{Assignees: []string{"bob"},
			After: &thread.InterruptMark{Created: at(1), ID: "1"}, Limit: 1}, "2"},
	}
	for _, c := range cases {
		assert.Equal(tr, c.want, strings.Join(idsOf(tr.mustInterrupts(c.q)), ""), "%+v", c.q)
	}
}

// odd are strings that mean something to a query language, a file system, a message broker or a
// terminal, and nothing to a store.
var odd = []string{
	"'", `"`, "''", "' OR '1'='1", `a"; DROP TABLE threads; --`, "%", "_", "a%", "a_", `\`, `\%`,
	"*", "a*", ">", ">.>", "[a-z]", "?", "$1", ":id", "@p",
	"..", "../../etc/passwd", "a/b", "a%2fb", "a%2Fb", "/", "a:b", "a|b", "a,b", "a b", " ", "  ",
	"\t", "\n", "\u202e", "\u200b", "ä", "a\u0308",
	"Ä", "\u65e5\u672c\u8a9e", "🙂", "\U0010FFFF", "null", "NULL", "true", "0", "00", "0x0", "1e3",
	"-1", "[]", "{}", `["a"]`, "<b>&amp;", "A", "a", "aa", "\u2028",
}

// inboxOddValues gives each odd string to every field that a query can name: it finds itself, and
// nothing else.
func inboxOddValues(tr *trial) {
	for _, s := range odd {
		tr.mustCommit(tr.interruptChange("t"+s,
			&thread.Interrupt{ID: "i" + s, Kind: "k" + s, Node: "n" + s,
				Question: thread.Question{Assignees: []string{"p" + s}}}))
	}
	for _, s := range odd {
		for _, q := range []thread.InterruptQuery{
			{ID: "i" + s}, {Thread: "t" + s}, {Kinds: []string{"k" + s}},
			{Nodes: []string{"n" + s}}, {Assignees: []string{"p" + s}},
			{Kinds: []string{"k" + s, "' OR 1=1 --"}},
			{Thread: "t" + s, States: []thread.InterruptState{"open", "' OR 1=1 --"}},
		} {
			assert.Equal(tr, []string{"i" + s}, idsOf(tr.mustInterrupts(q)), "%q %+v", s, q)
		}
		assert.Empty(tr, tr.mustInterrupts(
			thread.InterruptQuery{States: []thread.InterruptState{thread.InterruptState(s)}}),
			"%q", s)
	}
	assert.Len(tr, tr.mustInterrupts(thread.InterruptQuery{Limit: 1000}), len(odd))
}

func inboxLimits(tr *trial) {
	many := make([]*thread.Interrupt, thread.DefaultLimit+5)
	for n := range many {
		many[n] = &thread.Interrupt{Node: "n"}
	}
	tr.mustCommit(tr.interruptChange("a", many...))
	for _, q := range []thread.InterruptQuery{{}, {Thread: "a"}, {Nodes: []string{"n"}},
		{States: []thread.InterruptState{"open", "queued"}}} {
		assert.Len(tr, tr.mustInterrupts(q), thread.DefaultLimit)
		q.Limit = 3
		assert.Len(tr, tr.mustInterrupts(q), 3)
		q.Limit = 1000
		assert.Len(tr, tr.mustInterrupts(q), len(many))
	}
}

// inboxForgets follows one interrupt through its life: what is closed is never open again, and is
// never deleted.
func inboxForgets(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1", "q2"), tr.askChange("b", "q3"))
	q1 := tr.records["a"].Open[0].ID
	tr.mustCommit(tr.answerChange("a", "q1", `false`))
	for range 3 {
		assert.NotContains(tr, idsOf(tr.mustInterrupts(thread.InterruptQuery{})), q1)
		found := tr.mustInterrupts(thread.InterruptQuery{ID: q1})
		if assert.Len(tr, found, 1) {
			assert.Equal(tr, thread.InterruptAnswered, found[0].State)
			assert.Equal(tr, `false`, string(found[0].Answer))
			assert.Equal(tr, "bob", found[0].AnsweredBy)
		}
		tr.mustCommit(tr.sayChange("a", "on"))
	}
	c := tr.nextChange("a")
	c.Return("f1", raw(`1`))
	tr.mustCommit(c)
	c = tr.nextChange("a")
	c.Over(thread.StatusDone, raw(`1`), nil, "")
	tr.mustCommit(c)
	assert.Len(tr, tr.mustInterrupts(thread.InterruptQuery{Thread: "a"}), 2)
	assert.Len(tr, tr.mustInterrupts(thread.InterruptQuery{}), 1)
	assert.Len(tr, tr.mustLog(thread.LogQuery{Thread: "a"}), int(tr.records["a"].Seq))
}
