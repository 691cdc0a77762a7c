package spec_test

import (
	"runtime"
	"syscall"
	"time"
)

// worked is how long f works, which is the same on a machine that has little time for it. What
// other goroutines do for f does not count.
func worked(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var had, has syscall.Rusage
	begun := time.Now()
	unknown := syscall.Getrusage(syscall.RUSAGE_THREAD, &had)
	f()
	if unknown != nil || syscall.Getrusage(syscall.RUSAGE_THREAD, &has) != nil {
		return time.Since(begun)
	}
	return time.Duration(has.Utime.Nano() + has.Stime.Nano() - had.Utime.Nano() - had.Stime.Nano())
}
