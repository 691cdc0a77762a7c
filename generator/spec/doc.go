// Package spec reads routes.yaml: bytes in, a Spec with positions and a list of findings out.
//
// The way of a file through the package:
//
//	bytes --source--> clean text --scanner--> caps held --yaml.go--> a tree of nodes
//	that tree --grammar--> *Spec --check_*.go--> errors, --lint.go--> warnings
//
// One table, the grammar, says which keys there are, what they hold and what they mean. Reading,
// unknown keys, suggestions and the editor's schema all come from it. Nothing is dropped
// silently: a key that the grammar does not have is a finding.
//
// Parse reports all findings of a file in one run, sorted by position, and the same bytes always
// give the same findings. Nothing here touches a disk, a clock or a network, and nothing is kept
// between two calls: every function is safe for concurrent use as long as a Spec is not shared
// while it is changed.
//
// ReadYAML, Language and Quote serve package edit, which changes the text.
//
// Only yaml.go and document.go know the YAML library.
package spec
