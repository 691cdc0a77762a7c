package postgrestest

import (
	goruntime "runtime"
	"syscall"
)

// attributes returns how the processes are started: the kernel stops them when this program ends.
func (s *Instance) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
}

// runGuarded runs on a thread of its own, which lives as long as the process that run starts: the
// kernel takes the end of that thread for the end of this program.
func runGuarded(run func() error, ended chan<- error) {
	goruntime.LockOSThread()
	ended <- run()
}
