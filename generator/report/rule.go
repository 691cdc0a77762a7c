package report

// Category says what a rule protects. STANDARD includes BASIC, which includes MINIMAL; DOCS and LLM
// are separate.
type Category string

// The categories. Rules that are errors have a category of their own and cannot be turned off.
const (
	CategoryError    Category = "ERROR"
	CategoryMinimal  Category = "MINIMAL"
	CategoryBasic    Category = "BASIC"
	CategoryStandard Category = "STANDARD"
	CategoryDocs     Category = "DOCS"
	CategoryLLM      Category = "LLM"
)

// Rule explains one kind of finding: what it is, why it matters, and a YAML snippet before and
// after.
type Rule struct {
	ID        string
	Severity  Severity
	Category  Category
	Summary   string
	Why       string
	Bad, Good string // empty where no snippet can show it
}
