package oidc

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/internal/limit"
)

// Config says who the issuer is, what it knows this program as, and what its people may do.
type Config struct {
	Issuer       string // its address, exactly as it names itself in the tokens
	ClientID     string
	ClientSecret string // default: none, for a client that the issuer knows as public
	// where the issuer sends people back to, as it is known there: the address of
	// [Provider] with callback as its last part. https, or http on this machine alone
	RedirectURL string
	Scopes      []string // default: openid
	// the claims that hold the groups (a list of texts, or one) and the tenant (a text); default:
	// groups, and no tenant
	GroupsClaim, TenantClaim string
	Roles                    web.Roles // what groups may do

	Session time.Duration // how long a person stays signed in; default: 8 hours
	After   string        // the path to go to after signing in; default: /
	// the proxies before it, as in [web.Config]: refused sign-ins are limited for each address
	TrustedProxies []string
	// asks the issuer; default: one that waits 10 seconds at most
	Client *http.Client
	// one line for each sign-in that is refused, with the reason; default: none
	Log *slog.Logger
	Now func() time.Time // for the end of sessions and of tokens; default: time.Now
}

// Provider signs people in at one issuer. It is the [http.Handler] of the addresses that end in
// login, callback and logout. Its methods may be called at the same time.
type Provider struct {
	cfg      Config
	secure   bool
	client   oauth2.Config
	verifier *oidc.IDTokenVerifier
	sessions sessions
	cross    *http.CrossOriginProtection
	tag      string // of its cookies: providers of one host share the names
	proxies  limit.Proxies
	failures *limit.Limiter
}

// New asks the issuer how it is used, at its /.well-known/openid-configuration. It returns
// CodeInvalid for settings that cannot be, and CodeUnavailable when the issuer does not answer or
// names itself in another way.
func New(ctx context.Context, cfg Config) (*Provider, error) {
	const op = "use issuer"
	back, err := url.Parse(cfg.RedirectURL)
	switch {
	case cfg.ClientID == "":
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"Config.ClientID is empty: say what the issuer knows this program as")
	case err != nil || back.Host == "" || back.Scheme != "https" && !isLocal(back):
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"Config.RedirectURL is %q: use an https address, or http to localhost", cfg.RedirectURL)
	}
	proxies, err := limit.ParseProxies("Config.TrustedProxies", cfg.TrustedProxies)
	if err == nil {
		err = cfg.Roles.CheckRoles()
	}
	if err != nil {
		return nil, err
	}
	if cfg.Scopes == nil {
		cfg.Scopes = []string{oidc.ScopeOpenID}
	}
	if cfg.GroupsClaim == "" {
		cfg.GroupsClaim = "groups"
	}
	if cfg.Session <= 0 {
		cfg.Session = 8 * time.Hour
	}
	if cfg.After == "" {
		cfg.After = "/"
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: 10 * time.Second}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	issuer, err := oidc.NewProvider(oidc.ClientContext(ctx, cfg.Client), cfg.Issuer)
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "issuer %s: %w", cfg.Issuer, err)
	}
	return &Provider{
		cfg: cfg, secure: back.Scheme == "https",
		client: oauth2.Config{ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret,
			Endpoint: issuer.Endpoint(), RedirectURL: cfg.RedirectURL, Scopes: cfg.Scopes},
		verifier: issuer.Verifier(&oidc.Config{ClientID: cfg.ClientID, Now: cfg.Now}),
		sessions: sessions{now: cfg.Now, held: map[string]web.Identity{}},
		cross:    http.NewCrossOriginProtection(),
		tag:      hashOf(cfg.Issuer + "\x00" + cfg.ClientID + "\x00" + cfg.RedirectURL)[:16],
		proxies:  proxies, failures: limit.NewLimiter(1, mostRefused, cfg.Now),
	}, nil
}

func isLocal(u *url.URL) bool {
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return u.Scheme == "http"
	}
	return false
}

// identity reads who an ID token is about.
func (p *Provider) identity(token *oidc.IDToken) (web.Identity, error) {
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return web.Identity{}, err
	}
	who := web.Identity{User: token.Subject, Expires: p.cfg.Now().Add(p.cfg.Session)}
	switch groups := claims[p.cfg.GroupsClaim].(type) {
	case string:
		who.Groups = []string{groups}
	case []any:
		for _, group := range groups {
			if name, is := group.(string); is {
				who.Groups = append(who.Groups, name)
			}
		}
	}
	if p.cfg.TenantClaim != "" {
		tenant, is := claims[p.cfg.TenantClaim].(string)
		if !is || tenant == "" { // the default tenant is not everybody's
			return web.Identity{}, errNoTenant
		}
		who.Tenant = tenant
	}
	who.Rights = p.cfg.Roles.RightsOf(who.Groups)
	return who, nil
}

// secret returns 128 random bits or more, in letters and digits.
func secret() string { return rand.Text() }
