package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// said is what a store says of threads by the queries that read the tail, and leave it.
type said struct {
	Threads    map[string]*runtime.Thread
	Interrupts map[string][]*runtime.Interrupt
	Logs       map[string][]runtime.Entry
	All        []runtime.Entry
}

func says(t *testing.T, s *Store, ids ...string) said {
	t.Helper()
	out := said{map[string]*runtime.Thread{}, map[string][]*runtime.Interrupt{}, map[string][]runtime.Entry{}, nil}
	var err error
	for _, id := range ids {
		out.Threads[id], err = s.Load(t.Context(), id)
		require.NoError(t, err)
		out.Interrupts[id], err = s.Interrupts(t.Context(), runtime.InterruptQuery{Thread: id})
		require.NoError(t, err)
		out.Interrupts["i-"+id], err = s.Interrupts(t.Context(), runtime.InterruptQuery{ID: "i-" + id})
		require.NoError(t, err)
		out.Logs[id], err = s.Log(t.Context(), runtime.LogQuery{Thread: id})
		require.NoError(t, err)
		for _, request := range []string{"r-", "a-"} {
			out.Logs[request+id], err = s.Log(t.Context(), runtime.LogQuery{Thread: id, Request: request + id})
			require.NoError(t, err)
		}
	}
	out.All, err = s.Log(t.Context(), runtime.LogQuery{Limit: 1000})
	require.NoError(t, err)
	return out
}

// behind is how many commits the tables do not have.
func behind(t *testing.T, s *Store) int64 {
	t.Helper()
	v, err := s.writer.one(t.Context(), tailLength)
	require.NoError(t, err)
	return integer(v)
}

// mixed commits threads that are old, changed since, and new: some in the tables, some in the tail, some in both.
func mixed(t *testing.T, s *Store) []string {
	t.Helper()
	var ids []string
	old := map[string]*runtime.Thread{}
	for n := range 6 {
		id := fmt.Sprint("old-", n)
		c := waiting(id, []byte(`{"a": 1}`))
		require.NoError(t, s.Commit(t.Context(), c))
		ids, old[id] = append(ids, id), c.Thread
	}
	require.NoError(t, s.folded(t.Context(), "test"))
	for _, id := range ids[:3] {
		require.NoError(t, s.Commit(t.Context(), answered(old[id])))
	}
	for n := range 6 {
		id := fmt.Sprint("new-", n)
		c := waiting(id, nil)
		require.NoError(t, s.Commit(t.Context(), c))
		if ids = append(ids, id); n%2 == 0 {
			require.NoError(t, s.Commit(t.Context(), answered(c.Thread)))
		}
	}
	require.EqualValues(t, 12, behind(t, s))
	return ids
}

func TestTheTailSaysWhatTheTablesWillSay(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	ids := mixed(t, s)
	before := says(t, s, ids...)
	assert.Len(t, before.All, 3*12+6*len(answered(before.Threads["old-5"]).Entries))
	require.EqualValues(t, 12, behind(t, s), "these queries move nothing")

	fresh := opened(t, path) // has read the file, and remembers nothing
	assert.Equal(t, before, says(t, fresh, ids...))
	require.NoError(t, s.folded(t.Context(), "test"))
	assert.Zero(t, behind(t, s))
	assert.Equal(t, before, says(t, s, ids...))
	assert.Equal(t, before, says(t, fresh, ids...))
}

func TestAKillLeavesTheTailToTheNextProcess(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	ids := mixed(t, s)
	want := says(t, s, ids...)
	left := file(t)
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(left+end, data, 0o600))
	}
	next := opened(t, left)
	assert.Equal(t, want, says(t, next, ids...))
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(next.Commit(t.Context(), waiting("new-1", nil))))
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(next.Commit(t.Context(), answered(waiting("old-1", nil).Thread))))
	require.NoError(t, next.Commit(t.Context(), answered(want.Threads["new-1"])))
	require.NoError(t, next.Commit(t.Context(), answered(want.Threads["old-4"])))
	rows, err := next.Threads(t.Context(), runtime.ThreadQuery{})
	require.NoError(t, err)
	assert.Len(t, rows, len(ids))
	assert.Zero(t, behind(t, next))
}

func TestManyCommitsFoldByThemselves(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	var last *runtime.Change
	for n := range mostTail + 20 {
		last = waiting(fmt.Sprint("t", n), nil)
		require.NoError(t, s.Commit(t.Context(), last))
	}
	assert.Less(t, behind(t, s), int64(30))
	got, err := s.Load(t.Context(), "t3")
	require.NoError(t, err)
	assert.Len(t, got.Open, 1)
	require.NoError(t, s.Commit(t.Context(), answered(last.Thread)))

	large := waiting("large", bytes.Repeat([]byte("7"), mostTailBytes))
	require.NoError(t, s.Commit(t.Context(), large))
	require.NoError(t, s.Commit(t.Context(), waiting("after", nil)))
	assert.LessOrEqual(t, behind(t, s), int64(1), "large ones sooner")
}

