package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// contents is what a file holds, as text.
func contents(t *testing.T, s *Store) string {
	t.Helper()
	var all struct {
		Threads    []*thread.Thread    `json:"threads"`
		Interrupts []*thread.Interrupt `json:"interrupts"`
		Log        []thread.Entry      `json:"log"`
		Cursors    []string            `json:"cursors"`
	}
	rows, err := s.Threads(t.Context(), thread.Query{})
	require.NoError(t, err)
	for _, r := range rows {
		had, err := s.Load(t.Context(), r.ID)
		require.NoError(t, err)
		all.Threads = append(all.Threads, had)
		interrupts, err := s.Interrupts(t.Context(), thread.InterruptQuery{Thread: r.ID})
		require.NoError(t, err)
		all.Interrupts = append(all.Interrupts, interrupts...)
	}
	all.Log, err = s.Log(t.Context(), thread.LogQuery{})
	require.NoError(t, err)
	for _, e := range all.Log {
		all.Cursors = append(all.Cursors, fmt.Sprint(e.Thread, " ", e.Cursor))
	}
	data, err := json.MarshalIndent(all, "", "  ")
	require.NoError(t, err)
	// a byte that was no UTF-8 is the same as the character that takes its place
	return strings.ReplaceAll(string(data), `\ufffd`, "\uFFFD") + "\n"
}

// setAll sets every field below v that is stored to a value that is not zero.
func setAll(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		at := time.UnixMilli(1_700_000_000_000 + int64(*n)).Add(time.Duration(*n%3) * 123_457)
		v.Set(reflect.ValueOf(at.UTC()))
		return
	case json.RawMessage:
		v.SetBytes(fmt.Appendf(nil, `{"n":%d,"big":90071992547409931,"t":"<é\u2028>"}`, *n))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for k := range v.NumField() {
			if v.Type().Field(k).Tag.Get("json") != "-" {
				setAll(v.Field(k), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		setAll(v.Index(0), n)
		setAll(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{"first": *n, "second": -*n}))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString([]string{
			fmt.Sprint("text <é> & \\ufffd ", *n), "waiting",
			fmt.Sprintf("%032x", *n), "\x00\u2028\ufffd",
		}[*n%4])
	default:
		v.SetInt(int64(*n))
	}
}

// filled is a change whose thread, interrupts and entries have every field.
func filled(id string) *thread.Change {
	c := &thread.Change{Thread: new(thread.Thread), Entries: make([]thread.Entry, 3)}
	n := 0
	setAll(reflect.ValueOf(c.Thread).Elem(), &n)
	c.Thread.ID, c.Thread.Version, c.Thread.Seq = id, 1, int64(len(c.Entries))
	c.Thread.Lease.Fence = 1
	for at := range c.Entries {
		setAll(reflect.ValueOf(&c.Entries[at]).Elem(), &n)
		c.Entries[at].Seq, c.Entries[at].Request = int64(at+1), fmt.Sprint("r", at)
	}
	for at, state := range record.States {
		i := new(thread.Interrupt)
		setAll(reflect.ValueOf(i).Elem(), &n)
		i.ID, i.Thread, i.State = fmt.Sprint("i-", id, at), id, state
		c.Interrupts = append(c.Interrupts, i)
	}
	c.Thread.Open = c.Interrupts[:2]
	return c
}

// paused is a pause that supersedes what the thread asks.
func paused(t *thread.Thread) *thread.Change {
	c := thread.NewChange(t, &thread.Rules{Kinds: thread.DefaultKinds(), NewID: func() string {
		return "p-" + t.ID
	}}, noon)
	_, _ = c.Escape(thread.EscapeNow, "ann", "look")
	c.Pause()
	return c
}

// writeFixture writes what a file of this version looks like.
func writeFixture(t *testing.T, name string) {
	t.Helper()
	path := file(t)
	s, err := Open(t.Context(), path, Config{})
	require.NoError(t, err)
	commit := func(c *thread.Change) {
		require.NoError(t, s.Commit(context.Background(), c))
	}
	c := waiting("thread-1", []byte(`{"to":"ann"}`))
	commit(c)
	commit(answered(c.Thread))
	commit(waiting("thread-2", nil))
	c = waiting("thread-3", nil)
	commit(c)
	commit(paused(c.Thread))
	commit(filled("every-field"))
	commit(thread.Start("idle", "ann", "", &thread.Rules{}, noon))
	commit(&thread.Change{Thread: &thread.Thread{ID: "no-entries", Version: 1}})
	for _, status := range record.Statuses[3:] {
		c := waiting(string(status), nil)
		c.Over(status, []byte(`"r"`), &thread.Failure{Code: "internal", Text: "why"}, "ann")
		commit(c)
	}
	running := thread.Start("running", "ann", fingerprint, &thread.Rules{}, noon)
	running.Enter(thread.Frame{Machine: "workflow", Name: "mail"}, "ann", "")
	running.TakeLease("engine-1", noon.Add(time.Minute))
	commit(running)
	require.NoError(t, os.WriteFile(name+".json", []byte(contents(t, s)), 0o644))
	require.NoError(t, s.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name+".db", data, 0o644))
}

// TestEveryVersionOpens opens a copy of each file in testdata and finds in it what the program that
// wrote it read. ROUTEGEN_FIXTURE=1 writes that of the latest version again.
func TestEveryVersionOpens(t *testing.T) {
	t.Parallel()
	if os.Getenv("ROUTEGEN_FIXTURE") != "" {
		writeFixture(t, fmt.Sprintf("testdata/v%d", len(migrations)))
	}
	files, err := filepath.Glob("testdata/*.db")
	require.NoError(t, err)
	for version := range migrations {
		assert.Contains(t, files, filepath.Join("testdata", fmt.Sprintf("v%d.db", version+1)),
			"every released version needs its file")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		want, err := os.ReadFile(strings.TrimSuffix(name, "db") + "json")
		require.NoError(t, err)
		path := file(t)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		s := opened(t, path)
		assert.Equal(t, string(want), contents(t, s), name)
		second, err := s.Load(t.Context(), "thread-2")
		require.NoError(t, err)
		require.NoError(t, s.Commit(t.Context(), answered(second)))
	}
}
