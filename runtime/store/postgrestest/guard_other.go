//go:build unix && !linux

package postgrestest

import "syscall"

// attributes returns how the processes are started. Here nothing stops them when this program is
// killed.
func (s *Instance) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: s.as}
}

func runGuarded(run func() error, ended chan<- error) { ended <- run() }
