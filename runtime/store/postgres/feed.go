package postgres

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/routegen/routegen/runtime/store/internal/record"
)

const (
	bellPause  = 20 * time.Millisecond // between two notifications of a store
	bellLimit  = 5 * time.Second       // for sending one, and for a ping
	feedPause  = time.Second           // between two looks at the log, and before a new connection
	feedQuiet  = 30 * time.Second      // after which a connection without notifications is pinged
	feedMost   = 1000                  // commits of a look, and threads of a notification
	mostLetter = 7000                  // bytes of ids in a notification; PostgreSQL takes 7,999
)

// bell tells other processes which threads a store has committed to. It does so after commits, in
// transactions of its own: NOTIFY in that of a commit would make all commits of the server wait for
// each other.
type bell struct {
	sender  string // what this store sends it does not hear
	done    chan struct{}
	mu      sync.Mutex
	pending map[string]bool
	ringing bool
	stopped bool
	all     sync.WaitGroup
}

// ring sends the threads of a commit, at once or with those that come in the next 20 milliseconds.
func (b *bell) ring(s *Store, rows []record.Row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending == nil {
		b.pending = map[string]bool{}
	}
	for n := range rows {
		if len(rows[n].Log) > 0 {
			b.pending[rows[n].ID] = true
		}
	}
	if len(b.pending) > 0 && !b.ringing && !b.stopped {
		b.ringing = true
		b.all.Go(func() { b.ringAll(s) })
	}
}

// ringAll sends until nothing is pending.
func (b *bell) ringAll(s *Store) {
	for {
		b.mu.Lock()
		ids := b.pending
		b.pending, b.ringing = nil, len(ids) > 0
		b.mu.Unlock()
		if len(ids) == 0 {
			return
		}
		// one that is lost costs followers the time to the next look at the log
		_ = s.notify(ids)
		select {
		case <-time.After(bellPause):
		case <-b.done:
		}
	}
}

// stop sends what is pending, and nothing afterwards.
func (b *bell) stop() {
	b.mu.Lock()
	if !b.stopped {
		b.stopped = true
		close(b.done)
	}
	b.mu.Unlock()
	b.all.Wait()
}

// notify sends the ids of threads, or that it may be any where they are too long or too many.
func (s *Store) notify(ids map[string]bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), bellLimit)
	defer cancel()
	letters, letter, size := []string{}, []string{s.bell.sender}, 0
	seal := func() {
		text, _ := json.Marshal(letter) //nolint:errchkjson // a text can always be written
		letters, letter, size = append(letters, string(text)), letter[:1], 0
	}
	for id := range ids {
		quoted, _ := json.Marshal(id) //nolint:errchkjson // so
		if len(quoted) > mostLetter || len(ids) > feedMost {
			letters, letter = nil, letter[:1]
			break
		}
		if size+len(quoted) > mostLetter {
			seal()
		}
		letter, size = append(letter, id), size+len(quoted)+1
	}
	if len(letter) > 1 || len(letters) == 0 {
		seal()
	}
	_, err := s.pool.Exec(ctx, `SELECT set_config('synchronous_commit', 'off', true),
		pg_notify($1, letter) FROM unnest($2::text[]) letter`, s.channel, letters)
	return err
}

// Listen implements [thread.Feed]. It has a connection of its own for the notifications of other
// stores, and looks at the log every second, for those that are lost: the connection may break, and
// behind a pooler in transaction mode none arrives.
func (s *Store) Listen(ctx context.Context, heard func(thread string)) {
	var polling sync.WaitGroup
	polling.Go(func() { s.pollLog(ctx, heard) })
	defer polling.Wait()
	for ctx.Err() == nil {
		_ = s.listenOnce(ctx, heard) // the log is looked at meanwhile
		select {
		case <-time.After(feedPause):
		case <-ctx.Done():
		}
	}
}

// listenOnce hears notifications until the connection breaks.
func (s *Store) listenOnce(ctx context.Context, heard func(thread string)) error {
	c, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bellLimit)
		defer cancel()
		_ = c.Close(ctx)
	}()
	if _, err = c.Exec(ctx, "LISTEN "+pgx.Identifier{s.channel}.Sanitize()); err != nil {
		return err
	}
	heard("") // what was sent before this was not heard
	for {
		quiet, cancel := context.WithTimeout(ctx, feedQuiet)
		n, err := c.WaitForNotification(quiet)
		late := quiet.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			s.readLetter(n.Payload, heard)
		case !late:
			return err
		default:
			limit, cancel := context.WithTimeout(ctx, bellLimit)
			err = c.Ping(limit)
			cancel()
			if err != nil {
				return err
			}
		}
	}
}

// readLetter wakes the followers of the threads in a notification.
func (s *Store) readLetter(text string, heard func(thread string)) {
	var letter []string
	switch err := json.Unmarshal([]byte(text), &letter); {
	case err != nil || len(letter) == 0: // something else sends to this channel
	case letter[0] == s.bell.sender:
	case len(letter) == 1:
		heard("")
	default:
		for _, id := range letter[1:] {
			heard(id)
		}
	}
}

// What was not committed when one look was taken is at or above the oldest transaction of then.
const listNews = `SELECT s.done, l.id
	FROM (SELECT start + pg_snapshot_xmin(now)::text::bigint AS done
		FROM {schema}.settings, pg_current_snapshot() now) s
	LEFT JOIN LATERAL (SELECT t.id
		FROM (SELECT thread FROM {schema}.log WHERE x >= $1 ORDER BY x LIMIT $2) n
		JOIN {schema}.thread t ON t.n = n.thread) l ON $1 > 0`

// pollLog looks every second which threads have new entries.
func (s *Store) pollLog(ctx context.Context, heard func(thread string)) {
	for from := int64(0); ; {
		next, threads, rows := int64(0), map[string]bool{}, 0
		err := s.query(ctx, func(r pgx.Rows) error {
			var id *string
			err := r.Scan(&next, &id)
			if id != nil {
				threads[*id] = true
				rows++
			}
			return err
		}, listNews, from, feedMost)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil || from == 0 || rows == feedMost:
			heard("") // followers see for themselves
		default:
			for id := range threads {
				heard(id)
			}
		}
		if err == nil {
			from = next
		}
		select {
		case <-time.After(s.feedPoll):
		case <-ctx.Done():
			return
		}
	}
}
