//go:build unix && !slow

package killloop

const (
	loopKills  = 9 // in each setup
	roundKills = 9 // before everything is brought to its end
)

// setups are those that differ most.
func setups() []setup {
	return []setup{
		{name: "2 processes of one name", procs: 2, shared: true},
		{name: "4 processes, each command first", procs: 4, eager: -1},
	}
}
