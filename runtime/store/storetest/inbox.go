package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/runtime"
)

// inboxStates has one interrupt of each state, and looks for them with and without the fields that change what an empty States means.
func inboxStates(tr *trial) {
	states := []runtime.InterruptState{
		runtime.InterruptOpen, runtime.InterruptQueued, runtime.InterruptAnswered, runtime.InterruptSuperseded,
		runtime.InterruptCancelled, runtime.InterruptExpired,
	}
	var a, b []*runtime.Interrupt
	for _, state := range states {
		a = append(a, &runtime.Interrupt{ID: "a-" + string(state), State: state})
		b = append(b, &runtime.Interrupt{ID: "b-" + string(state), State: state})
	}
	tr.commit(tr.holds("a", a...), tr.holds("b", b...))
	sees := func(q runtime.InterruptQuery, want ...string) {
		tr.Helper()
		assert.ElementsMatch(tr, want, idsOf(tr.interrupts(q)), "%+v", q)
	}
	sees(runtime.InterruptQuery{}, "a-open", "b-open")
	sees(runtime.InterruptQuery{Thread: "a"}, idsOf(a)...)
	sees(runtime.InterruptQuery{Thread: "nobody"})
	for _, state := range states {
		one := []runtime.InterruptState{state}
		sees(runtime.InterruptQuery{States: one}, "a-"+string(state), "b-"+string(state))
		sees(runtime.InterruptQuery{Thread: "b", States: one}, "b-"+string(state))
		sees(runtime.InterruptQuery{ID: "a-" + string(state)}, "a-"+string(state))
		sees(runtime.InterruptQuery{ID: "a-" + string(state), Thread: "a", States: one}, "a-"+string(state))
		sees(runtime.InterruptQuery{ID: "a-" + string(state), Thread: "b"})
	}
	two := []runtime.InterruptState{runtime.InterruptQueued, runtime.InterruptExpired, runtime.InterruptQueued}
	sees(runtime.InterruptQuery{States: two}, "a-queued", "b-queued", "a-expired", "b-expired")
	sees(runtime.InterruptQuery{ID: "a-open", States: two})
	sees(runtime.InterruptQuery{ID: "nothing"})
	sees(runtime.InterruptQuery{States: states}, append(idsOf(a), idsOf(b)...)...)
}

// unordered is interrupts of few priorities and times, so that every part of the order decides somewhere.
func (tr *trial) unordered(n int) []*runtime.Interrupt {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	out := make([]*runtime.Interrupt, n)
	for k := range out {
		out[k] = &runtime.Interrupt{
			ID: fmt.Sprintf("%c%d", "zyBa"[k%4], k), Priority: (k * 7) % 3, Created: began.Add(time.Duration((k*5)%4) * time.Millisecond),
		}
	}
	return out
}

