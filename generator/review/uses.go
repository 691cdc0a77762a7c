package review

// GoUses is what became of the Go of one module that depends on the generated package, type-checked
// against the package as it was and as it would be.
type GoUses struct {
	Packages int       `json:"packages"`          // of the module that depend on it
	Stops    []GoPlace `json:"stops,omitempty"`   // compile no longer; one a line
	Lost     []GoPlace `json:"lost,omitempty"`    // types that no longer implement an interface
	Changed  []GoPlace `json:"changed,omitempty"` // name what has another type now
	Dead     []GoPlace `json:"dead,omitempty"`    // methods that nothing calls any more
	Broken   []GoPlace `json:"broken,omitempty"`  // compile with neither
	// switches over an enum of the package that do not list one of its new values, and either
	// listed all that it had or have no default
	Switches []GoPlace `json:"switches,omitempty"`
	Note     string    `json:"note,omitempty"` // why the module was not read
}

// GoPlace is a place in Go code. File is slash-separated, from the top of the module.
type GoPlace struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"` // what is said of it, in one line
}
