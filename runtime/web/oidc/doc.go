// Package oidc signs people in with OpenID Connect: the accounts that a team has already. It is a
// package of its own so that a program without it links none of the modules that it needs.
//
//	provider, err := oidc.New(ctx, oidc.Config{
//		Issuer: "https://accounts.example.com", ClientID: "threads", ClientSecret: secret,
//		RedirectURL: "https://threads.example.com/auth/callback",
//		Roles: web.Roles{"*": {"follow"}, "finance": {"follow", "answer"}},
//	})
//	server, err := web.New(engine, token, web.Config{Authenticate: provider.Authenticate})
//	mux.Handle("/auth/", provider)
//	mux.Handle("/v1/", server)
//
// It uses the authorization code flow with PKCE, a state and a nonce. The ID token must be signed
// by a key of the issuer, by an algorithm that the issuer names and never by none; for this client;
// and not be expired. Its subject, byte for byte, is the user. A key that is not known yet is asked
// of the issuer, so an issuer may change its keys at any time.
//
// Who has signed in has a session: a random id in a cookie that scripts cannot read and other sites
// cannot send, Secure where RedirectURL is https. The server keeps a hash of it in memory, with who
// it is and until when. A restart signs everybody out, and behind a balancer the requests of one
// person have to go to one process. Groups are read when a person signs in: what a group loses,
// they lose with the end of the session at the latest. Signing out ends the session here, not the
// one at the issuer.
//
// A browser has one session and one sign-in on its way, also with several providers on one host.
// Who signs in again ends the session before, if that was begun at the same provider and the
// browser showed it at login, which it does not when a link of another site led there; else it
// stays until its time. Of two tabs the one that went to login last gets the session. After 100
// refused sign-ins an address has one a second.
package oidc