func ordered(in []*runtime.Interrupt) []*runtime.Interrupt {
	return slices.SortedFunc(slices.Values(in), func(a, b *runtime.Interrupt) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
}

func inboxOrder(tr *trial) {
	all := tr.unordered(40)
	tr.commit(tr.holds("a", all[:25]...), tr.holds("b", all[25:]...))
	want := idsOf(ordered(all))
	assert.Equal(tr, want, idsOf(tr.interrupts(runtime.InterruptQuery{})))
	assert.Equal(tr, idsOf(ordered(all[25:])), idsOf(tr.interrupts(runtime.InterruptQuery{Thread: "b"})))
	assert.Equal(tr, want, idsOf(tr.interrupts(runtime.InterruptQuery{States: []runtime.InterruptState{"open", "queued"}})))
}

// inboxPages goes through the inbox in pages of every size: each mark is an exact boundary.
func inboxPages(tr *trial) {
	all := tr.unordered(23)
	tr.commit(tr.holds("a", all...))
	want := ordered(all)
	queries := []runtime.InterruptQuery{{}, {Thread: "a"}, {States: []runtime.InterruptState{"open", "expired"}}}
	for _, q := range queries {
		for q.Limit = 1; q.Limit <= len(all)+1; q.Limit++ {
			q.After = nil
			var got []string
			for {
				page := tr.interrupts(q)
				assert.LessOrEqual(tr, len(page), q.Limit)
				if len(page) == 0 || len(got) > len(all) {
					break
				}
				got = append(got, idsOf(page)...)
				last := page[len(page)-1]
				q.After = &runtime.InterruptMark{Priority: last.Priority, Created: last.Created, ID: last.ID}
			}
			assert.Equal(tr, idsOf(want), got, "pages of %d", q.Limit)
		}
	}
	for n, i := range want { // a mark need not be there
		mark := runtime.InterruptMark{Priority: i.Priority, Created: i.Created, ID: i.ID + "\x01"}
		assert.Equal(tr, idsOf(want[n+1:]), idsOf(tr.interrupts(runtime.InterruptQuery{After: &mark})))
	}
	assert.Len(tr, tr.interrupts(runtime.InterruptQuery{After: &runtime.InterruptMark{Priority: -1}}), len(all))
	first := want[0]
	only := runtime.InterruptQuery{ID: first.ID, After: &runtime.InterruptMark{Priority: first.Priority, Created: first.Created, ID: first.ID}}
	assert.Empty(tr, tr.interrupts(only), "all fields that are set must match")
}

// inboxAges reads the interrupts in the order they were first committed, in pages of every size: one thread's and all,
// whatever their urgency is, and whatever became of them since.
func inboxAges(tr *trial) {
	all := tr.unordered(23)
	tr.commit(tr.holds("a", all[:9]...))
	tr.commit(tr.holds("b", all[9:]...))
	changed := *all[3]
	changed.State, changed.Priority = runtime.InterruptAnswered, 9
	c := tr.next("a")
	c.Interrupts = append(c.Interrupts, &changed)
	tr.commit(c)
	all[3] = &changed
	opened := append(slices.Clone(all[:3]), all[4:]...)
	either := []runtime.InterruptState{runtime.InterruptAnswered, runtime.InterruptOpen}
	for _, ask := range []struct {
		q    runtime.InterruptQuery
		want []*runtime.Interrupt
	}{
		{runtime.InterruptQuery{}, opened},
		{runtime.InterruptQuery{States: either}, all},
		{runtime.InterruptQuery{Thread: "a"}, all[:9]},
		{runtime.InterruptQuery{Thread: "b", States: either}, all[9:]},
		{runtime.InterruptQuery{ID: all[3].ID}, all[3:4]},
	} {
		q := ask.q
		for q.ByAge, q.Limit = true, 1; q.Limit <= len(all)+1; q.Limit++ {
			q.After = nil
			var got []string
			for page := tr.interrupts(q); len(page) > 0 && len(got) <= len(all); page = tr.interrupts(q) {
				assert.LessOrEqual(tr, len(page), q.Limit)
				got = append(got, idsOf(page)...)
				q.After = &runtime.InterruptMark{ID: got[len(got)-1]}
			}
			assert.Equal(tr, idsOf(ask.want), got, "%+v in pages of %d", ask.q, q.Limit)
		}
		q.After = &runtime.InterruptMark{ID: "nothing"}
		assert.Empty(tr, tr.interrupts(q), "after one that is not there")
	}
}

// inboxFilters tries each field alone, several at once, and values that nothing has.
func inboxFilters(tr *trial) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	tr.commit(
		tr.holds("a",
			&runtime.Interrupt{ID: "1", Kind: "k1", Node: "n1", Created: at(1), Question: runtime.Question{Assignees: []string{"ann", "bob"}}},
			&runtime.Interrupt{ID: "2", Kind: "k2", Node: "n1", Created: at(2)},
			&runtime.Interrupt{ID: "3", Kind: "k2", Node: "n2", Created: at(3), Question: runtime.Question{Assignees: []string{"bob"}}}),
		tr.holds("b",
			&runtime.Interrupt{ID: "4", Kind: "k1", Created: at(3), Question: runtime.Question{Assignees: []string{"bobby"}}},
			&runtime.Interrupt{ID: "5", Kind: "k3", Node: "n3", Created: at(5), EscalatedTo: "boss", Question: runtime.Question{
				Assignees: []string{"ann"},
			}}),
	)
	cases := []struct {
		q    runtime.InterruptQuery
		want string
	}{
		{runtime.InterruptQuery{}, "12345"},
		{runtime.InterruptQuery{Kinds: []string{"k1"}}, "14"},
		{runtime.InterruptQuery{Kinds: []string{"k1", "k3"}}, "145"},
		{runtime.InterruptQuery{Kinds: []string{"k"}}, ""},
		{runtime.InterruptQuery{Kinds: []string{"K1"}}, ""},
		{runtime.InterruptQuery{Nodes: []string{"n1"}}, "12"},
		{runtime.InterruptQuery{Nodes: []string{"n2", "n3", "n9"}}, "35"},
		{runtime.InterruptQuery{Nodes: []string{""}}, "4"},
		{runtime.InterruptQuery{Assignee: "bob"}, "123"},
		{runtime.InterruptQuery{Assignee: "ann"}, "12"},
		{runtime.InterruptQuery{Assignee: "bobby"}, "24"},
		{runtime.InterruptQuery{Assignee: "boss"}, "25"},
		{runtime.InterruptQuery{Assignee: "b"}, "2"},
		{runtime.InterruptQuery{Before: at(3)}, "12"},
		{runtime.InterruptQuery{Before: at(4)}, "1234"},
		{runtime.InterruptQuery{Before: at(1)}, ""},
		{runtime.InterruptQuery{Before: at(9).In(time.FixedZone("", 7200))}, "12345"},
		{runtime.InterruptQuery{Kinds: []string{"k2"}, Nodes: []string{"n1"}}, "2"},
		{runtime.InterruptQuery{Kinds: []string{"k1"}, Assignee: "bob", Before: at(2)}, "1"},
		{runtime.InterruptQuery{Thread: "a", Assignee: "bobby"}, "2"},
		{runtime.InterruptQuery{Thread: "b", Kinds: []string{"k2"}}, ""},
		{runtime.InterruptQuery{ID: "3", Nodes: []string{"n2"}}, "3"},
		{runtime.InterruptQuery{ID: "3", Nodes: []string{"n1"}}, ""},
		{runtime.InterruptQuery{ID: "3", Assignee: "ann"}, ""},
		{runtime.InterruptQuery{Nodes: []string{"n1", "n2"}, Limit: 2}, "12"},
		{runtime.InterruptQuery{Assignee: "bob", After: &runtime.InterruptMark{Created: at(1), ID: "1"}, Limit: 1}, "2"},
	}
	for _, c := range cases {
		assert.Equal(tr, c.want, strings.Join(idsOf(tr.interrupts(c.q)), ""), "%+v", c.q)
	}
}

