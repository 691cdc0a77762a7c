package thread

import (
	"context"
	"time"
)

// Store keeps threads. It is the only port between the engine and a disk; store/storetest holds
// every store to what is written here.
//
// # Ten laws
//
// Each was learned from a failure of another system, and each method serves them:
//
//  1. Persist, sync, then announce. Commit returns when the change would survive a loss of
//     power, and not before.
//  2. Every interrupt has its own random id and a digest of what was shown.
//  3. An answer is one compare-and-set from open to answered, and is stored with it. The same
//     answer again finds the first result; a different one is refused.
//  4. Taking an answer is one compare-and-set too: the step it leads to and the mark that it is
//     used are one commit, under the fence of the engine that drives the thread.
//  5. A reroute event is matched by thread and target, taken in the same commit, and taken once.
//  6. Nothing is deleted on answer. Final interrupts and the log stay.
//  7. Status is computed from the record. Columns that a store derives from it, to find threads,
//     are written in the same commit.
//  8. Ids, fingerprint and input are in the record: nothing that resuming needs is kept
//     elsewhere.
//  9. An interrupt is a normal result. No layer treats it as an error, so no layer retries it.
//  10. An unknown outcome, such as a timeout, is resolved by reading back, never by assuming.
//
// # Writing a store
//
// A store takes three things apart: the thread (everything of [Thread] but Open), its interrupts,
// and its log. From a [Change] it takes Thread, Before, Fence, Copied, Entries and Interrupts and
// nothing else. Copied, where it is not nil, yields entries that come before Entries, and refuses
// the commit with the error that it yields; a store walks it before it holds a lock, since it reads
// from the store, and keeps no more of it in memory than it must. What encoding/json makes of each
// is all that must be kept, with a checksum that a flipped bit does not survive: a damaged record
// is an error, never a fresh start. A change with what JSON cannot hold is refused with
// [runtime.CodeInvalid]: a value that is not JSON, a text that is not UTF-8, a time after the year
// 9999. Beside the record a store keeps what it must find things by: for a thread id, version,
// fence, status, owner and wake time; for an interrupt its id, thread, state, kind, priority, node,
// assignees and creation time; for entries thread, seq and request.
//
// The tenant of a thread is the part of its id before the first slash, "" for an id without one:
// see [SplitID]. A query with a Tenant returns nothing of other tenants, whatever else it selects.
//
// All methods may be called by any number of goroutines. What they return belongs to the caller for
// reading only, but for the slice of a query. A store that cannot be reached, is full or read-only
// refuses with [runtime.CodeUnavailable] and has changed nothing; damaged data is refused with
// [runtime.CodeInternal], and harms only the thread it belongs to; a closed store refuses with
// [runtime.CodeUnavailable].
//
// So does every method whose context is over when it is called, and nothing is done then. A context
// that ends during a call may cut it short with the same refusal, or come too late and change
// nothing. A commit is not torn by it: it is taken back as a whole and refused, or done and
// returned without an error. Only a store that cannot know which of the two happened may refuse
// what it has done; for that there is law 10.
type Store interface {
	// Load returns the thread with its open and queued interrupts, all as of one commit, in the
	// order in which they first stood in the Interrupts of a change. An unknown id is refused with
	// [runtime.CodeNotFound].
	Load(ctx context.Context, thread string) (*Thread, error)

	// Commit makes all the changes durable, or none of them, and returns then. Each is a
	// compare-and-set: the stored version must be Change.Before (0: there is no such thread), and
	// the stored fence must be Change.Fence where that is not 0. The whole call is refused with
	// [runtime.CodeConflict] otherwise, and also for a request id that the thread's log, or another
	// entry of the change, has already, for an interrupt id that another thread has, and for a
	// fence together with Before 0. Two changes of one thread in a call are refused.
	//
	// Commits of other threads may share one sync with this one, and do not wait for one another
	// longer than that takes.
	Commit(ctx context.Context, changes ...*Change) error

	// Interrupts returns the interrupts that match, most urgent first: by priority, then creation
	// time, then id. With ByAge it returns them in the order in which they were first committed.
	Interrupts(ctx context.Context, q InterruptQuery) ([]*Interrupt, error)

	// Log returns the entries that match, in the order they were committed. An entry whose commit
	// has returned is there; nothing appears later at an earlier place, so a reader that goes on
	// after the last cursor it saw misses nothing.
	Log(ctx context.Context, q LogQuery) ([]Entry, error)

	// Threads returns the threads that match, by wake time when WakeBefore is set, and by id
	// otherwise.
	Threads(ctx context.Context, q Query) ([]Summary, error)
}

// DefaultLimit is how many rows a query without a limit returns.
const DefaultLimit = 100

// InterruptQuery selects interrupts. Zero fields do not select; set ones must all match.
type InterruptQuery struct {
	Tenant *string // of their threads; nil means all. An [Engine] sets its own
	ID     string  // one of any state
	Thread string
	States []InterruptState // empty means open; with ID or Thread set it means any
	Kinds  []string
	Nodes  []string
	// any of them may answer it: named in Interrupt.Answerers, or there are none there
	Assignees []string
	Before    time.Time      // created before this time
	After     *InterruptMark // go on after this one
	Limit     int            // at most; 0 means [DefaultLimit]

	// ByAge returns the oldest first, for readers of all pages: each page costs what it returns,
	// however many there are. Of After only the ID counts then, which must be that of a stored
	// interrupt: after any other there is none.
	ByAge bool

	// Brief asks for what [Engine.Stats] counts: the ID, Kind, Node and State, Created and ClosedAt
	// in whole milliseconds, AnsweredBy, Asks, Clashes, and the first of Interrupt.Answerers. The
	// store may leave out the rest, and need not look for damage in it.
	Brief bool
}

// InterruptMark is a place in the order of interrupts.
type InterruptMark struct {
	Priority int
	Created  time.Time
	ID       string
}

// LogQuery selects entries: those of one thread, or those of all threads.
type LogQuery struct {
	Tenant   *string // of their threads; nil means all
	Thread   string  // "" means all
	AfterSeq int64   // with Thread: later than this entry of the thread
	After    int64   // later than this cursor; 0 is the beginning
	Request  string  // with Thread: only the entry with this request id
	Limit    int     // at most; 0 means [DefaultLimit]
}

// Query selects threads. Zero fields do not select; set ones must all match.
type Query struct {
	Tenant     *string // nil means all. An [Engine] sets its own
	Statuses   []Status
	Owner      string    // of the lease
	WakeBefore time.Time // at or before this time an engine must look at it
	AfterID    string    // go on after this thread; not together with WakeBefore
	Limit      int       // at most; 0 means [DefaultLimit]
}

// Summary is what a list shows of a thread.
type Summary struct {
	ID          string
	Version     int64
	Status      Status
	Owner       string
	Wake        time.Time // zero means never
	Fingerprint string
}

// Presence is a [Store] that knows which engines have it open. An engine announces itself when it
// begins, and its leases name the id that it got; so the threads of a process that died are taken
// up at once, where they would wait for the end of their leases otherwise.
type Presence interface {
	// Announce returns an id that no other engine has or had. The engine is present until it calls
	// leave, or its process ends in whatever way.
	Announce(ctx context.Context) (id string, leave func(), err error)
	// Ended reports that the engine of that id was announced here, and certainly is present no
	// longer. It returns false for an id that Announce did not make.
	Ended(id string) bool
}
