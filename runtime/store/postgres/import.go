package postgres

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
)

var errCopying = errors.New("a copy into it has not ended: run the copy again, or drop the schema")

// OpenImport opens the schema that a copy of another store is written to, and makes it or brings it
// to the version of this program. Until EndImport its version is negative, and [Open] and [Migrate]
// refuse it with CodeIncompatible; a copy that was stopped goes on with it. A schema that has
// threads already, and is not being copied to, it opens as it is, with done. It returns the errors
// of [Migrate] and [Open].
func OpenImport(ctx context.Context, url string, cfg Config) (s *Store, done bool, err error) {
	if err = Migrate(ctx, url, cfg.Schema); err != nil && !errors.Is(err, errCopying) {
		return nil, false, err
	}
	if s, err = openStore(ctx, url, cfg, true); err != nil {
		return nil, false, err
	}
	// an engine that has the schema open may be about to write its first thread
	_, err = s.pool.Exec(ctx, s.sql(`UPDATE {schema}.settings SET version = -version
		WHERE version > 0 AND NOT EXISTS (SELECT FROM {schema}.thread)`))
	if err == nil {
		err = s.pool.QueryRow(ctx, s.sql(`SELECT version > 0 FROM {schema}.settings`)).Scan(&done)
	}
	if err != nil {
		s.pool.Close()
		return nil, false, wrapError("open the database", err)
	}
	return s, done, nil
}

// ImportPlace returns how far the copy has come.
func (s *Store) ImportPlace(ctx context.Context) (at record.Place, err error) {
	err = s.query(ctx, func(rows pgx.Rows) error {
		return rows.Scan(&at.Thread, &at.Seq, &at.Interrupt)
	}, `SELECT coalesce(l.id, ''), coalesce(l.seq, 0),
		coalesce((SELECT id FROM {schema}.interrupt ORDER BY n DESC LIMIT 1), '')
		FROM (SELECT) one LEFT JOIN LATERAL (
			SELECT t.id, l.seq FROM {schema}.log l JOIN {schema}.thread t ON t.n = l.thread
			ORDER BY l.x DESC, l.place DESC LIMIT 1) l ON true`)
	return at, wrapError("read the end of a copy", err)
}

// ImportPart writes the next part of a copy in one transaction. It returns CodeConflict unless the
// copy has come to that place: another process copies into the same schema.
func (s *Store) ImportPart(ctx context.Context, after record.Place, p *record.Part) error {
	const op = "write a part of a copy"
	rows, err := p.Rows()
	if err != nil {
		return err
	}
	at, err := s.ImportPlace(ctx)
	if err != nil {
		return err
	}
	if at != after {
		return runtime.Errorf(runtime.CodeConflict, op, "something else has written to it: "+
			"let one copy run at a time")
	}
	there := map[string]bool{}
	err = s.query(ctx, func(rows pgx.Rows) error {
		var id string
		err := rows.Scan(&id)
		there[id] = true
		return err
	}, `SELECT id FROM {schema}.thread WHERE id = ANY ($1)`, slices.Collect(maps.Keys(p.Threads)))
	if err != nil {
		return wrapError(op, err)
	}
	places, next := make([]int64, len(rows)), int64(0)
	for n := range rows {
		r := &rows[n]
		if !there[r.ID] {
			r.Before, there[r.ID] = 0, true
		}
		places[n] = next
		for _, l := range r.Log {
			next += int64(l.Count)
		}
	}
	args := columnsOf(rows, func(n int) int64 { return places[n] })
	//nolint:gosec // it only tells commits apart
	args = append([]any{rand.Int64()}, args...)
	why, err := s.send(ctx, &sentCall{query: commitThreads, args: args})
	if why == "" {
		return wrapError(op, err)
	}
	return conflict(rows, why)
}

// EndImport makes the schema one that programs open, and closes the store.
func (s *Store) EndImport(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, s.sql(`UPDATE {schema}.settings SET version = abs(version)`))
	if err == nil {
		err = s.Close()
	}
	return wrapError("end a copy", err)
}
