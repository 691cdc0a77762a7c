package web_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// A program asks a person, who answers over HTTP.
func Example() {
	ctx := context.Background()
	deploy := thread.Func("deploy", func(ctx context.Context, version string) (string, error) {
		yes, err := thread.Ask[bool](ctx, "sure", thread.Question{Text: "Deploy " + version + "?",
			Plain: thread.PlainYesNo})
		if err != nil || !yes {
			return "left alone", err
		}
		return "deployed " + version, nil
	})
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, deploy)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	token, err := web.OpenToken(filepath.Join(dir, "token"))
	if err != nil {
		log.Fatal(err)
	}
	server, err := web.New(engine, token, web.Config{})
	if err != nil {
		log.Fatal(err)
	}
	front := httptest.NewServer(server) // or server.HTTP("127.0.0.1:8080").ListenAndServe()

	caller := &client.Client{Base: front.URL, Token: token}
	started, err := caller.Start(ctx, "deploy", "", "v2", "ann", "")
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range caller.Stream(ctx, started.ID, "") {
		if err != nil {
			log.Fatal(err)
		}
		switch row.Type {
		case thread.EntryAsked:
			open, _, err := caller.Inbox(ctx, url.Values{"thread": {started.ID}})
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(open[0].Text)
			if _, err = caller.Answer(ctx,
				thread.Answer{Interrupt: row.Interrupt, Text: "go ahead", By: "bob",
					Digest: open[0].Digest}); err != nil {
				log.Fatal(err)
			}
			continue
		case thread.EntryOver:
			fmt.Println(string(row.Value))
		default:
			continue
		}
		break
	}
	front.Close()
	if err := engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Deploy v2?
	// "deployed v2"
}
