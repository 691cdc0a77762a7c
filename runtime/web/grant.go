package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

// Grant is a capability token: what it is for, and once, when it is made, the token itself. The
// operator's has no thread.
type Grant struct {
	ID        string   `json:"id"` // to revoke it by
	Token     string   `json:"token,omitempty"`
	Thread    string   `json:"thread"`
	Interrupt string   `json:"interrupt,omitempty"` // "" means all of the thread
	Actions   []string `json:"actions"`
	By        string   `json:"by,omitempty"` // in whose name it answers
	Expires   int64    `json:"expires"`
	Once      bool     `json:"once,omitempty"` // one answer

	// Of a person who has signed in, in what tells them their rights.
	Groups []string `json:"groups,omitempty"`

	// In the list of a thread's tokens: when it was made, by whom (operator, or a token), revoked,
	// and its one answer given.
	Made    int64  `json:"made,omitempty"`
	MadeBy  string `json:"madeBy,omitempty"`
	Revoked int64  `json:"revoked,omitempty"`
	Spent   int64  `json:"spent,omitempty"`
}

// LogValue keeps the token out of logs.
func (g Grant) LogValue() slog.Value { return slog.StringValue("grant " + g.ID) }

// String is LogValue for fmt.
func (g Grant) String() string { return "grant " + g.ID }

// principal is who makes a call. A nil grant is the operator, who came with key. What a call may do
// is asked of may alone, so that another kind of caller is another row there.
type principal struct {
	grant  *Grant
	key    *operatorKey
	person *person // has signed in: the grant is for no thread
	tenant string  // that the token of grant was made in
}

// tenantOf returns the tenant whose threads a caller sees. It alone decides that, by who the caller
// is: no path, query or body of a request is asked.
func (s *Server) tenantOf(who principal) string {
	switch {
	case who.person != nil:
		return who.person.Tenant
	case who.grant == nil:
		return s.cfg.OperatorTenant
	default:
		return who.tenant
	}
}

// label names the caller in the audit lines, and is what their rate is counted by: the whole id, as
// who may choose a name finds one that begins with the same digits.
func (p principal) label() string {
	switch {
	case p.person != nil:
		return "person " + p.grant.ID
	case p.grant == nil:
		return operatorName
	default:
		return p.grant.String()
	}
}

// recorded names the caller in histories.
func (p principal) recorded() string {
	if p.person != nil {
		return p.person.User
	}
	return p.label()
}

// The request ids under which a thread's log holds what became of a token.
func grantRequest(id string) string   { return grantName + "/" + id }
func revokedRequest(id string) string { return revokedName + "/" + id }
func spentRequest(id string) string   { return spentName + "/" + id }

// The names of the message entries that say so. They are no messages to anybody.
const (
	grantName   = "grant"
	revokedName = "grant_revoked"
	spentName   = "grant_spent"
)

const tokenPrefix = "rg_"

// grantID is the hash under which a token is stored. The thread with its tenant is part of it: a
// fork copies the log, and no token with it.
func grantID(thread, secret string) string {
	sum := sha256.Sum256([]byte(thread + "\x00" + secret))
	return hex.EncodeToString(sum[:])
}

// authenticate returns who a request is from, or refuses with the one answer for every token that
// is not good. This is the one place that says so: the operator's tokens come first, then
// capability tokens, then Config.Authenticate.
func (s *Server) authenticate(r *http.Request) (principal, error) {
	token := BearerToken(r)
	if key := s.operatorKey(token); key != nil {
		return principal{key: key}, nil
	}
	if !strings.HasPrefix(token, tokenPrefix) {
		return s.identify(r)
	}
	packed, secret, ok := strings.Cut(strings.TrimPrefix(token, tokenPrefix), ".")
	name, err := base64.RawURLEncoding.DecodeString(packed)
	tenant, of := thread.SplitID(string(name))
	if !ok || err != nil || !input.ValidID(of) {
		return principal{}, errToken
	}
	engine, err := s.engine.Tenant(tenant)
	if err != nil {
		return principal{}, errToken
	}
	g, err := s.granted(r.Context(), engine, of, grantID(string(name), secret))
	return principal{grant: g, tenant: tenant}, err
}

