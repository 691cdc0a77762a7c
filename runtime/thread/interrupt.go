package thread

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
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
	// InterruptSuperseded means that a more urgent one took its place. The asker may ask again.
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
	ID     string `json:"id"`
	Thread string `json:"thread"`
	// Frame is "" for a user escape, which holds all frames.
	Frame string `json:"frame,omitempty"`
	// Node is the name of the frame, or the Asker of the question.
	Node  string `json:"node,omitempty"`
	Step  string `json:"step,omitempty"`
	Visit int    `json:"visit,omitempty"`
	Kind  string `json:"kind"`
	// Priority is the row of the kind: of two interrupts that clash the one with the lower number
	// is shown first.
	Priority int            `json:"priority"`
	State    InterruptState `json:"state"`
	Question
	// Digest is that of the question, see [DigestOf].
	Digest  string          `json:"digest"`
	Context json.RawMessage `json:"context,omitempty"`

	Created time.Time `json:"created"`
	// Due is when the policy of the deadline acts; zero means never.
	Due time.Time `json:"due,omitzero"`
	// RemindAt is zero if there is no reminder, or if it was sent.
	RemindAt time.Time `json:"remindAt,omitzero"`
	// RemindBefore is how long before Due the reminder is sent, in nanoseconds.
	RemindBefore time.Duration `json:"remindBefore,omitempty"`
	// EscalatedTo is asked in place of the Assignees since the deadline has passed.
	EscalatedTo string `json:"escalatedTo,omitempty"`
	// Asks is the number of unclear answers, after each of which it was asked again.
	Asks int `json:"asks,omitempty"`
	// AskedFor is the user of the thread.
	AskedFor  string `json:"askedFor,omitempty"`
	ClaimedBy string `json:"claimedBy,omitempty"`
	// ClaimedUntil is when the claim ends. It is zero for claims stored by older programs, which
	// last until they are released or taken over.
	ClaimedUntil time.Time       `json:"claimedUntil,omitzero"`
	Votes        []Vote          `json:"votes,omitempty"`
	Answer       json.RawMessage `json:"answer,omitempty"`
	// RouteTo is set if the answer sent the work elsewhere.
	RouteTo    string `json:"routeTo,omitempty"`
	AnsweredBy string `json:"answeredBy,omitempty"`
	// Request is the id of the request that answered.
	Request      string    `json:"request,omitempty"`
	ClosedAt     time.Time `json:"closedAt,omitzero"`
	SupersededBy string    `json:"supersededBy,omitempty"`
	// Clashes is how often a more urgent interrupt queued or superseded this one.
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
	// Kind is the kind of the interrupt; "" means agent_question.
	Kind string `json:"-"`
	// Asker is the node under which the inbox lists the question; "" means the name of the frame.
	Asker string `json:"-"`
	// Name identifies the answers. It is unique in its step.
	Name string `json:"name"`
	// Text is what a person reads.
	Text string `json:"text,omitempty"`
	// Type is the interrupt type, for policies that answer by type.
	Type string `json:"type,omitempty"`
	// Payload is what the question is about.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Schema is the JSON Schema of the answer; absent means any JSON.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Choices are what to offer. Schema decides which answers are legal.
	Choices []Choice `json:"choices,omitempty"`
	// Plain says how plain text is read, see the Plain constants; "" means that plain text is no
	// answer.
	Plain string `json:"plain,omitempty"`
	// Language is that of plain text; "" means English.
	Language string `json:"language,omitempty"`
	// Targets are the places to which an answer may send the work with route_to.
	Targets []string `json:"targets,omitempty"`

	// Assignees may answer: people, and groups after [runtime.GroupPrefix]. If there are none,
	// those of the kind may, and anybody if it has none either.
	Assignees []string `json:"assignees,omitempty"`
	// NotOwn means that the user of the thread may not answer.
	NotOwn bool `json:"notOwn,omitempty"`
	// Quorum is how many people must give the same answer; 0 and 1 mean one.
	Quorum int `json:"quorum,omitempty"`
	// Deadline is nil for that of the kind.
	Deadline *runtime.Deadline `json:"policy,omitempty"`
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

// Answerers returns who may answer: people, and groups after [runtime.GroupPrefix]; empty means
// anybody.
func (i *Interrupt) Answerers() []string {
	if i.EscalatedTo != "" {
		return []string{i.EscalatedTo}
	}
	return i.Assignees
}

// assign gives an interrupt whose asker names no assignees those of its kind.
func (i *Interrupt) assign(rules *Rules) {
	if row, _ := rules.Kind(i.Kind); len(i.Assignees) == 0 {
		i.Assignees = slices.Clone(row.Assignees)
	}
}

// asksGroup reports whether a group may answer, whose members nobody here can count.
func (i *Interrupt) asksGroup() bool {
	return slices.ContainsFunc(i.Assignees, func(who string) bool {
		return strings.HasPrefix(who, runtime.GroupPrefix)
	})
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
