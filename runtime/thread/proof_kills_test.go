//go:build !slow

package thread_test

const (
	proofKills    = 20  // how often a process is killed
	proofStorms   = 100 // how often everything goes wrong
	contestRounds = 200 // how often two callers meet
	stuckThreads  = 400 // how many threads a program cannot move
)
