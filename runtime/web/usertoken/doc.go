// Package usertoken gives people bearer tokens of their own, for programs that act for one person.
// The operator makes them, with the rights that they have on all threads:
//
//	tokens, err := usertoken.Open("people", usertoken.Config{})
//	server, err := web.New(engine, token, web.Config{
//		Authenticate: web.FirstOf(tokens.Authenticate, provider.Authenticate),
//		Doors:        []web.Door{tokens.Operations()},
//	})
//
// POST /v1/people/tokens makes one, GET lists them, with when each was used last, and DELETE
// /v1/people/tokens/{id} revokes one; a person who may operate lists and revokes too.
//
// A token is kept in a folder, as the SHA-256 of its 256 random bits: one file for what it is, one
// that says it is revoked, and one whose time is its last use. No file is ever written again, so
// several processes may use one folder, and what one of them revokes no other brings back.
package usertoken
