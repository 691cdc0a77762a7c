//go:build unix && slow

package killloop

const (
	loopKills  = 200 // in each setup
	roundKills = 40  // before everything is brought to its end
)

func setups() (all []setup) {
	for _, s := range []setup{
		{name: "1 process", procs: 1},
		{name: "2 processes of one name", procs: 2, shared: true},
		{name: "2 processes", procs: 2},
		{name: "4 processes of one name", procs: 4, shared: true},
		{name: "4 processes", procs: 4},
	} {
		all = append(all, s)
		s.name, s.eager = s.name+", each command first", -1
		all = append(all, s)
	}
	return all
}
