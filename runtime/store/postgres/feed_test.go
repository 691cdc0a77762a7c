//go:build unix

package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/thread"
)

// follower reads the messages of a thread, or of all of a tenant, in an engine on a store of its
// own: what another process has. Each message is the time at which it was sent.
type follower struct {
	mu   sync.Mutex
	text []string
	took []time.Duration
}

func follow(t *testing.T, s *Store, id string) *follower {
	t.Helper()
	// a follower that polled by itself would come too late for these tests
	e, err := thread.Open(t.Context(), s, thread.Config{Clock: s, Poll: time.Hour})
	require.NoError(t, err)
	tenant, id := thread.SplitID(id)
	view, err := e.Tenant(tenant)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	f, ended := new(follower), make(chan struct{})
	go func() {
		defer close(ended)
		for row, err := range view.Subscribe(ctx, thread.Filter{Thread: id}, 0) {
			if assert.NoError(t, err); row.Text == "" {
				continue
			}
			sent, _ := strconv.ParseInt(row.Text, 10, 64)
			f.mu.Lock()
			f.text = append(f.text, row.Text)
			f.took = append(f.took, time.Since(time.Unix(0, sent)))
			f.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		assert.NoError(t, e.Close(context.Background()))
	})
	require.Eventually(t, func() bool { return listeners(t, s) > 0 }, 10*time.Second,
		10*time.Millisecond)
	return f
}

// listeners counts the connections that wait for notifications, of the role of a store.
func listeners(t *testing.T, s *Store) (n int) {
	t.Helper()
	assert.NoError(t, s.pool.QueryRow(context.Background(), `SELECT count(*) FROM pg_stat_activity
		WHERE query LIKE 'LISTEN%' AND usename = current_user`).Scan(&n))
	return n
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.text)
}

// times waits for n messages and returns how long they took, the quickest first. Each must have
// come once, in the order in which they were sent.
func (f *follower) times(t *testing.T, n int) []time.Duration {
	t.Helper()
	require.Eventually(t, func() bool { return f.count() >= n }, 20*time.Second,
		5*time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Len(t, f.text, n)
	assert.True(t, slices.IsSorted(f.text))
	assert.Len(t, slices.Compact(slices.Clone(f.text)), n)
	return slices.Sorted(slices.Values(f.took))
}

// send commits messages, with a pause after each.
func send(t *testing.T, s *Store, had *thread.Thread, messages int, pause time.Duration) {
	t.Helper()
	for range messages {
		c := thread.NewChange(had, rules, time.Now())
		c.Add(thread.Entry{Type: thread.EntryMessage,
			Text: strconv.FormatInt(time.Now().UnixNano(), 10)})
		require.NoError(t, s.Commit(t.Context(), c))
		had = c.Thread
		<-time.After(pause)
	}
}

// TestFollowersHearOfCommitsOfOtherStores follows one thread and all of its tenant, for 200 commits
// of another store. The median that is promised is 100 ms; what is allowed here is for machines
// that have other work. Half a second is what looking every second would take.
func TestFollowersHearOfCommitsOfOtherStores(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	writer := opened(t, d)
	had := begin(t, writer, "acme/followed")
	one, all := follow(t, opened(t, d), had.ID), follow(t, opened(t, d), "acme/")
	send(t, writer, had, 200, 5*time.Millisecond)
	for name, f := range map[string]*follower{"one thread": one, "all threads": all} {
		took := f.times(t, 200)
		t.Logf("%s: median %s, 95 %% %s, most %s", name, took[100], took[190], took[199])
		assert.Less(t, took[100], 250*time.Millisecond)
	}
}

// TestFollowersDoWithoutNotifications ends the connection for notifications again and again. Every
// message comes once all the same, within the second after which the log is looked at.
func TestFollowersDoWithoutNotifications(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	writer, reader := opened(t, d), opened(t, d)
	had := begin(t, writer, "followed")
	f := follow(t, reader, had.ID)
	ended, cuts := make(chan struct{}), 0
	var cutting sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(ended)
		cutting.Wait()
	})
	t.Cleanup(end)
	cutting.Go(func() {
		for {
			var n int
			assert.NoError(t, writer.pool.QueryRow(context.Background(), `SELECT
				count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE query LIKE 'LISTEN%' AND usename = current_user`).Scan(&n))
			cuts += n
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	send(t, writer, had, 60, 50*time.Millisecond)
	took := f.times(t, 60)
	end()
	t.Logf("cut %d times: median %s, most %s", cuts, took[30], took[59])
	assert.Greater(t, cuts, 1, "it connects again")
	assert.Less(t, took[59], 4*time.Second)

	// and with notifications again
	require.Eventually(t, func() bool { return listeners(t, writer) > 0 }, 10*time.Second,
		10*time.Millisecond)
}

// TestWithoutNotificationsAndLooksNothingIsHeard is the control of the tests above: with either of
// the two a message comes, and with neither it does not.
func TestWithoutNotificationsAndLooksNothingIsHeard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bell, poll, comes bool }{
		{true, false, true}, {false, true, true}, {false, false, false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			d := migrated(t)
			writer, reader := opened(t, d), opened(t, d)
			writer.bell.stopped = !c.bell
			if !c.poll {
				reader.feedPoll = time.Hour
			}
			had := begin(t, writer, "followed")
			f := follow(t, reader, had.ID)
			<-time.After(300 * time.Millisecond) // the first look, and that after connecting
			send(t, writer, had, 1, 0)
			if c.comes {
				f.times(t, 1)
				return
			}
			assert.Never(t, func() bool { return f.count() > 0 }, 3*time.Second,
				100*time.Millisecond)
		})
	}
}

