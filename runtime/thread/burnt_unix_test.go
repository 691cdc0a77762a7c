//go:build unix

package thread_test

import (
	"syscall"
	"time"
)

// burnt is the processor time that the process has used: what a busy machine does not change.
func burnt() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
