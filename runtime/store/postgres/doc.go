// Package postgres keeps threads in a PostgreSQL database, for programs in several processes or on
// several machines: a [thread.Store] that loses nothing it has acknowledged. On one machine
// runtime/store/sqlite needs no server.
//
//	if err := postgres.Migrate(ctx, url, ""); err != nil {
//		return err
//	}
//	store, err := postgres.Open(ctx, url, postgres.Config{})
//	...
//	engine, err := thread.Open(ctx, store, thread.Config{Clock: store}, machines...)
//
// # What is promised
//
// Commit is one statement, one round trip and one transaction, READ COMMITTED, and returns after
// the server has synced it. A server with fsync or full_page_writes off is refused when it is
// opened, and synchronous_commit off is overridden for each commit. Versions and fences are
// compared in the same statement, so any number of stores may be open on one schema, in any number
// of processes.
//
// A commit whose connection breaks before its answer is sent again for up to ten seconds, with a
// token by which the server knows it: it is done once, whichever of the two arrives, also when the
// server was stopped and started again meanwhile. Only when no server answers in that time is
// CodeUnavailable returned for a commit that may have happened.
//
// A record that was damaged is found by its checksum when it is read, and refused with
// CodeInternal; other threads go on. Server errors have the codes of the port: what may pass later
// is CodeUnavailable, a missing schema or right CodeIncompatible, a text that PostgreSQL cannot
// keep, such as an id with a NUL, CodeInvalid.
//
// # The order of the log
//
// The log of all threads is in the order of transaction ids, without a lock that commits would wait
// for. [Store.Log] over all threads therefore waits for transactions that were writing when it was
// called, on the whole server and in any database, and returns CodeUnavailable if one of them lasts
// longer than five seconds. The log of one thread never waits. After a failover or a restore, new
// entries come after all that are there; a cursor from before stays good, unless the new server
// lags by more than 16 million transactions.
//
// # Followers
//
// [Store] is a [thread.Feed]: a store tells the others of its commits, by a notification that it
// sends after them, at once or with those of the next 20 milliseconds. Each engine has a connection
// for the notifications of other stores, and looks at the log once a second for what was lost: so a
// follower in another process, who reads one thread or all of them, waits some milliseconds, or a
// second where the connection is broken. Both use the channel that has the name of the schema.
//
// # Connections
//
// The URL is what libpq reads: TLS by sslmode=verify-full, several hosts, of which the one that
// takes writes is used, and the keys of pgxpool such as pool_max_conns. No statement is prepared by
// name and none needs a session, so a pooler in transaction mode works, but notifications do not
// get through it: followers then hear of commits within a second. For a direct connection,
// default_query_exec_mode=cache_statement saves the server some planning. Commits have a limit of
// ten seconds and queries of thirty; a lock is waited for five seconds.
//
// [Store] is a [thread.Clock] that has the time of the database, so that leases and deadlines do
// not depend on the clock of each machine. It is no [thread.Presence]: the threads of a process
// that died are taken up when their leases end.
//
// # The schema
//
// [Migrate] makes the tables in a schema of their own, and [SQL] prints the statements. A program
// refuses a schema that is newer than it is. Record, interrupt and log have their JSON in columns
// of type text:
//
//	SELECT id, body::jsonb ->> 'user' FROM routegen.thread
//
// A record that was changed by hand is refused as damaged. With a standby that does not confirm
// commits (synchronous_standby_names is empty), a failover loses what it had not received, although
// it was acknowledged: that is a choice of the server's configuration.
package postgres
