package usertoken

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// Config is what the tokens of a folder can be told. The zero value works.
type Config struct {
	MaxLife time.Duration    // the longest that a token may live; default: 90 days
	Now     func() time.Time // for the end of tokens; default: time.Now
}

// Tokens are the bearer tokens of people in a folder. Its methods may be called at the same time,
// and several processes may have one folder.
type Tokens struct {
	folder string
	cfg    Config
}

// Token is one of them. Times are Unix milliseconds.
type Token struct {
	ID      string   `json:"id"`              // to revoke it by
	Token   string   `json:"token,omitempty"` // once, when it is made
	Tenant  string   `json:"tenant,omitempty"`
	User    string   `json:"user"`
	Groups  []string `json:"groups,omitempty"`
	Rights  []string `json:"rights"`
	Made    int64    `json:"made"`
	Expires int64    `json:"expires"`
	Used    int64    `json:"used,omitempty"` // last, to a minute
	Revoked int64    `json:"revoked,omitempty"`
}

// prefix begins the tokens, so that others are told from them.
const prefix = "ru_"

// The files of a token are its id with these behind.
const (
	madeFile    = ".json"
	usedFile    = ".used"
	revokedFile = ".revoked"
)

// Open uses a folder, and makes it where it is not there. One that others than its owner may enter
// is refused with CodeForbidden.
func Open(folder string, cfg Config) (*Tokens, error) {
	op := "open tokens " + folder
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	case info.Mode().Perm()&0o077 != 0:
		return nil, runtime.Errorf(runtime.CodeForbidden, op,
			"others may enter it (%s): chmod 700, and make new tokens", info.Mode().Perm())
	}
	cfg.MaxLife = cmp.Or(cfg.MaxLife, 90*24*time.Hour)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Tokens{folder, cfg}, nil
}

func (t *Tokens) path(id, kind string) string { return filepath.Join(t.folder, id+kind) }

// Make makes a token, with the ID, Token and Made of what it returns. The user is a name that
// somebody types: it gets its [web.NormalName]. It refuses with CodeInvalid a user whom the server
// would not let in, rights that do not exist, and an end that is over or too far away.
func (t *Tokens) Make(asked Token) (*Token, error) {
	const op = "make token"
	user, err := web.NormalName(asked.User)
	if err != nil {
		return nil, err
	}
	who := web.Identity{User: user, Rights: asked.Rights}
	now := t.cfg.Now()
	switch end := time.UnixMilli(asked.Expires); {
	case who.CheckIdentity() != nil:
		return nil, runtime.Errorf(runtime.CodeInvalid, op, "%w", who.CheckIdentity())
	case len(asked.Rights) == 0:
		return nil, runtime.Errorf(runtime.CodeInvalid, op, "it has no rights: say what it is for")
	case !now.Before(end):
		return nil, runtime.Errorf(runtime.CodeInvalid, op, "its end is not in the future")
	case asked.Expires > now.Add(t.cfg.MaxLife).UnixMilli():
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"its end is more than %s away, the longest life of a token here", t.cfg.MaxLife)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	made := &Token{Tenant: asked.Tenant, User: user, Groups: asked.Groups, Rights: asked.Rights,
		Expires: asked.Expires, Made: now.UnixMilli()}
	text := prefix + base64.RawURLEncoding.EncodeToString(secret)
	made.ID = idOf(text)
	data, err := json.Marshal(made)
	if err == nil {
		err = t.store(made.ID, data)
	}
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	made.Token = text
	return made, nil
}

func idOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// store writes the file of a new token. Under its name it is there whole, or not at all.
func (t *Tokens) store(id string, data []byte) error {
	file, err := os.CreateTemp(t.folder, "new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), t.path(id, madeFile))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// create makes an empty file that is not there yet.
func create(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

var errBad = errors.New("the token is unknown, over or revoked")

// Authenticate says whose token a request has. It is for [web.Config.Authenticate]. A request with
// another token or none gets [web.ErrNoCredential].
func (t *Tokens) Authenticate(r *http.Request) (web.Identity, error) {
	text := web.BearerToken(r)
	if !strings.HasPrefix(text, prefix) {
		return web.Identity{}, web.ErrNoCredential
	}
	row, err := t.read(idOf(text))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return web.Identity{}, errBad
	case err != nil:
		return web.Identity{}, runtime.Errorf(runtime.CodeUnavailable, "read token", "%w", err)
	}
	now, end := t.cfg.Now(), time.UnixMilli(row.Expires)
	if row.Revoked > 0 || !now.Before(end) {
		return web.Identity{}, errBad
	}
	if now.Sub(time.UnixMilli(row.Used)) >= time.Minute {
		t.noteUse(row.ID, now)
	}
	return web.Identity{Tenant: row.Tenant, User: row.User, Groups: row.Groups,
		Rights: row.Rights, Expires: end}, nil
}

// noteUse stores that a token was used. That it cannot be stored keeps nobody out.
func (t *Tokens) noteUse(id string, now time.Time) {
	path := t.path(id, usedFile)
	if os.Chtimes(path, now, now) != nil && create(path) == nil {
		_ = os.Chtimes(path, now, now)
	}
}

// read returns a token as it is now, without its text.
func (t *Tokens) read(id string) (*Token, error) {
	if _, err := hex.DecodeString(id); err != nil || len(id) != 2*sha256.Size {
		return nil, fs.ErrNotExist
	}
	data, err := os.ReadFile(t.path(id, madeFile))
	if err != nil {
		return nil, err
	}
	var row Token
	if err := json.Unmarshal(data, &row); err != nil || row.ID != id {
		return nil, fmt.Errorf("file %s of the folder is damaged: remove it", id+madeFile)
	}
	for kind, at := range map[string]*int64{usedFile: &row.Used, revokedFile: &row.Revoked} {
		info, err := os.Stat(t.path(id, kind))
		switch {
		case err == nil:
			*at = info.ModTime().UnixMilli()
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return &row, nil
}

// List returns all tokens, those that have ended too, the oldest first, without their texts; and
// the ids of those whose files cannot be read, which let their people in no longer.
func (t *Tokens) List() (tokens []Token, damaged []string, err error) {
	files, err := os.ReadDir(t.folder)
	if err != nil {
		return nil, nil, runtime.Errorf(runtime.CodeUnavailable, "list tokens", "%w", err)
	}
	tokens, damaged = []Token{}, []string{}
	for _, file := range files {
		id, is := strings.CutSuffix(file.Name(), madeFile)
		if !is {
			continue
		}
		if row, err := t.read(id); err == nil {
			tokens = append(tokens, *row)
		} else if !errors.Is(err, fs.ErrNotExist) {
			damaged = append(damaged, id)
		}
	}
	slices.SortFunc(tokens, func(a, b Token) int {
		return cmp.Or(cmp.Compare(a.Made, b.Made), strings.Compare(a.ID, b.ID))
	})
	return tokens, damaged, nil
}

// Revoke ends a token, for good; its streams end within Config.Beat of the server. An id of none is
// refused with CodeNotFound.
func (t *Tokens) Revoke(id string) error {
	const op = "revoke token"
	if _, err := t.read(id); errors.Is(err, fs.ErrNotExist) {
		return runtime.Errorf(runtime.CodeNotFound, op, "there is no token with the id %q", id)
	}
	if err := create(t.path(id, revokedFile)); err != nil && !errors.Is(err, fs.ErrExist) {
		return runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	return nil
}
