//go:build unix

package sqlite

import "syscall"

// burnt is the processor time that the process has used: what a busy machine does not change.
func burnt() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
