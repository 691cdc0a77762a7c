package review

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// TestEffectsNameMembersAndRules: a row about a member or a rule that does not exist would never
// say anything.
func TestEffectsNameMembersAndRules(t *testing.T) {
	t.Parallel()
	members, kinds := map[string]bool{}, map[string]reflect.Type{}
	for _, thing := range []any{plan.Plan{}, plan.Interrupts{}, runtime.Handler{}, plan.Convo{},
		plan.Enum{}, plan.EnumValue{}, plan.Scalar{}, plan.Record{}, plan.Field{}, plan.Node{},
		plan.Route{}, plan.Routing{}, plan.Branch{}, plan.InterruptKind{}, plan.Talk{},
		plan.Flow{}, plan.FlowStep{}, plan.Action{}, plan.Validator{}} {
		v := reflect.ValueOf(thing)
		name := v.Type().Name()
		kinds[name] = v.Type()
		members[name] = true
		for _, c := range plan.Cells(v) {
			members[name+"."+c.Name] = true
			members[name+"/"+c.Name] = c.Value.Kind() == reflect.Slice
		}
	}
	members["Plan/Flows"] = true // of its dialogue
	for _, row := range slices.Concat(arrivals, effects) {
		for member := range strings.FieldsSeq(row.members) {
			assert.True(t, members[member], "%s: %q", member, row.text)
			kind := kinds[strings.FieldsFunc(member, func(r rune) bool {
				return r == '.' || r == '/'
			})[0]]
			for _, place := range placeholder.FindAllString(row.text, -1) {
				name, _, _ := strings.Cut(strings.Trim(place, "{}"), "|")
				if unicode.IsUpper(rune(name[0])) {
					f, has := kind.FieldByName(name)
					assert.True(t, has && f.Type.Kind() == reflect.String, "%s: %q", member,
						row.text)
				}
			}
		}
		if row.rule != "" {
			assert.Contains(t, catalogue(), row.rule, row.text)
		} else {
			assert.NotEqual(t, row.detail, row.to != byCategory, "whom it concerns: %q", row.text)
		}
		assert.NotEmpty(t, row.text)
	}
}

// TestEveryStepMemberHasAnEffect: what a step does is told whatever is added to it.
func TestEveryStepMemberHasAnEffect(t *testing.T) {
	t.Parallel()
	elsewhere := []string{"ID", "Was", "Text", "Invalid", "Pos"}
	for _, c := range plan.Cells(reflect.ValueOf(plan.FlowStep{})) {
		_, told := effectsByMember()["FlowStep."+c.Name]
		assert.True(t, told || slices.Contains(elsewhere, c.Name), c.Name)
	}
}
