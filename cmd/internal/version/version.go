// Package version holds the version of the programs of this module, and the command that prints it.
package version

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Number is the version of every program of this module.
const Number = "0.1.0"

// Info is the version of a program and how it was built. Fields that the build does not record are
// empty.
type Info struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"` // of the revision, RFC 3339
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Read returns the version of the running program.
func Read() Info {
	v := Info{Version: Number, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// Command returns the command version. It prints one line, or one JSON object with --json or where
// the program has a flag --format that is json.
func Command() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := Read()
			if f := cmd.Flag("format"); asJSON || f != nil && f.Value.String() == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			text := cmd.Root().Name() + " " + v.Version
			if v.Revision != "" {
				text += " (" + v.Revision + ")"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s %s\n", text, v.Go, v.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
