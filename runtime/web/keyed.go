package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

// requestName is the name of the message entries that say what an Idempotency-Key was used for.
// They are no messages to anybody.
const requestName = "request"

// use is what such an entry says.
type use struct {
	Digest string `json:"digest"`         // of what was asked
	Told   string `json:"told,omitempty"` // and what was answered
}

// digest is what a call asks for, by its content: spaces and the order of keys do not count.
func (c *Call) digest() string {
	body, err := thread.CanonicalJSON(c.body)
	if err != nil {
		body = c.body
	}
	sum := sha256.New()
	_, _ = sum.Write([]byte(c.r.PathValue("thread") + "\x00" + c.r.PathValue("interrupt") + "\x00" +
		c.r.URL.RawQuery + "\x00"))
	_, _ = sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// used returns what an entry says of its key, and refuses a use for something else.
func used(row *thread.Entry, digest string) (told string, err error) {
	var u use
	if err := json.Unmarshal(row.Value, &u); err != nil || u.Digest != digest {
		return "", ErrOtherBody
	}
	return u.Told, nil
}

// commitOnce does something to a thread and returns what is told of it. With an Idempotency-Key the
// commit that does it says so in the log of the thread: the same call again does nothing, and is
// told the same.
func (c *Call) commitOnce(id string, do func(ch *thread.Change) (told string, err error)) (
	t *thread.Thread, told string, err error) {
	request, err := c.RequestID()
	if err != nil {
		return nil, "", err
	}
	return c.commitUse(id, request, c.digest(), do)
}

// commitUse is commitOnce for the use of a key: of the request and the digest of what was asked.
func (c *Call) commitUse(id, request, digest string,
	do func(ch *thread.Change) (told string, err error)) (*thread.Thread, string, error) {
	// not a result: after an unknown outcome the function below may still run and write it, and
	// return writes results
	var told string
	t, err := c.engine.Change(c.Context(), id, func(ch *thread.Change) error {
		row, err := c.engine.FindRequest(c.Context(), ch, request)
		switch {
		case err != nil:
			return err
		case row != nil:
			told, err = used(row, digest)
			return err
		}
		at := len(ch.Entries)
		if request != "" { // before what it is about: nothing follows the end of a thread
			ch.Add(thread.Entry{Type: thread.EntryMessage, Name: requestName, By: c.who.recorded(),
				Request: request})
		}
		if told, err = do(ch); err != nil || request == "" {
			return err
		}
		ch.Entries[at].Value, err = runtime.Encode(use{Digest: digest, Told: told})
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return t, told, nil
}

// reserve notes in the log of a thread what a key is used for, where what it is used for is
// committed on its own and finds its own first result. It refuses another use. told is what
// [Call.tell] kept, "" when that has not happened yet.
func (c *Call) reserve(id, request, digest string) (told string, err error) {
	if request == "" {
		return "", nil
	}
	if err := c.tell(id, request, digest, ""); err != nil {
		return "", err
	}
	row, err := c.engine.ByRequest(c.Context(), id, request+"/told")
	if err != nil || row == nil {
		return "", err
	}
	return used(row, digest)
}

// tell stores the use of a key under a request id, with what was told of it.
func (c *Call) tell(id, request, digest, told string) error {
	_, _, err := c.commitUse(id, request, digest, func(*thread.Change) (string, error) {
		return told, nil
	})
	return err
}

type forkForm struct {
	Seq int64  `json:"seq"`
	ID  string `json:"id,omitempty"`
	By  string `json:"by,omitempty"`
}

type forked struct {
	Thread Thread `json:"thread"`
	After  []Row  `json:"after"` // effects of the source after that point
}

func forkedOf(t *thread.Thread, after []thread.Entry) forked {
	out := forked{threadOf(t), []Row{}}
	for i := range after {
		out.After = append(out.After, rowOf(&after[i]))
	}
	return out
}

// fork makes a thread, whose id follows from the key when the caller names none: so the same call
// finds it.
func (c *Call) fork(f *forkForm) (any, error) {
	if f.ID != "" && !input.ValidID(f.ID) {
		return nil, input.Invalid("/id", "is no id: "+input.IDRule)
	}
	request, err := c.RequestID()
	if err != nil {
		return nil, err
	}
	id := f.ID
	if id == "" && request != "" {
		id = threadID(request)
	}
	made, err := c.engine.Fork(c.Context(), c.r.PathValue("thread"), f.Seq, id, f.By)
	switch code := runtime.CodeOf(err); {
	case err == nil:
	case f.ID == "" && request != "" &&
		(code == runtime.CodeConflict || code == runtime.CodeInvalid):
		// the id is the key's: is the fork another body's?
		if _, absent := c.engine.Thread(c.Context(), id); absent == nil {
			return nil, ErrOtherBody
		}
		fallthrough
	default:
		return nil, err
	}
	return forkedOf(made.Thread, made.After), nil
}
