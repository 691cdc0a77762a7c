// Package inspector is a page for people: what waits for them, where a thread is on the graph of
// its program, what happened to it, and what becomes of it when they say so. [Handler] serves it;
// it is a client of the REST calls and the event stream of package web, and has no door of its own.
//
// The page is plain HTML, CSS and ES modules, embedded as they are: there is nothing to build. It
// is served under a content security policy that lets it load from its own origin only, with no
// inline script or style, and no way from a text to markup: what people and models said is shown as
// text.
//
// # Where the token comes from
//
// A person types it in, or follows an address with a fragment, like
// http://127.0.0.1:8080/#token=...&by=ann. A fragment is part of no request. The page takes it out
// of the address at once and keeps it in the session storage of its tab; it goes out in the
// Authorization header only. Besides the operator's, a capability token for one thread will do, or
// for one interrupt: then the page shows that alone. It asks the server what a capability token may
// do, and offers nothing else. &interrupt=ID shows one interrupt alone with a token for its thread.
//
// # Mounting
//
// Serve it beside a web.Server, at a path that ends with a slash, with the server's /v1/ below it:
//
//	mux.Handle("/", inspector.Handler(inspector.Config{}))
//	mux.Handle("/v1/", server)
//
// Below another path use [net/http.StripPrefix] for both, or say in Config.API where the calls are.
package inspector
