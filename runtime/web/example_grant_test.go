package web_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// A guest gets a token for one thread and one answer. The page of package inspector takes it in its
// address: /#token=... .
func ExampleClient_Grant() {
	ctx := context.Background()
	visit := thread.Func("visit", func(ctx context.Context, day string) (bool, error) {
		return thread.Ask[bool](ctx, "come", thread.Question{Text: "May we come on " + day + "?",
			Plain: thread.PlainYesNo})
	})
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, visit)
	if err != nil {
		log.Fatal(err)
	}
	secret := strings.Repeat("s", 32) // of web.OpenToken, in a program
	server, err := web.New(engine, secret, web.Config{})
	if err != nil {
		log.Fatal(err)
	}
	front := httptest.NewServer(server)
	operator := &client.Client{Base: front.URL, Token: secret}
	t, err := operator.Start(ctx, "visit", "", "Monday", "ann", "")
	if err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	grant, err := operator.Grant(ctx, web.Grant{
		Thread: t.ID, Actions: []string{"follow", "answer"}, By: "gwen", Expires: time.Now().
			Add(time.Hour).UnixMilli(), Once: true,
	})
	if err != nil {
		log.Fatal(err)
	}

	guest := &client.Client{Base: front.URL, Token: grant.Token}
	seen, err := guest.Thread(ctx, t.ID)
	if err != nil {
		log.Fatal(err)
	}
	open := seen.Open[0]
	answered, err := guest.Answer(ctx,
		thread.Answer{Interrupt: open.ID, Text: "yes", Digest: open.Digest})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(open.Text, string(answered.Answer), "says", answered.AnsweredBy)
	_, err = guest.Cancel(ctx, t.ID, "", "")
	fmt.Println(runtime.CodeOf(err))
	front.Close()
	if err := engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// May we come on Monday? true says gwen
	// forbidden
}
