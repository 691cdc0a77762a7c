package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/cmd/routegen/internal/tui"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// tokenVariable is where the token is read from when no file is named. A flag would show it to everybody who lists processes.
const tokenVariable = "ROUTEGEN_TOKEN" //nolint:gosec // the name of a variable is no secret

func (p *program) watchThreadCommand() *cobra.Command {
	var tokenFile, by string
	cmd := &cobra.Command{
		Use:   "watch-thread URL",
		Short: "Watch a thread of a running server, pause it, and answer its questions",
		Long: "watch-thread follows one thread, live: its plan, what happens, and what it waits for. Esc asks for a pause; when it has come,\n" +
			"the plan is shown and can be changed, or goes on unchanged. Questions are answered in place. A connection that drops is opened\n" +
			"again by itself, and no row is lost or shown twice.\n\n" +
			"Where standard output or input is no terminal, one line is printed for each row (number, time, type and text, with tabs between),\n" +
			"until the thread is over. The text is for people, and may change; number, time and type are for programs.\n\n" +
			"The token is the operator's, or one for this thread. It stands in a file that only its owner can read, or in " + tokenVariable + ".\n" +
			"Leaving answers nothing. The exit code says whether the thread could be watched, not how it ended.",
		Example: "  routegen watch-thread http://127.0.0.1:8080/v1/threads/order-7 --token-file token --by ann\n" +
			"  routegen watch-thread http://127.0.0.1:8080/v1/threads/order-7 > order-7.log",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base, thread, err := parseThread(args[0])
			if err != nil {
				return failf("%w", err)
			}
			token, err := p.readToken(tokenFile)
			if err != nil {
				return failf("%w", err)
			}
			return p.watchThread(cmd.Context(), web.Client{Base: base.String(), Token: token}, thread, by)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "read the token from this `file` (default: the variable "+tokenVariable+")")
	cmd.Flags().StringVar(&by, "by", "", "pause and answer in the name of this `person` (default: whom the token stands for)")
	return cmd
}

// parseThread takes the address of a thread apart.
func parseThread(text string) (base *url.URL, thread string, err error) {
	const form = "the address of a thread is like http://127.0.0.1:8080/v1/threads/ID"
	u, err := url.Parse(text)
	if err != nil {
		return nil, "", errors.New(form) // what cannot be parsed may hold anything: it is not repeated
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", fmt.Errorf("%s: no user, query or fragment belongs to it; a token goes into a file or into %s", form, tokenVariable)
	}
	before, thread, ok := strings.Cut(u.Path, "/v1/threads/")
	if !ok || thread == "" || strings.Contains(thread, "/") || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, "", fmt.Errorf("%q: %s", text, form)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: before}, thread, nil
}

// readToken reads the token from a file that others cannot read, or from the environment.
func (p *program) readToken(file string) (string, error) {
	token := strings.TrimSpace(p.getenv(tokenVariable))
	if file != "" {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		if info.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("%s: others may read it (%s): chmod 600, and make a new token", file, info.Mode().Perm())
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		token = strings.TrimSpace(string(data))
	}
	switch {
	case token == "" && file != "":
		return "", fmt.Errorf("%s: there is no token in it", file)
	case token == "":
		return "", fmt.Errorf("no token: name a file with --token-file, or set %s", tokenVariable)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("that is no token: it has spaces, or signs that none has")
	}
	return token, nil
}

// watchThread shows a thread on a terminal, or prints its rows.
func (p *program) watchThread(ctx context.Context, client web.Client, thread, by string) error {
	if inTheClear(client.Base) {
		p.notef("warning: the token goes over the network in the clear: use https")
	}
	in, inOK := p.stdin.(*os.File)
	out, outOK := p.stdout.(*os.File)
	screen := inOK && outOK && tui.IsTerminal(in) && tui.IsTerminal(out) && p.getenv("TERM") != "dumb"
	if !screen {
		return couldWatch(tui.Lines(ctx, client, thread, func(line string) error { return p.printText(line + "\n") }, func(why string) {
			p.notef("no connection (%s): it is tried again", why)
		}))
	}
	paused, err := tui.Watch(ctx, tui.Config{
		Client: client, Thread: thread, By: by, In: in, Out: out, Environ: os.Environ(), Color: p.coloured(),
	})
	if paused {
		p.notef("thread %s is paused, or about to be, until its question is answered", thread)
	}
	return couldWatch(err)
}

// inTheClear reports whether what is sent there can be read on the way.
func inTheClear(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme == "https" || u.Hostname() == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err != nil || !addr.IsLoopback()
}

// couldWatch says why a thread could not be watched.
func couldWatch(err error) error {
	switch {
	case err == nil:
		return nil
	case runtime.CodeOf(err) == runtime.CodeNotFound:
		return failf("the server has no such thread, or the token is not for it")
	default:
		return failf("%w", err)
	}
}
