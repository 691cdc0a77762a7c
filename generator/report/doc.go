// Package report holds what the generator says about a spec: findings with their positions, and the
// forms they are written in.
//
//	WriteText    for people: message, source line, caret, hint
//	WriteJSON    one record a line, then a summary
//	WriteGitHub  workflow commands, shown beside the changed lines
//	WriteSARIF   SARIF 2.1.0, for code scanning
//	WriteJUnit   JUnit XML, for test reports
//
// A finding names the rule it belongs to. The catalogue of rules is in package spec. The writers
// keep the order of the findings; [Sort] puts them in the order in which they are shown. Every
// function is safe for concurrent use.
package report
