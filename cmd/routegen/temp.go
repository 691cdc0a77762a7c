package main

import (
	"crypto/rand"
	"os"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
)

// tempPrefix and tempSuffix enclose the name of every temporary file. Go tools skip names that
// start with a dot.
const (
	tempPrefix = ".routegen-"
	tempSuffix = ".tmp"
)

// tempOf returns a new name for the temporary file of a path. It is random, so that two runs at
// once never share one, and has the number of this process, so that others keep it while it runs.
func tempOf(name string) string {
	return path.Join(path.Dir(name), tempPrefix+path.Base(name)+"-"+strconv.Itoa(os.Getpid())+"-"+
		rand.Text()[:8]+tempSuffix)
}

// tempName finds the number of the process in the name of a temporary file; those of earlier
// versions have none.
var tempName = regexp.MustCompile(`^` + regexp.QuoteMeta(tempPrefix) + `.*?(?:-(\d+)-[A-Z2-7]{8})?` +
	regexp.QuoteMeta(tempSuffix) + `$`)

// isAbandoned reports whether a base name is that of a temporary file whose process is gone.
func isAbandoned(base string) bool {
	found := tempName.FindStringSubmatch(base)
	if found == nil {
		return false
	}
	pid, err := strconv.Atoi(found[1])
	return err != nil || !isRunning(pid)
}

// isRunning reports whether a process of any user has that number on this machine.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release() //nolint:errcheck // only a handle
	if runtime.GOOS == "windows" {
		return true // what is not running was not found
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
}
