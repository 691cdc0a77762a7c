package thread

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/routegen/routegen/runtime"
)

// InterruptState is the state of a stored interrupt. All but the first two are final.
type InterruptState string

// The states of an interrupt.
const (
	InterruptOpen     InterruptState = "open"
	InterruptQueued   InterruptState = "queued" // waits for a more urgent one
	InterruptAnswered InterruptState = "answered"
	// InterruptSuperseded: a more urgent one took its place; the asker may ask again
	InterruptSuperseded InterruptState = "superseded"
	InterruptCancelled  InterruptState = "cancelled"
	InterruptExpired    InterruptState = "expired"
)

// The kinds that every program has. user_escape and system_error are raised by the engine only.
const (
	KindUserEscape    = "user_escape"
	KindAgentQuestion = "agent_question"
	KindSystemError   = "system_error"
)

// Interrupt is the stored record of one open question on a thread. It carries all that an answer is
// checked against, so a program without the code that asked can take the answer. Nothing of it is
// deleted when it is answered.
type Interrupt struct {
	ID       string         `json:"id"`
	Thread   string         `json:"thread"`
	Frame    string         `json:"frame,omitempty"` // "" for a user escape, which holds all frames
	Node     string         `json:"node,omitempty"`  // name of the frame
	Step     string         `json:"step,omitempty"`
	Visit    int            `json:"visit,omitempty"`
	Kind     string         `json:"kind"`
	Priority int            `json:"priority"` // row of the kind: the lowest wins a clash
	State    InterruptState `json:"state"`
	Question
	Digest  string          `json:"digest"` // of the question, see [DigestOf]
	Context json.RawMessage `json:"context,omitempty"`

	Created time.Time `json:"created"`
	Due     time.Time `json:"due,omitzero"` // when the deadline's policy acts
	// zero when there is no reminder, or it went out
	RemindAt time.Time `json:"remindAt,omitzero"`
	// how long before Due, in nanoseconds
	RemindBefore time.Duration `json:"remindBefore,omitempty"`
	// who is asked since the deadline, in place of the Assignees
	EscalatedTo string `json:"escalatedTo,omitempty"`
	// answers that were unclear and made it ask again
	Asks      int    `json:"asks,omitempty"`
	AskedFor  string `json:"askedFor,omitempty"` // the user whose thread asks
	ClaimedBy string `json:"claimedBy,omitempty"`
	// when the claim ends; zero in records of older programs, whose claims end when they are laid
	// down or taken over
	ClaimedUntil time.Time       `json:"claimedUntil,omitzero"`
	Votes        []Vote          `json:"votes,omitempty"`
	Answer       json.RawMessage `json:"answer,omitempty"`
	RouteTo      string          `json:"routeTo,omitempty"` // the answer was: go on over there
	AnsweredBy   string          `json:"answeredBy,omitempty"`
	Request      string          `json:"request,omitempty"` // id of the request that answered
	ClosedAt     time.Time       `json:"closedAt,omitzero"`
	SupersededBy string          `json:"supersededBy,omitempty"`
	// how often a more urgent one queued or superseded it
	Clashes int `json:"clashes,omitempty"`
}

// How plain text is read as an answer.
const (
	PlainText   = "text"   // the text is the answer, as a JSON string
	PlainYesNo  = "yes_no" // true or false by [YesNo]
	PlainChoice = "choice" // the value of the one choice it names, by label, value or number
)

// Question is the part of an interrupt that the asker sets.
type Question struct {
	// of the interrupt; "" means agent_question
	Kind string `json:"-"`
	// the node that asks, for the inbox; "" means the name of the frame
	Asker string `json:"-"`
	// unique in its step; identifies the answers
	Name string `json:"name"`
	Text string `json:"text,omitempty"` // what a person reads
	// interrupt type, for policies that answer by type
	Type    string          `json:"type,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"` // what it is about
	// JSON Schema of the answer; absent means any JSON
	Schema json.RawMessage `json:"schema,omitempty"`
	// what to offer; the schema decides what is legal
	Choices []Choice `json:"choices,omitempty"`
	// how plain text is read, see the Plain constants; "" means it is no answer
	Plain    string `json:"plain,omitempty"`
	Language string `json:"language,omitempty"` // of plain text; "" means English
	// where an answer may send the work with route_to
	Targets []string `json:"targets,omitempty"`

	Assignees []string `json:"assignees,omitempty"` // who may answer; empty means anybody
	NotOwn    bool     `json:"notOwn,omitempty"`    // the user of the thread may not answer
	// how many must give the same answer; 0 and 1 mean one
	Quorum   int               `json:"quorum,omitempty"`
	Deadline *runtime.Deadline `json:"policy,omitempty"` // nil means the kind's
}