// TestAStoreSeesThatAnotherFolded has two stores that take turns to move the tail away under the other.
func TestAStoreSeesThatAnotherFolded(t *testing.T) {
	t.Parallel()
	path := file(t)
	stores := []*Store{opened(t, path), opened(t, path)}
	var cursor int64
	for n := range 20 {
		id := fmt.Sprint("t", n)
		mine, other := stores[n%2], stores[1-n%2]
		c := waiting(id, nil)
		require.NoError(t, mine.Commit(t.Context(), c))
		if n%3 == 0 {
			require.NoError(t, other.folded(t.Context(), "test"))
		}
		require.NoError(t, other.Commit(t.Context(), answered(c.Thread)))
		if n%4 == 0 {
			require.NoError(t, other.folded(t.Context(), "test"))
		}
		require.Equal(t, runtime.CodeConflict, runtime.CodeOf(mine.Commit(t.Context(), answered(c.Thread))))
		for _, s := range stores {
			got, err := s.Load(t.Context(), id)
			require.NoError(t, err)
			require.EqualValues(t, 2, got.Version)
			require.Empty(t, got.Open)
			news, err := s.Log(t.Context(), runtime.LogQuery{After: cursor})
			require.NoError(t, err)
			require.Len(t, news, len(c.Entries)+len(answered(c.Thread).Entries))
		}
		news, err := mine.Log(t.Context(), runtime.LogQuery{After: cursor})
		require.NoError(t, err)
		cursor = news[len(news)-1].Cursor
	}
}

const childSign = "ROUTEGEN_SQLITE_CHILD"

// TestAnotherProcessIsSeen has a child of this process answer, with the first of two questions still at hand here.
func TestAnotherProcessIsSeen(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	for _, id := range []string{"one", "two"} {
		require.NoError(t, s.Commit(t.Context(), waiting(id, nil)))
	}
	old, err := s.Load(t.Context(), "one")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildAnswers$")
	cmd.Env, cmd.Dir = append(os.Environ(), childSign+"=1"), filepath.Dir(path)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	got, err := s.Load(t.Context(), "one")
	require.NoError(t, err)
	assert.EqualValues(t, 2, got.Version)
	assert.Empty(t, got.Open)
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(s.Commit(t.Context(), answered(old))))
	two, err := s.Load(t.Context(), "two")
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), answered(two)))
}

// TestChildAnswers is the child of TestAnotherProcessIsSeen.
func TestChildAnswers(t *testing.T) {
	t.Parallel()
	if os.Getenv(childSign) == "" {
		t.Skip("it runs as a child only")
	}
	s := opened(t, "threads.db")
	one, err := s.Load(t.Context(), "one")
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), answered(one)))
}

func TestADamagedRowOfTheTailHarmsItsThreadOnly(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := file(t)
	var said bytes.Buffer
	s := opened(t, path)
	require.NoError(t, s.Commit(ctx, waiting("good", nil)))
	bad := waiting("bad", nil)
	require.NoError(t, s.Commit(ctx, bad))
	require.NoError(t, s.Commit(ctx, answered(bad.Thread)))
	v, err := s.writer.one(ctx, "SELECT body FROM tail WHERE id = 'bad'")
	require.NoError(t, err)
	body, _ := v.([]byte)
	body[len(body)/2] ^= 4
	_, _, err = s.writer.exec(ctx, "UPDATE tail SET body = ? WHERE n = 2", body)
	require.NoError(t, err)

	next, err := Open(ctx, path, Config{Log: slog.New(slog.NewTextHandler(&said, nil))})
	require.NoError(t, err)
	defer func() { assert.NoError(t, next.Close()) }()
	for _, fold := range []bool{false, true} {
		if fold {
			require.NoError(t, next.folded(ctx, "test"))
		}
		_, err = next.Load(ctx, "bad")
		assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
		_, err = next.Log(ctx, runtime.LogQuery{Thread: "bad"})
		assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
		assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(next.Commit(ctx, waiting("bad", nil))))
		_, err = next.Load(ctx, "good")
		require.NoError(t, err)
		log, err := next.Log(ctx, runtime.LogQuery{})
		require.NoError(t, err)
		assert.Len(t, log, 3+len(answered(bad.Thread).Entries))
	}
	assert.Contains(t, said.String(), "thread=bad")
	require.NoError(t, next.Commit(ctx, waiting("later", nil)))
}

