package routegen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// licences are the texts that a licence file of an allowed licence has, by its name.
var licences = []struct{ name, text string }{
	{"Apache-2.0", "Apache License"},
	{"MPL-2.0", "Mozilla Public License"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD", "Redistribution and use in source and binary forms"},
	{"ISC", "Permission to use, copy, modify, and"},
}

// licenceOf names the licence of a text, "" for one that is not allowed here.
func licenceOf(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if strings.Contains(text, "GNU GENERAL PUBLIC") || strings.Contains(text, "GNU AFFERO") ||
		strings.Contains(text, "GNU LESSER") {
		if !strings.Contains(text, "Secondary License") { // the MPL names them
			return ""
		}
	}
	for _, l := range licences {
		if strings.Contains(text, l.text) {
			return l.name
		}
	}
	return ""
}

// TestLicencesOfDependencies reads the licence of every module that a package or a test of this one
// is built with, in the module cache. With -v it lists them.
func TestLicencesOfDependencies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GNU GENERAL PUBLIC LICENSE Version 3": "", "All rights reserved.": "",
		"  Apache License\n Version 2.0": "Apache-2.0",
	} {
		if got := licenceOf(text); got != want {
			t.Errorf("the control %q: %q, want %q", text, got, want)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-f",
		`{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	count := 0
	for _, line := range slices.Compact(lines) {
		path, dir, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		count++
		files, err := filepath.Glob(filepath.Join(dir, "[LlCc][IiOo][CcPp][EeYy]*"))
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && name == "" {
				name = licenceOf(string(text))
			}
		}
		if name == "" {
			t.Errorf("%s has no licence that is allowed here, see licences: look into %s", path,
				dir)
		}
		t.Logf("%-10s %s", name, path)
	}
	if count < 20 {
		t.Errorf("only %d modules were found", count)
	}
}
