package usertoken

import (
	_ "embed"
	"net/http"

	"github.com/routegen/routegen/runtime/web"
)

//go:embed schemas.json
var schemas []byte

// Operations returns the door that makes, lists and revokes the tokens. Only the operator makes
// them: what a person made would outlive the loss of their own rights.
func (t *Tokens) Operations() web.Door {
	const all, one = "/v1/people/tokens", "/v1/people/tokens/{grant}"
	return web.Door{Schemas: schemas, Routes: []web.Endpoint{
		{Method: http.MethodPost, Path: all, ID: "makeUserToken",
			Summary: "Make a token for a person, on all threads", Body: "UserTokenRequest",
			Reply: "UserToken", Status: http.StatusCreated,
			Do: web.Form(func(_ *web.Call, f *tokenForm) (any, error) {
				made, err := t.Make(Token{Tenant: f.Tenant, User: f.User, Groups: f.Groups,
					Rights: f.Rights, Expires: f.Expires})
				if err != nil {
					return nil, err
				}
				return made, nil
			})},
		{Method: http.MethodGet, Path: all, ID: "userTokens",
			Summary: "The tokens of people, without their secrets", People: web.ActionOperate,
			Reply: "UserTokens", Do: func(*web.Call) (any, error) {
				rows, err := t.List()
				if err != nil {
					return nil, err
				}
				return map[string][]Token{"items": rows}, nil
			}},
		{Method: http.MethodDelete, Path: one, ID: "revokeUserToken",
			Summary: "Revoke a token of a person", People: web.ActionOperate,
			Status: http.StatusNoContent, Do: func(c *web.Call) (any, error) {
				_, r := c.HTTP()
				return nil, t.Revoke(r.PathValue("grant"))
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
