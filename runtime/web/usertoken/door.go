package usertoken

import (
	_ "embed"
	"net/http"
	"slices"

	"github.com/routegen/routegen/runtime/web"
)

//go:embed schemas.json
var schemas []byte

// Operations returns the door that makes, lists and revokes the tokens. Only the operator makes
// them: what a person made would outlive the loss of their own rights. Each caller makes, sees and
// revokes those of their own tenant.
func (t *Tokens) Operations() web.Door {
	const all, one = "/v1/people/tokens", "/v1/people/tokens/{grant}"
	return web.Door{Schemas: schemas, Routes: []web.Endpoint{
		{Method: http.MethodPost, Path: all, ID: "makeUserToken",
			Summary: "Make a token for a person, on all threads of the tenant",
			Body:    "UserTokenRequest", Reply: "UserToken", Status: http.StatusCreated,
			Do: web.Form(func(c *web.Call, f *tokenForm) (any, error) {
				if f.Tenant != "" && f.Tenant != c.Tenant() {
					return nil, web.ErrForbidden
				}
				return t.Make(Token{Tenant: c.Tenant(), User: f.User, Groups: f.Groups,
					Rights: f.Rights, Expires: f.Expires})
			})},
		{Method: http.MethodGet, Path: all, ID: "userTokens",
			Summary: "The tokens of people, without their secrets", People: web.ActionOperate,
			Reply: "UserTokens", Do: func(c *web.Call) (any, error) {
				rows, damaged, err := t.List()
				if err != nil {
					return nil, err
				}
				rows = slices.DeleteFunc(rows, func(k Token) bool { return k.Tenant != c.Tenant() })
				return map[string]any{"items": rows, "damaged": damaged}, nil
			}},
		{Method: http.MethodDelete, Path: one, ID: "revokeUserToken",
			Summary: "Revoke a token of a person", People: web.ActionOperate,
			Status: http.StatusNoContent, Do: func(c *web.Call) (any, error) {
				_, r := c.HTTP()
				id := r.PathValue("grant")
				if row, err := t.read(id); err != nil || row.Tenant != c.Tenant() {
					return nil, web.ErrNotFound
				}
				return nil, t.Revoke(id)
			}},
	}}
}

// tokenForm is the body that asks for a token.
type tokenForm struct {
	Tenant  string   `json:"tenant,omitempty"`
	User    string   `json:"user"`
	Groups  []string `json:"groups,omitempty"`
	Rights  []string `json:"rights"`
	Expires int64    `json:"expires"`
}