// Choice is one offer to a person.
type Choice struct {
	Label       string          `json:"label"`
	Value       json.RawMessage `json:"value,omitempty"`
	Description string          `json:"description,omitempty"`
}

// Vote is one person's answer where several are needed.
type Vote struct {
	By    string          `json:"by"`
	Value json.RawMessage `json:"value,omitempty"`
	At    time.Time       `json:"at"`
}

// DigestOf returns what binds an answer to what the person was asked: the SHA-256 of the question,
// cut to 128 bits. Spaces in its JSON do not count. The digest of an interrupt is made when it is
// asked, from what the asker gave, and travels with it: a store may encode in its own way. The
// context is not part of it: it says how far the work had come, and may have gone on when the step
// runs again.
func DigestOf(q *Question) string {
	h := sha256.New()
	part := func(data []byte) { // with its length: no two questions give the same bytes
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(data)))
		h.Write(n[:])
		h.Write(data)
	}
	for _, text := range []string{q.Name, q.Text, q.Type} {
		part([]byte(text))
	}
	part(spaceless(q.Payload))
	part(spaceless(q.Schema))
	part([]byte(strconv.Itoa(len(q.Choices))))
	for _, c := range q.Choices {
		part([]byte(c.Label))
		part(spaceless(c.Value))
		part([]byte(c.Description))
	}
	for _, target := range q.Targets {
		part([]byte(target))
	}
	var sum [sha256.Size]byte
	var text [sha256.Size]byte // of the first half
	hex.Encode(text[:], h.Sum(sum[:0])[:sha256.Size/2])
	return string(text[:])
}

// spaceless is compactJSON for JSON that is usually compact already.
func spaceless(data json.RawMessage) []byte {
	if bytes.ContainsAny(data, " \n\r\t") {
		return compactJSON(data)
	}
	return data
}

// Answerers returns who may answer; empty means anybody.
func (i *Interrupt) Answerers() []string {
	if i.EscalatedTo != "" {
		return []string{i.EscalatedTo}
	}
	return i.Assignees
}

// ClaimedAt returns who has claimed the interrupt at a time; "" if nobody has, or the claim has
// ended.
func (i *Interrupt) ClaimedAt(now time.Time) string {
	if isPast(i.ClaimedUntil, now) {
		return ""
	}
	return i.ClaimedBy
}

// EngineAsks reports whether the engine itself asks: about a failed step, an effect whose end is
// unknown, or a pause. The answer is an order to it.
func (i *Interrupt) EngineAsks() bool {
	return i.Kind == KindUserEscape || i.Kind == KindSystemError
}

// reminder returns when to remind of a deadline; zero when there is nothing to remind of.
func (i *Interrupt) reminder(due time.Time) time.Time {
	if i.RemindBefore == 0 || due.IsZero() {
		return time.Time{}
	}
	return due.Add(-i.RemindBefore)
}

// asAsked returns the interrupt as it was when it was asked.
func (i *Interrupt) asAsked(state InterruptState, due time.Time) *Interrupt {
	out := *i
	out.State, out.Due, out.RemindAt = state, due, i.reminder(due)
	out.EscalatedTo, out.ClaimedBy, out.AnsweredBy, out.Request, out.RouteTo = "", "", "", "", ""
	out.Asks, out.Votes, out.Answer, out.ClosedAt, out.Clashes = 0, nil, nil, time.Time{}, 0
	out.ClaimedUntil = time.Time{}
	if state != InterruptSuperseded {
		out.SupersededBy = ""
	} else {
		out.ClosedAt = i.Created
	}
	if state != InterruptOpen {
		out.Clashes = 1
	}
	return &out
}

// compact removes the spaces from the question's JSON, so that what is stored has the bytes that
// were digested. The list of choices is copied first: it is the caller's.
func (q *Question) compact() {
	q.Payload, q.Schema = compactJSON(q.Payload), compactJSON(q.Schema)
	q.Choices = slices.Clone(q.Choices)
	for n := range q.Choices {
		q.Choices[n].Value = compactJSON(q.Choices[n].Value)
	}
}

// compactJSON returns JSON without spaces, and anything else unchanged.
func compactJSON(data json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if data == nil || json.Compact(&b, data) != nil {
		return data
	}
	return b.Bytes()
}
