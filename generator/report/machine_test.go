package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// mixed is a finding of each severity, in two files.
func mixed() []report.Finding {
	at := func(line, from, to int) report.Span {
		return report.Span{Start: report.Pos{Line: line, Column: from},
			End: report.Pos{Line: line, Column: to}}
	}
	return []report.Finding{
		{Rule: spec.RuleUnknownKey, Severity: report.Error, File: "a.yaml", At: at(5, 3, 9),
			Message: "unknown <key> \"x\"", Hint: "did you mean \"y\"?",
			Related: []report.Related{{At: at(2, 1, 4), Message: "declared here"}}},
		{Rule: spec.RuleSelfRoute, Severity: report.Warning, File: "a.yaml", At: at(7, 1, 2),
			Message: "in circles"},
		{Rule: "NOBODY_KNOWS", Severity: "expected", File: "b.go", Message: "of no place"},
	}
}

func TestSARIF(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, report.WriteSARIF(&b, mixed(), spec.Rules()))
	type message struct{ Text string }
	type location struct {
		Message          message
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
		}
	}
	var log struct {
		Version string
		Runs    []struct {
			ColumnKind string
			Tool       struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID               string
						ShortDescription message
					}
				}
			}
			Results []struct {
				RuleID           string
				RuleIndex        int
				Level            string
				Message          message
				Locations        []location
				RelatedLocations []location
			}
		}
	}
	//nolint:musttag // names match but for letter case
	require.NoError(t, json.Unmarshal([]byte(b.String()), &log))
	require.Len(t, log.Runs, 1)
	run := log.Runs[0]
	assert.Equal(t, []string{"2.1.0", "unicodeCodePoints", "routegen"},
		[]string{log.Version, run.ColumnKind, run.Tool.Driver.Name})
	require.Len(t, run.Results, 3)
	for i, want := range []string{"error", "warning", "note"} {
		r := run.Results[i]
		assert.Equal(t, want, r.Level)
		assert.Equal(t, r.RuleID, run.Tool.Driver.Rules[r.RuleIndex].ID,
			"the index leads to the rule")
		assert.NotEmpty(t, run.Tool.Driver.Rules[r.RuleIndex].ShortDescription.Text)
		assert.Positive(t, r.Locations[0].PhysicalLocation.Region.StartLine)
		assert.Positive(t, r.Locations[0].PhysicalLocation.Region.EndColumn)
	}
	first := run.Results[0]
	assert.Equal(t, `unknown <key> "x" (did you mean "y"?)`, first.Message.Text)
	assert.Equal(t, "a.yaml", first.Locations[0].PhysicalLocation.ArtifactLocation.URI)
	assert.Equal(t, [2]int{5, 9}, [2]int{first.Locations[0].PhysicalLocation.Region.StartLine,
		first.Locations[0].PhysicalLocation.Region.EndColumn})
	assert.Equal(t, "declared here", first.RelatedLocations[0].Message.Text)
	assert.Contains(t, b.String(), "<key>", "no HTML escapes")
}

// TestSARIFEncodesNames: a name is a URI reference there; the control is one that is that already.
func TestSARIFEncodesNames(t *testing.T) {
	t.Parallel()
	for name, uri := range map[string]string{"my specs/a#1.yaml": "my%20specs/a%231.yaml",
		"100%.yaml": "100%25.yaml", "a:b.yaml": "./a:b.yaml", "in/a.yaml": "in/a.yaml"} {
		var b strings.Builder
		require.NoError(t, report.WriteSARIF(&b, []report.Finding{{File: name}}, nil))
		assert.Contains(t, b.String(), `"uri": "`+uri+`"`)
	}
}

func TestSARIFWithoutFindings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, report.WriteSARIF(&b, nil, nil))
	assert.Contains(t, b.String(), `"results": []`,
		"an absent list means that nothing was looked at")
	assert.Contains(t, b.String(), `"rules": []`)
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, report.WriteJUnit(&b, "a.yaml", mixed()))
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Tests int    `xml:"tests,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal([]byte(b.String()), &suites))
	assert.Equal(t, [2]int{3, 1}, [2]int{suites.Tests, suites.Failures})
	require.Len(t, suites.Suites, 2, "a suite for each file")
	cases := suites.Suites[0].Cases
	require.Len(t, cases, 2)
	require.NotNil(t, cases[0].Failure)
	assert.Equal(t, `unknown <key> "x" (did you mean "y"?)`, cases[0].Failure.Message)
	assert.Equal(t, "SPEC_UNKNOWN_KEY a.yaml:5:3", cases[0].Name)
	assert.Nil(t, cases[1].Failure, "only errors fail")
	assert.Equal(t, "warning: a.yaml:7:1: in circles", cases[1].Out)
	assert.Equal(t, "expected: b.go:1:1: of no place", suites.Suites[1].Cases[0].Out)
}

func TestJUnitWithoutFindings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, report.WriteJUnit(&b, "a.yaml", nil))
	assert.Contains(t, b.String(), `tests="1" failures="0"`)
}

func TestGitHubKnowsThreeLevels(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, report.WriteGitHub(&b, mixed()))
	assert.Contains(t, b.String(),
		"::notice file=b.go,line=1,col=1,title=NOBODY_KNOWS::of no place\n")
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestMachineReportsReportWriteErrors(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, report.WriteSARIF(fullDisk{}, mixed(), nil), "disk full")
	require.ErrorContains(t, report.WriteJUnit(fullDisk{}, "a.yaml", mixed()), "disk full")
}
