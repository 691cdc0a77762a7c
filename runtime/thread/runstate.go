package thread

// runState says how far a run of a step has come. It is guarded by the run's mutex and only moves
// forward:
//
//	running → draining             its frame ended, its time limit passed, or the engine closes
//	running, draining → suspended  it met a safe point, and was told to end there
//	running, draining → ended      its handler returned, or was given up
//	suspended → endedSuspended     likewise
//	endedSuspended → ended         the store rejects what it did: it has failed
type runState uint8

const (
	running   runState = iota // effects and questions may begin
	draining                  // no new effects; results that are stored are still returned
	suspended                 // nothing begins, and what the handler returns does not count
	ended                     // whatever the handler still does is ignored
	// ended, and kept from something: the step runs again
	endedSuspended
)

func (s runState) hasEnded() bool    { return s >= ended }
func (s runState) isSuspended() bool { return s == suspended || s == endedSuspended }

// suspend has the handler end without a result.
func (r *stepRun) suspend() {
	if r.state < suspended {
		r.state = suspended
	}
}

// recordState says whether a run belongs to the stored record. Only the goroutine that drives the
// thread reads and moves it:
//
//	unstored → stored         the record that the run began on was committed
//	unstored, stored → stale  the record has another result of an effect that the run has used
//	any → abandoned           another engine drives the thread
type recordState uint8

const (
	unstored recordState = iota
	stored
	stale     // what the run does from here on is not the thread's
	abandoned // what the run does is dropped, and its end is ignored
)
