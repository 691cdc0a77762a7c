package web

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web/internal/limit"
)

// ProxyHeaders says in which headers a proxy that signs people in names them.
type ProxyHeaders struct {
	// addresses and networks (10.0.0.0/8) of these proxies. Each must take the headers below out of
	// what clients send
	Proxies []string
	User    string // header with the subject, for example X-Forwarded-User
	Groups  string // header with the groups, with commas between; default: none
	Tenant  string // header with the tenant; default: none
	Roles   Roles  // the rights of groups
	// how long the headers of one request are good: a stream of the person ends then, and comes
	// back through the proxy; default: 15 minutes
	Life time.Duration
	Now  func() time.Time // default: time.Now
}

var (
	errNoProxy = errors.New(
		"a header that only a proxy of ProxyHeaders.Proxies may set came from another address")
	errNoTenant = errors.New("the proxy names no tenant")
	errTwice    = errors.New("a header that names the person stands there more than once")
)

// TrustedProxy returns an authenticator for people whom a proxy has signed in. A request that has
// one of the headers and does not come from the address of such a proxy itself is refused, and so
// is one that has a header twice. Wrong settings are refused with CodeInvalid.
func TrustedProxy(h ProxyHeaders) (func(*http.Request) (Identity, error), error) {
	const op = "trust proxy"
	if h.User == "" || len(h.Proxies) == 0 {
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"ProxyHeaders has no User or no Proxies: say which header of which proxy names people")
	}
	if err := h.Roles.CheckRoles(); err != nil {
		return nil, err
	}
	proxies, err := limit.ParseProxies("ProxyHeaders.Proxies", h.Proxies)
	if err != nil {
		return nil, err
	}
	defaulted(&h.Life, 15*time.Minute)
	if h.Now == nil {
		h.Now = time.Now
	}
	return func(r *http.Request) (Identity, error) {
		values := map[string]string{}
		for _, name := range []string{h.User, h.Groups, h.Tenant} {
			lines := r.Header.Values(name)
			if name == "" || len(lines) == 0 {
				continue
			}
			if len(lines) > 1 {
				return Identity{}, errTwice
			}
			values[name] = lines[0]
		}
		if len(values) == 0 {
			return Identity{}, ErrNoCredential
		}
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		if !proxies.Hold(from) {
			return Identity{}, errNoProxy
		}
		if h.Tenant != "" && values[h.Tenant] == "" { // the default tenant is not everybody's
			return Identity{}, errNoTenant
		}
		who := Identity{User: values[h.User], Tenant: values[h.Tenant],
			Expires: h.Now().Add(h.Life)}
		for group := range strings.SplitSeq(values[h.Groups], ",") {
			if group = strings.TrimSpace(group); group != "" {
				who.Groups = append(who.Groups, group)
			}
		}
		who.Rights = h.Roles.RightsOf(who.Groups)
		return who, nil
	}, nil
}
