package storetest

// clauses is the contract. from names where each is promised: a method or type of package runtime, a law of the comment on Store, or a row
// of the list of bugs elsewhere.
var clauses = []clause{
	{"a commit makes a thread and then changes it", "Commit: durable, returns then", always, commitNew},
	{"version 0 is refused where the thread exists", "Commit: 0 means there is no such thread", always, commitZeroOnExisting},
	{"a commit on an old version is refused", "Commit: the stored version must be Before; law 3", always, commitStale},
	{"a commit on a version to come is refused", "Commit: the stored version must be Before", always, commitFuture},
	{"a commit with another fence is refused", "Commit: the stored fence must be Fence where that is not 0; law 4", always, commitFence},
	{"a fence is refused where there is no thread", "Commit: a fence together with Before 0 is refused", always, commitFenceOnNew},
	{"changes of one call are committed together", "Commit: all the changes", always, commitSeveral},
	{"one losing change undoes the whole call", "Commit: or none of them, in every query", always, commitAllOrNothing},
	{"two changes of one thread in a call are refused", "Commit: changes of one call are of different threads", always, commitTwiceInOneCall},
	{"a request id is used once in a thread", "Commit: so is an entry whose request id another entry has", always, commitRequestTwice},
	{"an interrupt id is used once in all threads", "Commit: so is an interrupt whose id another thread has", always, commitInterruptOfAnother},
	{"what a caller changes after its commit is not seen", "Thread: never changed again", always, commitKeepsNothingOfTheCaller},
	{"open interrupts come from the interrupts of changes", "Store: everything of Thread but Open", always, commitTakesInterrupts},

	{"an unknown thread is not found", "Load: refused with not_found", always, loadUnknown},
	{"a load has open and queued interrupts in asked order", "Load: in the order in which they first stood in a change", always, loadPending},
	{"a load is of one commit", "Load: all as of one commit", always, loadIsOneCommit},
	{"what was loaded stays as it is", "Thread: never changed again", always, loadedStays},
	{"data never overwrites an interrupt", "row 14: an ordinary write of the same step took the interrupt's place", always, dataAndInterrupt},
	{"list and load agree on what is pending", "row 15: the list left out what the record had", always, listAndLoadAgree},

	{"empty states mean open, or any with id or thread", "InterruptQuery.States", always, inboxStates},
	{"interrupts come by priority, time and id", "Interrupts: most urgent first", always, inboxOrder},
	{"a mark goes on exactly behind itself", "InterruptQuery.After", always, inboxPages},
	{"interrupts by age come in the order of their first commit", "InterruptQuery.ByAge", always, inboxAges},
	{"every filter of interrupts selects, and all must match", "InterruptQuery", always, inboxFilters},
	{"values of interrupt filters are only values", "InterruptQuery: no text is a pattern or a query", always, inboxOddValues},
	{"interrupts have a default limit", "InterruptQuery.Limit", always, inboxLimits},
	{"a closed interrupt leaves the inbox and is kept", "laws 3 and 6; row 4: a resolved interrupt came again", always, inboxForgets},

	{"the log is in the order of commits", "Log: in the order they were committed, and there when the commit returned", always, logOrder},
	{"every filter of the log selects at exact places", "LogQuery", always, logQueries},
	{"request ids are only values", "LogQuery.Request", always, logOddRequests},
	{"the log has a default limit", "LogQuery.Limit", always, logLimits},
	{"a reader that follows its cursor misses nothing", "Log: nothing appears later at an earlier place", always, logFollowed},

	{"threads are found by status", "ThreadQuery.Statuses", always, rowsByStatus},
	{"rows say what the record says after each commit", "law 7", always, rowsAreComputed},
	{"threads are found by owner", "ThreadQuery.Owner", always, rowsByOwner},
	{"threads are found by wake time, in its order", "ThreadQuery.WakeBefore: at or before", always, rowsByWake},
	{"threads come by id, in pages", "Threads: by id otherwise; ThreadQuery.AfterID", always, rowsByID},
	{"threads have a default limit", "ThreadQuery.Limit", always, rowsLimits},

	{"a record with every field set comes back", "law 8", always, valuesAllSet},
	{"records of any shape come back", "law 8", always, valuesRoundTrip},
	{"absent, null, false, 0 and empty stay apart", "law 3: presence decides", always, valuesPresence},
	{"a digest still fits what was shown", "law 2: a digest of what was shown", always, valuesKeepTheirDigest},
	{"large values come back", "law 8", always, valuesLarge},
	{"ids are only ids", "Store: no text is a path, a pattern or a subject", always, valuesOddIDs},

	{"of those who race for a version one wins", "Commit: compare-and-set; law 3", always, oneWinner},
	{"of those who race with a request one wins", "Commit: request ids", always, oneRequest},
	{"commits of the same two threads do not block or tear", "Commit: do not wait for one another", always, crossing},
	{"loads and commits of a thread are linearizable", "Load, Commit; row 3 of the test plan", always, linearizable},
	{"random lives of threads match the model", "laws 3 to 7; row 2 of the test plan", always, modelled},

	{"a cancelled context does nothing", "Store: a context that is over refuses with unavailable", always, cancelled},
	{"a context that ends in a commit leaves all or nothing", "Store: taken back, or done and said so", always, cutShort},
	{"a closed store is unavailable", "Store: a closed store refuses with unavailable", closes, closed},
	{"everything survives closing and opening", "Commit: durable; laws 1, 6 and 8", durable, reopened},
	{"damage is reported and harms one thread only", "Store: damaged data is refused with internal", damage, damaged},
	{"an unreachable store has changed nothing", "Store: refuses with unavailable; law 10", outage, unreachable},
	{"two stores on the same data see each other", "Commit: compare-and-set", shared, secondStore},
}