// granted reads a token's grant, and refuses one that is unknown, over or revoked, and one that
// older programs made in a name that is no person's.
func (s *Server) granted(ctx context.Context, engine *thread.Engine, threadID, id string) (*Grant,
	error) {
	row, err := engine.ByRequest(ctx, threadID, grantRequest(id))
	if err != nil && runtime.CodeOf(err) != runtime.CodeNotFound {
		return nil, err
	}
	if row == nil || row.Type != thread.EntryMessage || row.Name != grantName {
		return nil, errToken
	}
	revoked, err := engine.ByRequest(ctx, threadID, revokedRequest(id))
	if err != nil {
		return nil, err
	}
	var g Grant
	if err := json.Unmarshal(row.Value, &g); err != nil || revoked != nil || !s.cfg.Now().
		Before(time.UnixMilli(g.Expires)) || g.By == "" || reservedName(g.By) {
		return nil, errToken
	}
	g.Actions = readActions(g.Actions)
	return &g, nil
}

const bearerProtocol = "bearer."

// BearerToken returns the token of a request, "" if it has none: for authenticators, see
// [Config.Authenticate]. A browser cannot set a header on a WebSocket: it offers the token as a
// subprotocol there.
func BearerToken(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for offer := range strings.SplitSeq(line, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(offer), bearerProtocol); ok {
				return token
			}
		}
	}
	return ""
}

// grantForm is the body that asks for a token.
type grantForm struct {
	Interrupt string   `json:"interrupt,omitempty"`
	Actions   []string `json:"actions"`
	By        string   `json:"by"`
	Expires   int64    `json:"expires"`
	Once      bool     `json:"once,omitempty"`
}

func (c *Call) grant(f *grantForm) (any, error) {
	for _, action := range f.Actions {
		if action == oldView {
			return nil, input.Invalid("/actions",
				"view is now follow, or follow and inspect: say which")
		}
		if !slices.Contains(actions, action) {
			return nil, input.Invalid("/actions",
				fmt.Sprintf("%q is none of %s", action, strings.Join(actions, ", ")))
		}
		if (f.Once || f.Interrupt != "") && action != ActionFollow && action != ActionAnswer {
			return nil, input.Invalid("/actions",
				action+" is of a whole thread, and for more than one answer")
		}
	}
	by, err := typedName(f.By)
	switch most := c.s.cfg.MaxTokenLife; {
	case err != nil:
		return nil, err
	case len(f.Actions) == 0:
		return nil, input.Invalid("/actions", "is empty: say what the token is for")
	case f.Expires > c.s.cfg.Now().Add(most).UnixMilli():
		return nil, input.Invalid("/expires", "is more than "+most.String()+
			" away, the longest life of a token here")
	case !c.s.cfg.Now().Before(time.UnixMilli(f.Expires)):
		return nil, input.Invalid("/expires", "is not in the future")
	}
	name := c.r.PathValue("thread")
	if f.Interrupt != "" {
		i, err := c.engine.Interrupt(c.Context(), f.Interrupt)
		if err != nil {
			return nil, err
		}
		if i.Thread != name {
			return nil, ErrNotFound
		}
	}
	secret := base64.RawURLEncoding.EncodeToString(randomBytes())
	whole := name // with the tenant: a token says all that is needed to find it
	if tenant := c.s.tenantOf(c.who); tenant != "" {
		whole = tenant + "/" + name
	}
	g := Grant{
		ID: grantID(whole, secret), Thread: name, Interrupt: f.Interrupt, Actions: f.Actions,
		By: by, Expires: f.Expires, Once: f.Once,
	}
	data, err := runtime.Encode(g)
	if err != nil {
		return nil, err
	}
	if err := c.note(name, grantName, grantRequest(g.ID), data); err != nil {
		return nil, err
	}
	g.Token = tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(whole)) + "." + secret
	return g, nil
}

