package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// strictHelp makes two of cobra's commands fail for an unknown argument. By default they print help
// and return 0, which a script takes for success.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Run, cmd.RunE = nil, runHelp
		case "completion":
			cmd.Args = cobra.ArbitraryArgs // a known shell is a command of its own
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return refuseArg("shell", cmd, args[0])
				}
				return cmd.Help()
			}
		}
	}
}

// runHelp prints the help of the command that the arguments name.
func runHelp(help *cobra.Command, words []string) error {
	cmd, rest, err := help.Root().Find(words)
	switch {
	case err != nil:
		return failf("%w", err)
	case len(rest) > 0 && cmd.HasSubCommands():
		return refuseArg("command", cmd, rest[0])
	case len(rest) > 0:
		return failf("%s has no command %q: run %s --help", cmd.CommandPath(), rest[0],
			cmd.CommandPath())
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// refuseArg returns an error for an unknown argument, with the nearest known one and all of them.
func refuseArg(what string, cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	slices.Sort(names)
	all := "there are " + strings.Join(names, ", ")
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return failf("unknown %s %q: did you mean %q? %s", what, word, near[0], all)
	}
	return failf("unknown %s %q: %s", what, word, all)
}
