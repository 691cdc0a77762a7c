package usertoken_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/usertoken"
)

const operator = "operator-0123456789abcdef0123456789abcdef"

// program is a server whose people have tokens.
type program struct {
	*testing.T
	folder string
	base   string
	tokens *usertoken.Tokens
	ahead  time.Duration
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{T: t, folder: filepath.Join(t.TempDir(), "people")}
	asks := thread.Func("ask", func(ctx context.Context, _ string) (string, error) {
		return thread.Ask[string](ctx, "q", thread.Question{Plain: thread.PlainText})
	})
	engine, err := thread.Open(t.Context(), mem.Open(), thread.Config{}, asks)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close(context.Background())) })
	p.tokens, err = usertoken.Open(p.folder, usertoken.Config{Now: p.now})
	require.NoError(t, err)
	server, err := web.New(engine, operator, web.Config{Authenticate: p.tokens.Authenticate,
		Doors: []web.Door{p.tokens.Operations()}})
	require.NoError(t, err)
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	p.base = front.URL
	return p
}

func (p *program) now() time.Time { return time.Now().Add(p.ahead) }

func (p *program) call(token, method, path, body string) (int, string) {
	p.Helper()
	req, err := http.NewRequestWithContext(p.Context(), method, p.base+path,
		strings.NewReader(body))
	require.NoError(p, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(p, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(p, err)
	return res.StatusCode, string(data)
}

// make makes a token as the operator does.
func (p *program) make(user string, rights ...string) usertoken.Token {
	p.Helper()
	list, err := json.Marshal(rights)
	require.NoError(p, err)
	status, body := p.call(operator, http.MethodPost, "/v1/people/tokens", fmt.Sprintf(
		`{"user":%q,"rights":%s,"expires":%d}`, user, list, p.now().Add(time.Hour).UnixMilli()))
	require.Equal(p, 201, status, body)
	var made usertoken.Token
	require.NoError(p, json.Unmarshal([]byte(body), &made))
	return made
}

// Tokens are of one tenant: another tenant's operator, or person with operate, neither makes, sees
// nor revokes them.
func TestTokensOfAnotherTenant(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	ends := p.now().Add(time.Hour).UnixMilli()
	form := func(tenant string) string {
		return fmt.Sprintf(`{"tenant":%q,"user":"eve","rights":["operate"],"expires":%d}`, tenant,
			ends)
	}
	status, _ := p.call(operator, http.MethodPost, "/v1/people/tokens", form("beta"))
	assert.Equal(t, 403, status)
	beta, err := p.tokens.Make(usertoken.Token{Tenant: "beta", User: "bob",
		Rights: []string{"operate"}, Expires: ends})
	require.NoError(t, err)
	acme, err := p.tokens.Make(usertoken.Token{Tenant: "acme", User: "ann",
		Rights: []string{"operate"}, Expires: ends})
	require.NoError(t, err)
	for token, sees := range map[string]string{beta.Token: beta.ID, acme.Token: acme.ID,
		operator: ""} {
		status, body := p.call(token, http.MethodGet, "/v1/people/tokens", "")
		require.Equal(t, 200, status)
		for _, id := range []string{beta.ID, acme.ID} {
			assert.Equal(t, id == sees, strings.Contains(body, id))
		}
	}
	const one = "/v1/people/tokens/"
	for _, token := range []string{acme.Token, operator} {
		status, _ = p.call(token, http.MethodDelete, one+beta.ID, "")
		assert.Equal(t, 404, status)
	}
	status, _ = p.call(beta.Token, http.MethodDelete, one+beta.ID, "")
	assert.Equal(t, 204, status)
}

// A person acts with their token under their name, with its rights, until it ends or is revoked,
// and the folder holds no token.
func TestAPersonHasATokenOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	ann, boss := p.make("Ann ", "deliver", "follow"), p.make("boss", "operate")
	assert.Equal(t, "ann", ann.User)
	status, body := p.call(ann.Token, http.MethodPost, "/v1/threads",
		`{"machine":"ask","input":""}`)
	require.Equal(t, 201, status, body)
	assert.Contains(t, body, `"user":"ann"`)
	status, _ = p.call(ann.Token, http.MethodPost, "/v1/threads",
		`{"machine":"ask","input":"","by":"boss"}`)
	assert.Equal(t, 403, status)
	for token, want := range map[string]int{ann.Token: 403, boss.Token: 200, operator: 200} {
		status, _ = p.call(token, http.MethodGet, "/v1/people/tokens", "")
		assert.Equal(t, want, status)
	}
	for _, token := range []string{ann.Token, boss.Token} {
		status, _ = p.call(token, http.MethodPost, "/v1/people/tokens", fmt.Sprintf(
			`{"user":"eve","rights":["operate"],"expires":%d}`,
			p.now().Add(time.Hour).UnixMilli()))
		assert.Equal(t, 403, status, "the operator makes tokens")
	}
	rows, damaged, err := p.tokens.List()
	require.NoError(t, err)
	assert.Empty(t, damaged)
	require.Len(t, rows, 2)
	for _, row := range rows {
		assert.Empty(t, row.Token)
		assert.NotZero(t, row.Used)
		assert.InDelta(t, time.Now().UnixMilli(), row.Used, 60_000)
	}
	files, err := os.ReadDir(p.folder)
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(p.folder, file.Name()))
		require.NoError(t, err)
		assert.NotContains(t, string(data)+file.Name(), strings.TrimPrefix(ann.Token, "ru_"))
		info, err := file.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	second, err := usertoken.Open(p.folder, usertoken.Config{}) // another process
	require.NoError(t, err)
	require.NoError(t, second.Revoke(ann.ID))
	require.NoError(t, second.Revoke(ann.ID), "twice is once")
	status, _ = p.call(ann.Token, http.MethodGet, "/v1/token", "")
	assert.Equal(t, 401, status)
	status, _ = p.call(boss.Token, http.MethodGet, "/v1/token", "")
	assert.Equal(t, 200, status)
	status, _ = p.call(boss.Token, http.MethodDelete, "/v1/people/tokens/"+boss.ID, "")
	assert.Equal(t, 204, status)
	status, _ = p.call(boss.Token, http.MethodGet, "/v1/token", "")
	assert.Equal(t, 401, status)
	cy := p.make("cy", "follow")
	p.ahead = 2 * time.Hour
	status, _ = p.call(cy.Token, http.MethodGet, "/v1/token", "")
	assert.Equal(t, 401, status, "it is over")
}

func TestTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	soon := time.Now().Add(time.Hour).UnixMilli()
	for _, bad := range []usertoken.Token{
		{User: "", Rights: []string{"follow"}, Expires: soon},
		{User: "OPERATOR", Rights: []string{"follow"}, Expires: soon},
		{User: "\u0430nn", Rights: []string{"follow"}, Expires: soon},
		{User: "ann", Expires: soon}, {User: "ann", Rights: []string{"root"}, Expires: soon},
		{User: "ann", Rights: []string{"follow"}, Expires: 1},
		{User: "ann", Rights: []string{"follow"}, Expires: 1<<63 - 1},
	} {
		_, err := p.tokens.Make(bad)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%+v", bad)
	}
	for _, id := range []string{"", "..", "../../x", strings.Repeat("0", 64)} {
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(p.tokens.Revoke(id)))
	}
	for _, token := range []string{"ru_", "ru_x", "rg_x", "", "ru_../../x"} {
		status, _ := p.call(token, http.MethodGet, "/v1/token", "")
		assert.Equal(t, 401, status, token)
	}
	made := p.make("ann", "follow")
	path := filepath.Join(p.folder, made.ID+".json")
	require.NoError(t, os.WriteFile(path, []byte(`{"id":"`), 0o600))
	status, _ := p.call(made.Token, http.MethodGet, "/v1/token", "")
	assert.Equal(t, 503, status, "a damaged file lets nobody in")

	require.NoError(t, os.Chmod(p.folder, 0o755))
	_, err := usertoken.Open(p.folder, usertoken.Config{})
	assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err))
}

// A token whose file is damaged hides no other, and can be told: the list names it.
func TestADamagedFileHidesNoOther(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	var made []usertoken.Token
	for _, user := range []string{"ann", "ben", "cy"} {
		made = append(made, p.make(user, "follow"))
	}
	bad := slices.MinFunc(made, func(a, b usertoken.Token) int { // the first that is read
		return strings.Compare(a.ID, b.ID)
	}).ID
	require.NoError(t, os.WriteFile(filepath.Join(p.folder, bad+".json"), []byte(`{"id":"`),
		0o600))
	// a process that was killed on the way left this
	require.NoError(t, os.WriteFile(filepath.Join(p.folder, "new-1"), []byte(`{`), 0o600))
	status, body := p.call(operator, http.MethodGet, "/v1/people/tokens", "")
	require.Equal(t, 200, status, body)
	var listed struct {
		Items   []usertoken.Token `json:"items"`
		Damaged []string          `json:"damaged"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &listed))
	assert.Len(t, listed.Items, 2)
	assert.Equal(t, []string{bad}, listed.Damaged)
	for _, token := range made {
		status, _ = p.call(operator, http.MethodDelete, "/v1/people/tokens/"+token.ID, "")
		assert.Equal(t, token.ID == bad, status == 404)
		status, _ = p.call(token.Token, http.MethodGet, "/v1/token", "")
		assert.NotEqual(t, 200, status, "revoked, or damaged")
	}
}

// Who lists while tokens are made, as another process does, sees each whole or not at all.
func TestATokenIsThereWhole(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	over := make(chan error)
	go func() {
		for range 300 {
			if _, err := p.tokens.Make(usertoken.Token{User: "ann", Rights: []string{"follow"},
				Expires: p.now().Add(time.Hour).UnixMilli()}); err != nil {
				over <- err
				return
			}
		}
		over <- nil
	}()
	for {
		_, damaged, err := p.tokens.List()
		require.NoError(t, err)
		require.Empty(t, damaged)
		select {
		case err := <-over:
			require.NoError(t, err)
			files, err := filepath.Glob(filepath.Join(p.folder, "new-*"))
			require.NoError(t, err)
			assert.Empty(t, files)
			return
		default:
		}
	}
}
