package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/edit"
)

func (p *program) fmtCommand() *cobra.Command {
	var check, diff bool
	cmd := &cobra.Command{
		Use:   "fmt",
		Short: "Put the keys of the spec in their canonical order",
		Long: "fmt orders keys as the language lists them and keeps comments with their keys. " +
			"Where the order has a meaning,\n" +
			"as that of nodes, fields and branches has, it is kept. A second fmt changes nothing.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.runFmt(check, diff) },
	}
	cmd.Flags().BoolVar(&check, "check", false,
		"return code 1 where the spec is not in order; write nothing")
	cmd.Flags().BoolVar(&diff, "diff", false, "print the patch; write nothing")
	cmd.MarkFlagsMutuallyExclusive("check", "diff")
	return cmd
}

func (p *program) runFmt(check, diff bool) error {
	src, err := p.source()
	if err != nil {
		return failf("%w", err)
	}
	files, refused := src.files(), src.refused
	var other []string // the files that are not in order
	for i, f := range files {
		text, bad := edit.Format(f.Name, f.Text)
		if !bytes.Equal(text, f.Text) {
			other = append(other, f.Name)
		}
		files[i].Text, refused = text, append(refused, bad...)
	}
	if len(refused) > 0 {
		return p.conclude(src, refused, ending{
			code: worse(exitFindings, chooseExitCode(refused, false)),
			line: describeFindings(src.shown, refused) + "; nothing was written"})
	}
	after := src.withFiles(files)
	switch {
	case src.piped && !check && !diff:
		return p.printText(string(after.text))
	case len(other) == 0:
		p.notef("%s is in order", src.shown)
		return nil
	case diff:
		return p.printText(patch(src, after))
	case check:
		return &exitError{exitFindings, fmt.Errorf("%s is not in order: run routegen fmt",
			joined(other, " is not in order, "))}
	}
	if is, will := src.makeWith(p.generate), after.makeWith(p.generate); !maps.EqualFunc(is.Files,
		will.Files, bytes.Equal) {
		return failf("%w: please report this, with the spec: %s",
			errors.New("the formatted spec would generate something else; nothing was written"),
			reportTo)
	}
	_, err = p.writeFiles(src, after)
	return err
}
