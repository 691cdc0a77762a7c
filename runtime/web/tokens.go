package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// operatorKey is one of the operator's tokens, as a hash. Its context ends when it is good no
// longer.
type operatorKey struct {
	sum [sha256.Size]byte
	//nolint:containedctx // the life of the token, which the streams opened with it share
	life context.Context
	end  context.CancelFunc
}

// SetOperatorTokens has the server take these tokens as the operator's from now on, one or two of
// at least 32 bytes, and no others: streams and sockets of one that is not among them end. To
// change the token without a restart, set the old and the new one, then the new one alone. It may
// be called at any time. It refuses with CodeInvalid and changes nothing then.
func (s *Server) SetOperatorTokens(tokens ...string) error {
	const op = "set operator tokens"
	if len(tokens) < 1 || len(tokens) > 2 {
		return runtime.Errorf(runtime.CodeInvalid, op, "one or two are taken, not %d", len(tokens))
	}
	for _, token := range tokens {
		if len(token) < minToken {
			return runtime.Errorf(runtime.CodeInvalid, op,
				"the operator's token has less than 32 bytes: use OpenToken")
		}
	}
	s.keysMu.Lock()
	defer s.keysMu.Unlock()
	var keys []*operatorKey
	for _, token := range tokens {
		sum := sha256.Sum256([]byte(token))
		k := keyOf(s.keys, sum)
		if k == nil {
			k = newOperatorKey(sum)
		}
		keys = append(keys, k)
	}
	for _, old := range s.keys {
		if keyOf(keys, old.sum) == nil {
			old.end()
		}
	}
	s.keys = keys
	return nil
}

func newOperatorKey(sum [sha256.Size]byte) *operatorKey {
	k := &operatorKey{sum: sum}
	k.life, k.end = context.WithCancel(context.Background())
	return k
}

// operatorKey returns the operator's key that a token is, nil if it is none.
func (s *Server) operatorKey(token string) *operatorKey {
	s.keysMu.Lock()
	defer s.keysMu.Unlock()
	return keyOf(s.keys, sha256.Sum256([]byte(token)))
}

// keyOf looks at all keys, however soon one fits.
func keyOf(keys []*operatorKey, sum [sha256.Size]byte) (found *operatorKey) {
	for _, k := range keys {
		if subtle.ConstantTimeCompare(k.sum[:], sum[:]) == 1 {
			found = k
		}
	}
	return found
}

// tokens lists the capability tokens of a thread, those that have ended too, the oldest first.
func (c *Call) tokens() (any, error) {
	name := c.r.PathValue("thread")
	entries, err := c.entries(c.Context(), name, maxReplay)
	if err != nil {
		return nil, err
	}
	out := list[Grant]{Items: []Grant{}}
	at := map[string]int{} // places by id
	for n := range entries {
		e := &entries[n]
		kind, id, _ := strings.Cut(e.Request, "/")
		switch place, known := at[id]; {
		case e.Type == thread.EntryMessage && e.Name == grantName && kind == grantName:
			var row Grant
			// one that a fork has copied is of the thread it was made for
			if json.Unmarshal(e.Value, &row) != nil || row.Thread != name {
				continue
			}
			row.Made, row.MadeBy = millis(e.At), e.By
			row.Actions = readActions(row.Actions)
			at[id], out.Items = len(out.Items), append(out.Items, row)
		case known && kind == revokedName:
			out.Items[place].Revoked = millis(e.At)
		case known && kind == spentName:
			out.Items[place].Spent = millis(e.At)
		}
	}
	return out, nil
}