// TestNotificationsAreGrouped commits to many threads, some with ids that no notification can hold.
// The followers of all of them hear it.
func TestNotificationsAreGrouped(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	writer, reader := opened(t, d), opened(t, d)
	reader.feedPoll = time.Hour
	heard := make(chan string, 10_000)
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { reader.Listen(ctx, func(id string) { heard <- id }) })
	t.Cleanup(listening.Wait)
	t.Cleanup(stop)
	for range 2 { // the first look, and the connection
		require.Empty(t, <-heard)
	}
	ids := map[string]bool{}
	for n := range 900 {
		ids[fmt.Sprintf(`t-%d-"\<%s`, n, strings.Repeat("x", n%50))] = true
	}
	require.NoError(t, writer.notify(ids))
	for len(ids) > 0 {
		id := <-heard
		require.True(t, ids[id], id)
		delete(ids, id)
	}
	require.NoError(t, writer.notify(map[string]bool{strings.Repeat("x", 8000): true, "y": true}))
	require.Empty(t, <-heard, "it may be any")
	require.NoError(t, writer.Commit(t.Context(), say(nil, "a", ""), say(nil, "b", "")))
	assert.ElementsMatch(t, []string{"a", "b"}, []string{<-heard, <-heard})
	require.NoError(t, reader.Commit(t.Context(), say(nil, "own", "")))
	select {
	case id := <-heard:
		assert.Fail(t, "it hears what it has sent itself", id)
	case <-time.After(200 * time.Millisecond):
	}
}

const feedChild = "ROUTEGEN_FEED_CHILD"

// TestFeedChild is no test: it is the main function of a process that commits.
func TestFeedChild(t *testing.T) { //nolint:paralleltest // it is alone in its process
	url, schema, told := strings.Cut(os.Getenv(feedChild), "\n")
	if !told {
		t.Skip("TestFollowersHearOfAnotherProcess runs this in a process of its own")
	}
	s := opened(t, &postgrestest.Database{URL: url, Schema: schema})
	had, err := s.Load(t.Context(), "followed")
	require.NoError(t, err)
	send(t, s, had, 50, 5*time.Millisecond)
	require.NoError(t, s.Close())
}

func TestFollowersHearOfAnotherProcess(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	reader := opened(t, d)
	begin(t, reader, "followed")
	f := follow(t, reader, "followed")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFeedChild$")
	child.Env = append(os.Environ(), feedChild+"="+d.URL+"\n"+d.Schema)
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	took := f.times(t, 50)
	t.Logf("median %s, most %s", took[25], took[49])
	assert.Less(t, took[25], 250*time.Millisecond)
}
