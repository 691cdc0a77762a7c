package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// serve runs the program on a folder until stop, and returns what it printed.
func serve(t *testing.T, folder string) (stop func() string, client *web.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	pages, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-open=false", "-pace=0s", "-folder", folder}, &out, func(page string) { pages <- page })
	}()
	page := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+)/#token=([\w-]+)&by=you$`).FindStringSubmatch(<-pages)
	require.NotNil(t, page)
	return func() string {
		cancel()
		require.NoError(t, <-ended)
		return out.String()
	}, &web.Client{Base: page[1], Token: page[2]}
}

// settled returns when each thread that the program starts has come to the question where it waits. Its start does not wait for that: not for what
// comes after the answers it gives itself, nor for the step of the kitchen, which is tried three times before it asks.
func settled(t *testing.T, client *web.Client) {
	t.Helper()
	for base, questions := range map[string]int{"": 9, "/inspection": 2} { // the answered ones among them
		at := &web.Client{Base: client.Base + base, Token: client.Token}
		for row, err := range at.Stream(t.Context(), "", "") {
			require.NoError(t, err)
			if row.Type == runtime.EntryAsked {
				questions--
			}
			if questions == 0 {
				break
			}
		}
	}
}

// The program needs no browser: it starts its threads once, says where it is, and goes on from its folder when it is started again.
func TestStartedTwice(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	asked := func(c *web.Client, base string) map[string]string {
		c = &web.Client{Base: c.Base + base, Token: c.Token}
		open, _, err := c.Inbox(t.Context(), nil)
		require.NoError(t, err)
		out := map[string]string{}
		for _, i := range open {
			out[i.Thread] = i.ID + " " + i.Kind
		}
		return out
	}
	stop, client := serve(t, folder)
	settled(t, client)
	work, inspection := asked(client, ""), asked(client, "/inspection")
	assert.Len(t, work, 6)
	assert.Contains(t, work["kitchen"], runtime.KindSystemError)
	assert.Len(t, inspection, 2)
	out := stop()
	assert.Contains(t, out, client.Base+"/#token="+client.Token+"&by=you\n\nOpen it in a browser")
	assert.Contains(t, out, "watch-thread "+client.Base+"/v1/threads/offsite --token-file "+filepath.Join(folder, "token")+" --by you\n")
	for _, name := range []string{"work.db", "inspection.db", "token"} {
		assert.FileExists(t, filepath.Join(folder, name))
	}

	stop, again := serve(t, folder)
	assert.Equal(t, client.Token, again.Token)
	assert.Equal(t, work, asked(again, ""), "the same questions, none of them twice")
	assert.Equal(t, inspection, asked(again, "/inspection"))
	stop()
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.Error(t, run(t.Context(), []string{"-pace", "soon"}, &out, nil))
	assert.Contains(t, out.String(), "-open", "it says what it takes")
	require.ErrorContains(t, run(t.Context(), []string{"-open=false", "-addr", "127.0.0.1:none"}, &out, nil), "port")
}
