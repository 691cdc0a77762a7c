// Command demo shows the page of runtime/web/inspector with the programs of the three examples
// running behind it, on SQLite: the workflow of multiagent and plans of planexecute in one engine,
// the conversation of inspection in another. It starts a few threads, so that there is something to
// answer, prints the address of the page, and opens it. Its models follow scripts: it needs neither
// key nor network.
//
//	go run ./examples/demo
//	go run ./examples/demo -folder work # keeps the threads; start it again, and they go on
//	go run ./examples/demo -login       # with an issuer: sign in as one of two people
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"time"

	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/inspector"
	"github.com/routegen/routegen/runtime/web/oidc"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := runDemo(ctx, os.Args[1:], os.Stdout, nil)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// runDemo serves until ctx ends. ready is called with the address of the page when it can be
// opened, unless it is nil.
func runDemo(ctx context.Context, args []string, out io.Writer, ready func(page string)) (
	err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(out)
	addr := flags.String("addr", "127.0.0.1:0", "where to serve; port 0 is any free one")
	folder := flags.String("folder", "",
		"keeps the threads and the token; default: one that is removed at the end")
	pace := flags.Duration("pace", 700*time.Millisecond,
		"how long a scripted model thinks, so that there is something to see")
	login := flags.Bool("login", false,
		"start an issuer beside it: people sign in as anna or ben")
	show := flags.Bool("open", true, "open the page in a browser")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *folder == "" {
		if *folder, err = os.MkdirTemp("", "demo"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(*folder)) }()
	}
	if err := os.MkdirAll(*folder, 0o700); err != nil {
		return err
	}
	token, err := web.OpenToken(filepath.Join(*folder, "token"))
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
	if err != nil {
		return err
	}
	site := &site{}
	if *login {
		site.accounts, err = startIssuer(ctx, "http://"+listener.Addr().String())
		if err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if err := site.build(ctx, *folder, token, *pace); err != nil {
		//nolint:contextcheck // as below
		return errors.Join(err, site.close(), listener.Close())
	}
	//nolint:contextcheck // it has to end after the context has
	defer func() { err = errors.Join(err, site.close()) }()
	page, err := printAddress(out, listener.Addr().String(), token, *folder, *login)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if *show {
		if err := browse(ctx, *folder, page); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	return site.serve(ctx, listener, func() {
		if ready != nil {
			ready(page)
		}
	})
}

// printAddress prints the address of the page, which it returns, and what to do there.
func printAddress(out io.Writer, host, token, folder string, login bool) (string, error) {
	address := url.URL{Scheme: "http", Host: host, Path: "/"}
	says := "Sign in there as anna, who may do everything, or as ben, who reads and answers."
	if !login {
		// The part after # is not sent with requests: it stays in the browser and is not logged.
		address.Fragment = "token=" + token + "&by=" + you
		says = "Open it in a browser, where none opens by itself. The address holds the " +
			"operator's token."
	}
	_, err := fmt.Fprintf(out, "%s\n\n%s Stop with Ctrl-C.\nA plan in a terminal: "+
		"go run ./cmd/routegen-threads watch http://%s/v1/threads/offsite --token-file %s "+
		"--by %s\n",
		address.String(), says, host, filepath.Join(folder, "token"), you)
	return address.String(), err
}

// site is all that runs: an engine with its server for each place of the page.
type site struct {
	places []*place
	paths  []string

	accounts *oidc.Provider // nil: people come with tokens only
}

func (h *site) build(ctx context.Context, folder, token string, pace time.Duration) error {
	for _, p := range []struct {
		path, file string
		open       func(context.Context, *place, func(llm.Model) llm.Model) (web.Config, error)
	}{{"/", "work.db", openWork}, {"/inspection/", "inspection.db", openInspection}} {
		made, err := newPlace(ctx, filepath.Join(folder, p.file), token,
			func(pl *place) (web.Config, error) {
				cfg, err := p.open(ctx, pl, func(m llm.Model) llm.Model { return paced{m, pace} })
				if h.accounts != nil {
					cfg.Authenticate = h.accounts.Authenticate
				}
				return cfg, err
			})
		if err != nil {
			return err
		}
		h.places, h.paths = append(h.places, made), append(h.paths, p.path)
	}
	return nil
}

// serve answers on a listener until ctx ends.
func (h *site) serve(ctx context.Context, listener net.Listener, ready func()) error {
	mux := http.NewServeMux()
	cfg := inspector.Config{Title: "Demo", Places: []inspector.Place{
		{Name: "Work", Path: "/"}, {Name: "Inspection", Path: "/inspection/"},
	}}
	if h.accounts != nil {
		cfg.Login, cfg.Logout = "/auth/login", "/auth/logout"
		mux.Handle("/auth/", h.accounts)
	}
	page := inspector.Handler(cfg)
	for i, p := range h.places {
		path := h.paths[i]
		mux.Handle(path, http.StripPrefix(path[:len(path)-1], page))
		mux.Handle(path+"v1/", http.StripPrefix(path[:len(path)-1], p.server))
	}
	front := h.places[0].server.HTTP("")
	front.Handler = mux
	for _, p := range h.places[1:] { // so that its streams end too
		front.RegisterOnShutdown(func() {
			_ = p.server.HTTP("").Shutdown(context.WithoutCancel(ctx))
		})
	}
	ended := make(chan error, 1)
	go func() {
		if err := front.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			ended <- err
		}
	}()
	for _, p := range h.places {
		if err := p.begin(ctx); err != nil && ctx.Err() == nil {
			return errors.Join(err, front.Close())
		}
	}
	ready()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := front.Shutdown(last); err != nil {
		return front.Close()
	}
	return nil
}

func (h *site) close() error {
	var all []error
	for _, p := range h.places {
		all = append(all, p.close())
	}
	return errors.Join(all...)
}

// browse opens an address if there is a program for it. Otherwise the user opens the printed
// address. The program is given a file that leads to the address and that only this user can read:
// all users of a machine can see the arguments of a program, and the address holds the token.
func browse(ctx context.Context, folder, address string) error {
	command := []string{"xdg-open"}
	switch goruntime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil //nolint:nilerr // the user opens the printed address
	}
	leads, err := filepath.Abs(filepath.Join(folder, "open.html"))
	if err != nil {
		return err
	}
	if err := os.Remove(leads); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	page :=
		`<!doctype html><meta charset="utf-8"><title>Demo</title><meta http-equiv="refresh" content="0;url=` + html.EscapeString(address) + `">`
	if err := os.WriteFile(leads, []byte(page), 0o600); err != nil {
		return err
	}
	opener := exec.CommandContext(ctx, path, append(command[1:], leads)...)
	if opener.Start() == nil {
		go func() { _ = opener.Wait() }()
	}
	return nil
}
