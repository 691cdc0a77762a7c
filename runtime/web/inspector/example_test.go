package inspector_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/inspector"
)

// The page stands beside the calls that it uses. A person opens it with the token in the fragment.
func ExampleHandler() {
	ctx := context.Background()
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{})
	if err != nil {
		log.Fatal(err)
	}
	token := "0123456789abcdef0123456789abcdef" // of web.OpenToken
	server, err := web.New(engine, token, web.Config{})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", inspector.Handler(inspector.Config{Title: "Orders"}))
	mux.Handle("/v1/", server)
	front := httptest.NewServer(mux) // or set the Handler of server.HTTP("127.0.0.1:8080")

	res, err := http.Get(front.URL + "/#token=" + token + "&by=ann")
	if err != nil {
		log.Fatal(err)
	}
	page, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, strings.Contains(string(page), "<title>Orders</title>"))
	front.Close()
	if err := engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: 200 OK true
}