func TestAFoldThatFailsLosesNothing(t *testing.T) {
	t.Parallel()
	for _, query := range []string{clearTail, markTail, intoLog.one} {
		s := opened(t, file(t))
		ids := mixed(t, s)
		want := says(t, s, ids...)
		replace(t, s, query, func(had stmt) stmt { return &fails{stmt: had} })
		_, err := s.Threads(t.Context(), runtime.ThreadQuery{})
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), query)
		assert.Equal(t, want, says(t, s, ids...))
		require.NoError(t, s.Commit(t.Context(), waiting("more", nil)))
		rows, err := s.Threads(t.Context(), runtime.ThreadQuery{})
		require.NoError(t, err)
		assert.Len(t, rows, len(ids)+1)
	}
}

func TestAThreadIsReadWhileNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	ids := mixed(t, s)
	want := says(t, s, ids...)
	_, _, err := s.writer.exec(t.Context(), "PRAGMA query_only = ON")
	require.NoError(t, err)
	assert.Equal(t, want, says(t, s, ids...))
	_, err = s.Interrupts(t.Context(), runtime.InterruptQuery{})
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "the inbox needs the tables")
	_, _, err = s.writer.exec(t.Context(), "PRAGMA query_only = OFF")
	require.NoError(t, err)
	inbox, err := s.Interrupts(t.Context(), runtime.InterruptQuery{})
	require.NoError(t, err)
	assert.Len(t, inbox, 6)
}

// TestInterruptsOfTheTailAreSelectedAlike compares the filters of the tail with those of the tables.
func TestInterruptsOfTheTailAreSelectedAlike(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	rules := &runtime.Rules{Kinds: runtime.DefaultKinds()}
	made := 0
	rules.NewID = func() string { made++; return fmt.Sprint("i-", made) }
	c := runtime.Start("t", "ann", fingerprint, rules, noon)
	for n := range 4 {
		f := c.Enter(runtime.Frame{Machine: "workflow", Name: fmt.Sprint("node", n%2)}, "ann", "")
		q := runtime.Question{Name: "ok", Text: "May I?", Assignees: []string{"bob", "eve"}[:n%3%2]}
		c.Ask(f, []string{runtime.KindAgentQuestion, runtime.KindSystemError}[n%2], q)
	}
	require.NoError(t, s.Commit(t.Context(), c))
	queries := []runtime.InterruptQuery{
		{}, {ID: "i-2"}, {ID: "none"}, {States: []runtime.InterruptState{runtime.InterruptOpen}},
		{States: []runtime.InterruptState{runtime.InterruptQueued, runtime.InterruptAnswered}},
		{Kinds: []string{runtime.KindSystemError}}, {Nodes: []string{"node0"}}, {Assignee: "bob"}, {Assignee: "joe"},
		{Before: noon}, {Before: noon.Add(1)}, {Limit: 2},
		{After: &runtime.InterruptMark{Priority: c.Interrupts[0].Priority, Created: noon, ID: "i-1"}},
	}
	var before [][]*runtime.Interrupt
	for _, q := range queries {
		q.Thread = "t"
		found, err := s.Interrupts(t.Context(), q)
		require.NoError(t, err)
		before = append(before, found)
	}
	assert.Len(t, before[0], 4)
	require.EqualValues(t, 1, behind(t, s))
	require.NoError(t, s.folded(t.Context(), "test"))
	for n, q := range queries {
		q.Thread = "t"
		found, err := s.Interrupts(t.Context(), q)
		require.NoError(t, err)
		assert.Equal(t, before[n], found, "%+v", q)
	}
}

func TestTheWatchSeesWhatIsWritten(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	require.NoError(t, s.Commit(t.Context(), waiting("a", nil)))
	k := s.knows("a")
	if !s.now().known {
		t.Skip("there is no watch on this system: the file is asked every time")
	}
	require.NotNil(t, k.thread)
	assert.True(t, s.current(&k))
	_, err := s.Load(t.Context(), "a")
	require.NoError(t, err)
	assert.True(t, s.current(&k), "reading is no change")
	_, _, err = s.writer.exec(context.Background(), "PRAGMA wal_checkpoint")
	require.NoError(t, err)
	assert.True(t, s.current(&k), "nor is a checkpoint")
	require.NoError(t, opened(t, path).Commit(t.Context(), waiting("b", nil)))
	assert.False(t, s.current(&k))
	_, err = s.Load(t.Context(), "b")
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), waiting("c", nil)))
	k = s.knows("a")
	assert.True(t, s.current(&k))
}