// rights tells a caller what the token of the call may do now, so that a page can offer that and no
// more. What was for one answer, and has given it, answers no more; what speaks for another person
// than its conversation is with says nothing to it.
func (c *Call) rights() (any, error) {
	if c.who.grant == nil {
		return Grant{Actions: actions}, nil
	}
	g := *c.who.grant
	lost := []string{}
	if g.Once {
		spent, err := c.engine.ByRequest(c.Context(), g.Thread, spentRequest(g.ID))
		if err != nil && runtime.CodeOf(err) != runtime.CodeNotFound {
			return nil, err
		}
		if spent != nil {
			lost = append(lost, ActionAnswer)
		}
	}
	if c.who.person != nil {
		g.ID, g.Groups = "", c.who.person.Groups // nothing to revoke by it
	} else if slices.Contains(g.Actions, ActionDeliver) {
		machine, _, err := c.first(g.Thread)
		if err != nil {
			return nil, err
		}
		if others, err := c.anothers(&g, g.Thread, machine); err != nil {
			return nil, err
		} else if others {
			lost = append(lost, ActionDeliver)
		}
	}
	for _, part := range operates {
		if c.who.may(part) && !slices.Contains(g.Actions, part) {
			g.Actions = append(slices.Clip(g.Actions), part)
		}
	}
	g.Actions = slices.DeleteFunc(slices.Clone(g.Actions), func(action string) bool {
		return slices.Contains(lost, action)
	})
	return g, nil
}

func randomBytes() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return b
}

func (c *Call) revoke() (any, error) {
	name, id := c.r.PathValue("thread"), c.r.PathValue("grant")
	row, err := c.engine.ByRequest(c.Context(), name, grantRequest(id))
	if err != nil || row == nil {
		return nil, cmp.Or(err, ErrNotFound)
	}
	data, err := runtime.Encode(id)
	if err != nil {
		return nil, err
	}
	return nil, c.note(name, revokedName, revokedRequest(id), data)
}

// note puts what became of a token into the log of its thread, once for its request.
func (c *Call) note(name, what, request string, value json.RawMessage) error {
	_, err := c.engine.Change(c.Context(), name, func(ch *thread.Change) error {
		if row, err := c.engine.FindRequest(c.Context(), ch, request); err != nil || row != nil {
			return err
		}
		ch.Add(thread.Entry{Type: thread.EntryMessage, Name: what, Value: value,
			By: c.who.recorded(), Request: request})
		return nil
	})
	return err
}

// OpenToken reads the operator's token from a file, or makes one there that only its owner may
// read. A file that others may read is refused with CodeForbidden.
func OpenToken(path string) (string, error) {
	fail := func(code runtime.Code, err error) (string, error) {
		return "", runtime.Errorf(code, "open token "+path, "%w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		token := base64.RawURLEncoding.EncodeToString(randomBytes())
		_, err = file.WriteString(token + "\n")
		if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
			return fail(runtime.CodeUnavailable, err)
		}
		return token, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return fail(runtime.CodeUnavailable, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fail(runtime.CodeUnavailable, err)
	case info.Mode().Perm()&0o077 != 0:
		return fail(runtime.CodeForbidden,
			fmt.Errorf("others may read it (%s): chmod 600, and make a new token", info.Mode().
				Perm()))
	}
	data, err := os.ReadFile(path)
	token := strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return fail(runtime.CodeUnavailable, err)
	case len(token) < minToken:
		return fail(runtime.CodeInvalid,
			errors.New("it holds less than 32 bytes: remove it, and it is made anew"))
	}
	return token, nil
}
