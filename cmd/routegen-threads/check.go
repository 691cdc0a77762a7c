package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// checkReport is what check found. Its JSON is read by `routegen diff --threads`.
type checkReport struct {
	V          int             `json:"v"`
	Kind       string          `json:"kind"` // threads
	Unfinished int             `json:"unfinished"`
	GoOn       int             `json:"goOn"`
	Refused    []refusedThread `json:"refused"`

	readers map[string]*compat.Reader // by fingerprint
}

// refusedThread is one thread that the program does not go on with.
type refusedThread struct {
	Thread   string            `json:"thread"`
	Problems []runtime.Problem `json:"problems"`
}

func (p *program) checkCommand() *cobra.Command {
	var shapes, format, tenant, schema string
	cmd := &cobra.Command{
		Use:   "check STORE --program SHAPES",
		Short: "Say which unfinished threads of a store a new program goes on with",
		Long: "check reads every unfinished thread of a store as an engine of the new\n" +
			"program would: what it holds decides, and what cannot be read is named by its\n" +
			"place and value. SHAPES is what the new spec stores, as `routegen inspect shapes\n" +
			"--format json` prints it; - is standard input. Only frames of workflows and flows\n" +
			"are read, others go on always. Migrations are functions of the program and do not\n" +
			"run here: a thread that needs one is counted as refused.\n\n" +
			"No thread is changed, and programs may have the store open. The exit code is 0\n" +
			"also where threads are refused.\n\n" + storeNames,
		Example: "  routegen inspect shapes --format json | routegen-threads check work.db " +
			"--program -\n" +
			"  routegen-threads check work.db --program shapes.json --format json > threads.json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return fmt.Errorf("--format is %q: use text or json", format)
			}
			now, err := p.readShapes(shapes)
			if err != nil {
				return err
			}
			var only *string
			if cmd.Flags().Changed("tenant") {
				only = &tenant
			}
			store, err := openReading(cmd.Context(), args[0], schema)
			if err != nil {
				return err
			}
			report, err := checkStore(cmd.Context(), store, only, now)
			if err = errors.Join(err, store.Close()); err != nil {
				return err
			}
			return report.print(p.stdout, format == "json")
		},
	}
	cmd.Flags().StringVar(&shapes, "program", "",
		"the `file` with the shapes of the new program, or - for standard input")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().StringVar(&tenant, "tenant", "",
		"only threads of this `tenant`, \"\" for those without one (default all)")
	addSchema(cmd, &schema)
	return cmd
}

// readShapes reads the shapes of the new program.
func (p *program) readShapes(name string) ([]runtime.StoredShape, error) {
	const from = "`routegen inspect shapes --format json` prints it"
	var data []byte
	var err error
	switch name {
	case "":
		return nil, errors.New("--program is missing: name the file with the shapes of the new " +
			"program; " + from)
	case "-":
		data, err = io.ReadAll(p.stdin)
	default:
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var out []runtime.StoredShape
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("--program %s is no list of shapes (%w): %s", name, err, from)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--program %s lists no shape: %s", name, from)
	}
	return out, nil
}

// checkStore reads all unfinished threads of a store, or those of a tenant. Those that come or end
// meanwhile may be counted or not.
func checkStore(ctx context.Context, store thread.Store, tenant *string,
	now []runtime.StoredShape) (*checkReport, error) {
	const page = 500
	out := &checkReport{V: 1, Kind: "threads", Refused: []refusedThread{},
		readers: map[string]*compat.Reader{}}
	for after := ""; ; {
		rows, err := store.Threads(ctx, thread.Query{Tenant: tenant, Statuses: []thread.Status{
			thread.StatusIdle, thread.StatusRunning, thread.StatusWaiting}, AfterID: after,
			Limit: page})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if err := out.addThread(ctx, store, row.ID, now); err != nil {
				return nil, err
			}
			after = row.ID
		}
		if len(rows) < page {
			return out, nil
		}
	}
}

// addThread counts one thread.
func (c *checkReport) addThread(ctx context.Context, store thread.Store, id string,
	now []runtime.StoredShape) error {
	t, err := store.Load(ctx, id)
	if runtime.CodeOf(err) == runtime.CodeInternal { // a damaged record harms no other
		c.Unfinished++
		c.Refused = append(c.Refused, refusedThread{id, []runtime.Problem{{Reason: err.Error()}}})
		return nil
	}
	if err != nil || t.Over != "" {
		return err
	}
	c.Unfinished++
	r := c.readers[t.Fingerprint]
	if r == nil {
		old, err := thread.StoredShapesOf(ctx, store, t.Fingerprint)
		if err != nil {
			return err
		}
		r = compat.NewReader(old, now, nil)
		c.readers[t.Fingerprint] = r
	}
	_, err = thread.UpgradeThread(t, r, "", upgraderOf)
	wrong, ok := errors.AsType[*runtime.InvalidError](err)
	switch {
	case ok:
		c.Refused = append(c.Refused, refusedThread{id, wrong.Problems})
	case err != nil:
		return err
	default:
		c.GoOn++
	}
	return nil
}

// upgraderOf returns what reads the frames of a machine; nil for a machine that no spec describes.
func upgraderOf(machine string) func(*compat.Reading, *thread.Frame) {
	switch machine {
	case workflow.Name:
		return workflow.UpgradeFrame
	case dialogue.Name:
		return dialogue.UpgradeFrame
	}
	return nil
}

// print writes the report as text or as JSON.
func (c *checkReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d go on, %d refused\n", counted(c.Unfinished, "unfinished thread"),
		c.GoOn, len(c.Refused))
	for _, r := range c.Refused {
		fmt.Fprintf(&b, "\n%s\n", r.Thread)
		for _, p := range r.Problems {
			fmt.Fprintf(&b, "  %s: %s\n", p.Pointer, p.Reason)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// counted writes a number with its noun: "1 thread", "3 threads".
func counted(n int, noun string) string { return countedAs(n, noun, noun+"s") }

// countedAs is counted with the plural.
func countedAs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
