package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/client"
)

// serve runs the program on a folder until stop, and returns what it printed.
func serve(t *testing.T, folder string) (stop func() string, caller *client.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	pages, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- runDemo(ctx, []string{"-open=false", "-pace=0s", "-folder", folder}, &out,
			func(page string) { pages <- page })
	}()
	page := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+)/#token=([\w-]+)&by=you$`).
		FindStringSubmatch(<-pages)
	require.NotNil(t, page)
	return func() string {
		cancel()
		require.NoError(t, <-ended)
		return out.String()
	}, &client.Client{Base: page[1], Token: page[2]}
}

// settled returns when each thread that the program starts has come to the question where it waits.
// Its start does not wait for that: not for what comes after the answers it gives itself, nor for
// the step of the kitchen, which is tried three times before it asks.
func settled(t *testing.T, caller *client.Client) {
	t.Helper()
	// the answered ones among them
	for base, questions := range map[string]int{"": 9, "/inspection": 2} {
		at := &client.Client{Base: caller.Base + base, Token: caller.Token}
		for row, err := range at.Stream(t.Context(), "", "") {
			require.NoError(t, err)
			if row.Type == thread.EntryAsked {
				questions--
			}
			if questions == 0 {
				break
			}
		}
	}
}

// The program needs no browser: it starts its threads once, says where it is, and goes on from its
// folder when it is started again.
func TestStartedTwice(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	asked := func(c *client.Client, base string) map[string]string {
		c = &client.Client{Base: c.Base + base, Token: c.Token}
		open, _, err := c.Inbox(t.Context(), nil)
		require.NoError(t, err)
		out := map[string]string{}
		for _, i := range open {
			out[i.Thread] = i.ID + " " + i.Kind
		}
		return out
	}
	stop, caller := serve(t, folder)
	settled(t, caller)
	work, inspection := asked(caller, ""), asked(caller, "/inspection")
	assert.Len(t, work, 6)
	assert.Contains(t, work["kitchen"], thread.KindSystemError)
	assert.Len(t, inspection, 2)
	out := stop()
	assert.Contains(t, out, caller.Base+"/#token="+caller.Token+"&by=you\n\nOpen it in a browser")
	assert.Contains(t, out, "routegen-threads watch "+caller.Base+
		"/v1/threads/offsite --token-file "+
		filepath.Join(folder, "token")+" --by you\n")
	for _, name := range []string{"work.db", "inspection.db", "token"} {
		assert.FileExists(t, filepath.Join(folder, name))
	}

	stop, again := serve(t, folder)
	assert.Equal(t, caller.Token, again.Token)
	assert.Equal(t, work, asked(again, ""), "the same questions, none of them twice")
	assert.Equal(t, inspection, asked(again, "/inspection"))
	stop()
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.Error(t, runDemo(t.Context(), []string{"-pace", "soon"}, &out, nil))
	assert.Contains(t, out.String(), "-open", "it says what it takes")
	require.ErrorContains(t, runDemo(t.Context(),
		[]string{"-open=false", "-addr", "127.0.0.1:none"},
		&out, nil), "port")
}
