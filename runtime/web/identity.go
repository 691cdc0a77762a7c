package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web/internal/names"
)

// Identity is a person who has signed in, as [Config.Authenticate] returns them.
type Identity struct {
	// Tenant says whose the threads are: the person sees those of one tenant and no others, see
	// [thread.Engine.Tenant]. Default "". One that is no name of a tenant has the person refused.
	Tenant string
	// User is the subject that the issuer of the credential names, byte for byte. It stands as by
	// in the history. Empty, longer than 200 bytes, with control characters or spaces around it,
	// and policy, operator, "operator for" somebody and "group:" with anything, it is refused.
	User string
	// Groups of the person, as the issuer names them: what a question's Assignees name as
	// "group:finance" a person with the group "finance" may answer.
	Groups []string
	// Rights are what the person may do, on all threads of the tenant: those of capability tokens.
	// One that does not exist has the person refused. None: they may sign in, and nothing else.
	Rights []string
	// Expires is when the person has to sign in again. A stream ends with that of the identity it
	// began with, whatever Authenticate says by then. Zero: when Authenticate says so.
	Expires time.Time
}

// ErrNoCredential is what an authenticator returns for a request that holds no credential of its
// kind: [FirstOf] asks the next one. For a credential that is there and not good it returns another
// error.
var ErrNoCredential = errors.New("the request holds no credential of this kind")

// FirstOf returns an authenticator, for [Config.Authenticate], that asks others in their order. The
// first that finds a credential of its kind decides: if that is not good the request is refused,
// whatever else it holds.
func FirstOf(authenticators ...func(*http.Request) (Identity, error)) func(*http.Request) (
	Identity, error) {
	return func(r *http.Request) (Identity, error) {
		for _, authenticate := range authenticators {
			if who, err := authenticate(r); !errors.Is(err, ErrNoCredential) {
				return who, err
			}
		}
		return Identity{}, ErrNoCredential
	}
}

// Roles are the rights of groups, by the name of the group; "*" is for everybody who signs in.
type Roles map[string][]string

// RightsOf returns the rights of a person in these groups, sorted, each once.
func (m Roles) RightsOf(groups []string) []string {
	found := map[string]bool{}
	for _, group := range append([]string{"*"}, groups...) {
		for _, right := range m[group] {
			found[right] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// CheckRoles returns CodeInvalid for a right that does not exist.
func (m Roles) CheckRoles() error {
	for group, rights := range m {
		for _, right := range rights {
			if !slices.Contains(actions, right) {
				return runtime.Errorf(runtime.CodeInvalid, "read roles",
					"group %q has the right %q, which does not exist: use %s", group, right,
					strings.Join(actions, ", "))
			}
		}
	}
	return nil
}

// NormalName returns the form in which the server stores and compares the name of a person that an
// operator types: NFKC, case-folded, without spaces around it and without characters that are not
// shown. It refuses names that mix scripts, whose letters look alike. Who writes names into
// Question.Assignees for operators to type uses this form.
func NormalName(name string) (string, error) {
	normal, err := names.Normal(name)
	if err != nil {
		return "", runtime.Errorf(runtime.CodeInvalid, "read name", "the name %w", err)
	}
	return normal, nil
}

// person is an identity, with the request it came with: asked again, it says whether the person is
// signed in still.
type person struct {
	Identity
	request *http.Request // without body
}

// identify asks Config.Authenticate who a request is from. A person is a caller with the rights of
// a grant that is for no thread.
func (s *Server) identify(r *http.Request) (principal, error) {
	if s.cfg.Authenticate == nil {
		return principal{}, errToken
	}
	again := r.Clone(context.WithoutCancel(r.Context())) // before Authenticate writes into it
	again.Body = http.NoBody
	who, err := s.cfg.Authenticate(r)
	switch {
	case err == nil:
		if err = who.CheckIdentity(); err == nil {
			_, err = s.engine.Tenant(who.Tenant)
		}
	case runtime.CodeOf(err) == runtime.CodeUnavailable: // who it is cannot be said now
		return principal{}, err
	}
	if err != nil {
		if !errors.Is(err, ErrNoCredential) { // its text may quote what the caller sent
			s.log.Info("web sign-in refused", "type", fmt.Sprintf("%T", innermost(err)))
		}
		return principal{}, errToken
	}
	if who.over(s.cfg.Now()) {
		return principal{}, errToken
	}
	sum := sha256.Sum256([]byte(who.Tenant + "\x00" + who.User))
	g := &Grant{ID: hex.EncodeToString(sum[:]), By: who.User,
		Actions: append([]string{}, who.Rights...), Expires: millis(who.Expires)}
	return principal{grant: g, person: &person{who, again}}, nil
}

var errIdentity = errors.New("the identity has no user that can be stored, or an unknown right")

// CheckIdentity returns an error if the server would let nobody in under this identity: the user
// cannot stand in a history, or a right does not exist.
func (i *Identity) CheckIdentity() error {
	switch {
	case i.User == "", len(i.User) > maxBy, !utf8.ValidString(i.User),
		strings.TrimSpace(i.User) != i.User, strings.ContainsFunc(i.User, unicode.IsControl),
		reservedName(i.User):
		return errIdentity
	}
	for _, right := range i.Rights {
		if !slices.Contains(actions, right) {
			return errIdentity
		}
	}
	return nil
}

func (i *Identity) over(now time.Time) bool { return !i.Expires.IsZero() && !now.Before(i.Expires) }

// Identity returns the person who makes the call, nil for an operator and for the holder of a
// capability token.
func (c *Call) Identity() *Identity {
	if c.who.person == nil {
		return nil
	}
	return &c.who.person.Identity
}

// Reaches reports whether the caller's token is for a thread, whatever it may do there: one that is
// not for it learns not even that the thread exists.
func (c *Call) Reaches(threadID string) bool {
	g := c.who.grant
	return g == nil || c.who.person != nil || g.Thread == threadID
}

// signedIn returns an error if the person is not signed in any more, or is another one, and after
// the end of the identity that came with the call.
func (s *Server) signedIn(who principal) error {
	if who.person.over(s.cfg.Now()) {
		return errToken // the same headers of a proxy would be good for ever
	}
	r := who.person.request // of all streams and messages of a socket: Authenticate gets its own
	now, err := s.identify(r.Clone(r.Context()))
	if err == nil && (now.grant.ID != who.grant.ID ||
		!slices.Equal(now.grant.Actions, who.grant.Actions)) {
		return errToken // with other rights a stream would show something else
	}
	return err
}

// watchPerson calls end when the person of a stream is signed in no longer, and returns what stops
// watching. While it cannot be said the stream goes on.
func (c *Call) watchPerson(ctx context.Context, end func()) (stop func() bool) {
	watching, stopWatching := context.WithCancel(ctx)
	go func() {
		look := time.NewTicker(c.s.cfg.Beat)
		defer look.Stop()
		for {
			select {
			case <-watching.Done():
				return
			case <-look.C:
				err := c.s.signedIn(c.who) //nolint:contextcheck // that of its request
				if err != nil && runtime.CodeOf(err) != runtime.CodeUnavailable {
					end()
					return
				}
			}
		}
	}()
	return func() bool {
		stopWatching()
		return true
	}
}
