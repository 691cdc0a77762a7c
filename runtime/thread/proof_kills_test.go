//go:build !slow

package thread_test

const (
	proofKills  = 20  // how often a process is killed
	proofStorms = 100 // how often everything goes wrong
)
