package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/store/transfer"
)

func (p *program) copyCommand() *cobra.Command {
	var schema string
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy all threads of a store to another one, from SQLite to PostgreSQL or back",
		Long: "copy writes the threads of all tenants to a new store: records, questions that\n" +
			"wait, history, deadlines, request ids and tokens, in the same order, under the\n" +
			"same ids. Then it reads both stores and compares them, and prints what they have.\n" +
			"The source is not changed.\n\n" +
			"Stop the programs of the source before, and start them on the copy only: a thread\n" +
			"that goes on in both does its work twice. Copy refuses a SQLite file that an\n" +
			"engine has open, and it fails if a thread of the source changes before it has\n" +
			"ended; what is committed there later, it cannot see.\n\n" +
			"TO must be new: a file that does not exist, or a schema without threads, which is\n" +
			"made where it is missing. Run again after it was stopped or killed, copy goes on\n" +
			"where it was; run again after it has ended, it compares. Until then the file has\n" +
			"the name TO.partial, and programs refuse the schema. To give up, remove that file,\n" +
			"or drop the schema.\n\n" + storeNames,
		Example: "  routegen-threads copy sqlite:work.db postgres://app@db.internal/app\n" +
			"  routegen-threads copy postgres://app@db.internal/app sqlite:work.db",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := p.copyStore(cmd.Context(), args[0], args[1], schema)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "%s, %d of them waiting, %s, %s: "+
				"the same in both stores\nsha256 %s\n", counted(found.Threads, "thread"),
				found.Waiting, counted(found.Interrupts, "interrupt"),
				countedAs(found.Entries, "entry", "entries"), found.Digest)
			return err
		},
	}
	addSchema(cmd, &schema)
	return cmd
}

// copyStore copies a store, or compares it with a copy that has ended.
func (p *program) copyStore(ctx context.Context, from, to, schema string) (
	found *transfer.Contents, err error) {
	source, err := openReading(ctx, from, schema)
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, done, err := openImport(ctx, to, schema)
	if err != nil {
		return nil, fmt.Errorf("the target: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if done {
		if found, err = transfer.Compare(ctx, source, target); err != nil {
			err = fmt.Errorf("the target has threads already, and is no copy of this source: "+
				"name a new one: %w", err)
		}
		return found, err
	}
	const pause = 5 * time.Second
	last := time.Now()
	return transfer.Copy(ctx, source, target, func(entries int) {
		if time.Since(last) > pause {
			p.notef("%s copied", countedAs(entries, "entry", "entries"))
			last = time.Now()
		}
	})
}

func (p *program) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup STORE FILE",
		Short: "Write a copy of a SQLite store to a new file, while programs use it",
		Long: "backup writes everything that was committed before it was called to a new file,\n" +
			"which a program opens as it is. Programs go on meanwhile. Copying the file with cp\n" +
			"is no backup: what was committed last stands in another file beside it.\n\n" +
			"PostgreSQL has its own tools, and backup refuses a store there: pg_basebackup\n" +
			"with archived WAL for the server, pg_dump --schema for the threads alone. Of a\n" +
			"store that no program has open, copy makes a SQLite file.",
		Example: "  routegen-threads backup work.db /backup/work-monday.db",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			path, isURL := parseStore(args[0])
			if isURL {
				return errors.New("a store in PostgreSQL is backed up with pg_basebackup and " +
					"archived WAL, or with pg_dump --schema; of one that no program has open, " +
					"`routegen-threads copy` makes a SQLite file")
			}
			store, err := sqlite.OpenReading(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			return store.Backup(cmd.Context(), args[1])
		},
	}
}
