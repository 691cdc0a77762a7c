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

	"github.com/routegen/routegen/cmd/routegen-threads/internal/tui"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web/client"
)

// tokenVariable holds the token when no file is named. There is no flag for it: a list of processes
// would show it.
const tokenVariable = "ROUTEGEN_TOKEN" //nolint:gosec // the name of a variable is no secret

func (p *program) watchCommand() *cobra.Command {
	var tokenFile, by, color string
	cmd := &cobra.Command{
		Use:   "watch URL",
		Short: "Watch a thread, pause it, and answer its questions",
		Long: "watch follows one thread, live: its plan, what happens, and what it waits for.\n" +
			"Esc asks for a pause; when it has come, the plan is shown and can be changed, or\n" +
			"goes on unchanged. Questions are answered in place. With the operator's token, s\n" +
			"sends running work to another node, where the program takes reroute events. A\n" +
			"connection that drops is opened again, and no row is lost or shown twice.\n\n" +
			"Where standard output or input is not a terminal, watch prints one line for each\n" +
			"row (number, time, type and text, with tabs between) until the thread is over.\n" +
			"The text is for people and may change; number, time and type are for programs.\n\n" +
			"The token is the operator's, or one for this thread. It stands in a file that\n" +
			"only its owner can read, or in " + tokenVariable + ". Leaving answers nothing. The\n" +
			"exit code says whether the thread could be watched, not how it ended.",
		Example: "  routegen-threads watch http://127.0.0.1:8080/v1/threads/order-7 --token-file " +
			"token --by ann\n" +
			"  routegen-threads watch http://127.0.0.1:8080/v1/threads/order-7 > order-7.log",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base, thread, err := parseThread(args[0])
			if err != nil {
				return err
			}
			token, err := p.readToken(tokenFile)
			if err != nil {
				return err
			}
			colored, err := p.colored(color)
			if err != nil {
				return err
			}
			return explainRefusal(p.watch(cmd.Context(), tui.Config{
				Client: client.Client{Base: base.String(), Token: token}, Thread: thread, By: by,
				Color: colored,
			}))
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringVar(&tokenFile, "token-file", "",
		"read the token from this `file` (default: the variable "+tokenVariable+")")
	cmd.Flags().StringVar(&by, "by", "",
		"pause and answer in the name of this `person` (default: that of the token)")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never; NO_COLOR turns auto off")
	return cmd
}

// parseThread splits the address of a thread into the server's address and the thread's id.
func parseThread(text string) (base *url.URL, thread string, err error) {
	const form = "the address of a thread is like http://127.0.0.1:8080/v1/threads/ID"
	u, err := url.Parse(text)
	if err != nil {
		// the text may hold a secret, so it is not repeated
		return nil, "", errors.New(form)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", fmt.Errorf(
			"%s: no user, query or fragment belongs to it; a token goes into a file or into %s",
			form, tokenVariable)
	}
	before, thread, ok := strings.Cut(u.Path, "/v1/threads/")
	if !ok || thread == "" || strings.Contains(thread, "/") || u.Host == "" || u.Scheme != "http" &&
		u.Scheme != "https" {
		return nil, "", fmt.Errorf("%q: %s", text, form)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: before}, thread, nil
}

// readToken reads the token from a file, or from the environment if file is empty. It returns an
// error if other users may read the file.
func (p *program) readToken(file string) (string, error) {
	token := strings.TrimSpace(p.getenv(tokenVariable))
	if file != "" {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		if info.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("%s: others may read it (%s): chmod 600, and make a new token",
				file, info.Mode().Perm())
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
		return "", errors.New("invalid token: it has spaces or characters outside of ASCII")
	}
	return token, nil
}

// watch shows a thread on a terminal, or prints its rows where there is no terminal.
func (p *program) watch(ctx context.Context, cfg tui.Config) error {
	if inTheClear(cfg.Client.Base) {
		p.notef("warning: the token goes over the network in the clear: use https")
	}
	in, inOK := p.stdin.(*os.File)
	out, outOK := p.stdout.(*os.File)
	if !inOK || !outOK || !tui.IsTerminal(in) || !tui.IsTerminal(out) ||
		p.getenv("TERM") == "dumb" {
		return tui.Lines(ctx, cfg.Client, cfg.Thread, func(line string) error {
			_, err := fmt.Fprintln(p.stdout, line)
			return err
		}, func(why string) {
			p.notef("no connection (%s): it is tried again", why)
		})
	}
	cfg.In, cfg.Out, cfg.Environ = in, out, os.Environ()
	paused, err := tui.Watch(ctx, cfg)
	if paused {
		p.notef("thread %s is paused, or about to be, until its question is answered", cfg.Thread)
	}
	return err
}

// inTheClear reports whether requests to base can be read on the way: they are not encrypted and
// leave this machine.
func inTheClear(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme == "https" || u.Hostname() == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err != nil || !addr.IsLoopback()
}

// explainRefusal returns err, or for a thread that is not found an error that says what may be
// wrong.
func explainRefusal(err error) error {
	if runtime.CodeOf(err) == runtime.CodeNotFound {
		return errors.New("the server has no such thread, or the token is not for it")
	}
	return err
}