// odd are strings that mean something to a query language, a file system, a message broker or a terminal, and nothing to a store.
var odd = []string{
	"'", `"`, "''", "' OR '1'='1", `a"; DROP TABLE threads; --`, "%", "_", "a%", "a_", `\`, `\%`, "*", "a*", ">", ">.>", "[a-z]", "?", "$1", ":id", "@p",
	"..", "../../etc/passwd", "a/b", "a%2fb", "a%2Fb", "/", "a:b", "a|b", "a,b", "a b", " ", "  ", "\t", "\n", "\u202e", "\u200b", "ä", "a\u0308",
	"Ä", "\u65e5\u672c\u8a9e", "🙂", "\U0010FFFF", "null", "NULL", "true", "0", "00", "0x0", "1e3", "-1", "[]", "{}", `["a"]`, "<b>&amp;", "A", "a", "aa", "\u2028",
}

// inboxOddValues gives each odd string to every field that a query can name: it finds itself, and nothing else.
func inboxOddValues(tr *trial) {
	for _, s := range odd {
		tr.commit(tr.holds("t"+s, &runtime.Interrupt{ID: "i" + s, Kind: "k" + s, Node: "n" + s, Question: runtime.Question{Assignees: []string{"p" + s}}}))
	}
	for _, s := range odd {
		for _, q := range []runtime.InterruptQuery{
			{ID: "i" + s}, {Thread: "t" + s}, {Kinds: []string{"k" + s}}, {Nodes: []string{"n" + s}}, {Assignee: "p" + s},
			{Kinds: []string{"k" + s, "' OR 1=1 --"}}, {Thread: "t" + s, States: []runtime.InterruptState{"open", "' OR 1=1 --"}},
		} {
			assert.Equal(tr, []string{"i" + s}, idsOf(tr.interrupts(q)), "%q %+v", s, q)
		}
		assert.Empty(tr, tr.interrupts(runtime.InterruptQuery{States: []runtime.InterruptState{runtime.InterruptState(s)}}), "%q", s)
	}
	assert.Len(tr, tr.interrupts(runtime.InterruptQuery{Limit: 1000}), len(odd))
}

func inboxLimits(tr *trial) {
	many := make([]*runtime.Interrupt, runtime.DefaultLimit+5)
	for n := range many {
		many[n] = &runtime.Interrupt{Node: "n"}
	}
	tr.commit(tr.holds("a", many...))
	for _, q := range []runtime.InterruptQuery{{}, {Thread: "a"}, {Nodes: []string{"n"}}, {States: []runtime.InterruptState{"open", "queued"}}} {
		assert.Len(tr, tr.interrupts(q), runtime.DefaultLimit)
		q.Limit = 3
		assert.Len(tr, tr.interrupts(q), 3)
		q.Limit = 1000
		assert.Len(tr, tr.interrupts(q), len(many))
	}
}

// inboxForgets follows one interrupt through its life: what is closed is never open again, and is never deleted.
func inboxForgets(tr *trial) {
	tr.commit(tr.asks("a", "q1", "q2"), tr.asks("b", "q3"))
	q1 := tr.records["a"].Open[0].ID
	tr.commit(tr.answers("a", "q1", `false`))
	for range 3 {
		assert.NotContains(tr, idsOf(tr.interrupts(runtime.InterruptQuery{})), q1)
		found := tr.interrupts(runtime.InterruptQuery{ID: q1})
		if assert.Len(tr, found, 1) {
			assert.Equal(tr, runtime.InterruptAnswered, found[0].State)
			assert.Equal(tr, `false`, string(found[0].Answer))
			assert.Equal(tr, "bob", found[0].AnsweredBy)
		}
		tr.commit(tr.says("a", "on"))
	}
	c := tr.next("a")
	c.Return("f1", raw(`1`))
	tr.commit(c)
	c = tr.next("a")
	c.Over(runtime.StatusDone, raw(`1`), nil, "")
	tr.commit(c)
	assert.Len(tr, tr.interrupts(runtime.InterruptQuery{Thread: "a"}), 2)
	assert.Len(tr, tr.interrupts(runtime.InterruptQuery{}), 1)
	assert.Len(tr, tr.log(runtime.LogQuery{Thread: "a"}), int(tr.records["a"].Seq))
}
