package main

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/routegen/routegen/examples/internal/issuer"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/oidc"
)

// accounts are the people of the demo's issuer: anna may do everything, ben reads and answers.
var accounts = []issuer.Person{{Subject: "anna", Groups: []string{"finance"}},
	{Subject: "ben", Groups: []string{"support"}}}

var accountRoles = web.Roles{
	"finance": {web.ActionFollow, web.ActionInspect, web.ActionDeliver, web.ActionOperate,
		web.ActionAnswer, web.ActionEscape, web.ActionCancel},
	"support": {web.ActionFollow, web.ActionAnswer},
}

// startIssuer serves an issuer on this machine until ctx ends, and returns how people sign in with
// it to the page at an address.
func startIssuer(ctx context.Context, page string) (*oidc.Provider, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	client := issuer.App{ID: "demo", Secret: rand.Text(),
		RedirectURL: page + "/auth/callback"}
	address := "http://" + listener.Addr().String()
	local, err := issuer.New(address, client, accounts...)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: local, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with the line below
	context.AfterFunc(ctx, func() { _ = server.Close() })
	provider, err := oidc.New(ctx, oidc.Config{Issuer: address, ClientID: client.ID,
		ClientSecret: client.Secret, RedirectURL: client.RedirectURL, Roles: accountRoles})
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return provider, nil
}
