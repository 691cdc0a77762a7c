package spec

// The ids of all rules. An id never changes its meaning, and the id of a deleted rule is never used
// again.
const (
	// The document: bytes, YAML, shape.

	RuleEmpty           = "SPEC_EMPTY"
	RuleRoot            = "SPEC_ROOT"
	RuleMultiDoc        = "SPEC_MULTI_DOC"
	RuleTooLarge        = "SPEC_TOO_LARGE"
	RuleTooDeep         = "SPEC_TOO_DEEP"
	RuleTooManyKeys     = "SPEC_TOO_MANY_KEYS"
	RuleTooManyNodes    = "SPEC_TOO_MANY_NODES"
	RuleTooManyFindings = "SPEC_TOO_MANY_FINDINGS"
	RuleEncoding        = "SPEC_ENCODING"
	RuleControlChar     = "SPEC_CONTROL_CHAR"
	RuleSyntax          = "SPEC_SYNTAX"
	RuleAlias           = "SPEC_ALIAS"
	RuleMergeKey        = "SPEC_MERGE_KEY"
	RuleTag             = "SPEC_TAG"
	RuleVersion         = "SPEC_VERSION"
	RuleUnknownKey      = "SPEC_UNKNOWN_KEY"
	RuleDuplicateKey    = "SPEC_DUPLICATE_KEY"
	RuleDuplicateItem   = "SPEC_DUPLICATE_ITEM"
	RuleMissingKey      = "SPEC_MISSING_KEY"
	RuleWrongKind       = "SPEC_WRONG_KIND"
	RuleScalarKind      = "SPEC_SCALAR_KIND"
	RuleValue           = "SPEC_VALUE"
	RuleConflict        = "SPEC_CONFLICT"
	RuleTextComment     = "TEXT_COMMENT_END"

	// Included files.

	RuleIncludePath  = "INCLUDE_PATH"
	RuleIncludeRead  = "INCLUDE_READ"
	RuleIncludeTwice = "INCLUDE_TWICE"
	RuleIncludeCycle = "INCLUDE_CYCLE"
	RuleIncludeKey   = "INCLUDE_KEY"
	RuleTooManyFiles = "INCLUDE_TOO_MANY"

	// Suppressions.

	RuleAllowNoReason    = "ALLOW_NO_REASON"
	RuleAllowUnknownRule = "ALLOW_UNKNOWN_RULE"
	RuleAllowUnused      = "ALLOW_UNUSED"

	// Names.

	RuleNameCharset       = "NAME_CHARSET"
	RuleNameReserved      = "NAME_RESERVED"
	RuleNameFileReserved  = "NAME_FILE_RESERVED"
	RuleNameCaseCollision = "NAME_CASE_COLLISION"
	RuleNameCollision     = "NAME_COLLISION"
	RuleNameTombstone     = "NAME_TOMBSTONE"
	RuleNameJSON          = "NAME_JSON"

	// Types and values.

	RuleTypeSyntax        = "TYPE_SYNTAX"
	RuleTypeMapKey        = "TYPE_MAP_KEY"
	RuleTypeAny           = "TYPE_ANY"
	RuleTypeRecursive     = "TYPE_RECURSIVE"
	RuleTypeTooDeep       = "TYPE_TOO_DEEP"
	RuleTypeUnused        = "TYPE_UNUSED"
	RuleEnumEmpty         = "ENUM_EMPTY"
	RuleEnumDuplicate     = "ENUM_DUPLICATE"
	RuleEnumHidden        = "ENUM_HIDDEN"
	RuleConstraintKind    = "CONSTRAINT_KIND"
	RuleConstraintRange   = "CONSTRAINT_RANGE"
	RuleConstraintPattern = "CONSTRAINT_PATTERN"
	RuleFormatUnknown     = "FORMAT_UNKNOWN"
	RuleDefaultType       = "DEFAULT_TYPE"
	RuleDefaultRequired   = "DEFAULT_REQUIRED"
	RuleDefaultHidden     = "DEFAULT_HIDDEN"
	RuleHiddenZero        = "HIDDEN_ZERO"
	RulePatternGo         = "PATTERN_GO"
	RuleOldValues         = "OLD_VALUES"
	RuleDuration          = "DURATION_INVALID"
	RuleFieldType         = "FIELD_TYPE"

	// References.

	RuleRefType    = "REF_TYPE"
	RuleRefNode    = "REF_NODE"
	RuleRefBranch  = "REF_BRANCH"
	RuleRefField   = "REF_FIELD"
	RuleRefValue   = "REF_VALUE"
	RuleRefTool    = "REF_TOOL"
	RuleRefOutside = "REF_OUTSIDE"
	RulePromptVar  = "PROMPT_VAR"

	// The graph of nodes.

	RuleEntryCount        = "ENTRY_COUNT"
	RuleNodeUnreachable   = "NODE_UNREACHABLE"
	RuleNodeForm          = "NODE_FORM"
	RuleRouteNoRequest    = "ROUTE_NO_REQUEST"
	RuleLeafNoEscalates   = "LEAF_NO_ESCALATES"
	RuleEscalatesCycle    = "ESCALATES_CYCLE"
	RuleEscalatesNoRoute  = "ESCALATES_NO_ROUTE"
	RuleBranchEmpty       = "BRANCH_EMPTY"
	RuleBranchTarget      = "BRANCH_TARGET"
	RuleBranchDuplicate   = "BRANCH_DUPLICATE"
	RuleInterruptNoBranch = "INTERRUPT_NO_BRANCH"
	RuleCollectEnum       = "COLLECT_ENUM"
	RuleCollectNotTotal   = "COLLECT_NOT_TOTAL"
	RuleInterruptType     = "INTERRUPT_TYPE"
	RuleKindMissing       = "KIND_MISSING"
	RuleKindChoices       = "KIND_CHOICES"
	RuleKindPolicy        = "KIND_POLICY"
	RuleNodeDeadline      = "NODE_DEADLINE"
	RuleAssignee          = "ASSIGNEE_NAME"
	RuleSelfRoute         = "SELF_ROUTE"
	RuleNodeNoEnd         = "NODE_NO_END"

	// Flows.

	RuleFlowNone           = "FLOW_NONE"
	RuleFlowEmpty          = "FLOW_EMPTY"
	RuleFlowRefFlow        = "FLOW_REF_FLOW"
	RuleFlowRefStep        = "FLOW_REF_STEP"
	RuleFlowRefSlot        = "FLOW_REF_SLOT"
	RuleFlowRefAction      = "FLOW_REF_ACTION"
	RuleFlowRefValidator   = "FLOW_REF_VALIDATOR"
	RuleFlowRefParam       = "FLOW_REF_PARAM"
	RuleFlowResponse       = "FLOW_RESPONSE"
	RuleFlowLanguage       = "FLOW_LANGUAGE"
	RuleFlowStepKey        = "FLOW_STEP_KEY"
	RuleFlowStepIncomplete = "FLOW_STEP_INCOMPLETE"
	RuleFlowStepDuplicate  = "FLOW_STEP_DUPLICATE"
	RuleFlowExpr           = "FLOW_EXPR"
	RuleFlowType           = "FLOW_TYPE"
	RuleFlowBind           = "FLOW_BIND"
	RuleFlowSlotType       = "FLOW_SLOT_TYPE"
	RuleFlowTemplate       = "FLOW_TEMPLATE"
	RuleFlowTemplateVar    = "FLOW_TEMPLATE_VAR"
	RuleFlowInputMissing   = "FLOW_INPUT_MISSING"
	RuleFlowOutputDropped  = "FLOW_OUTPUT_DROPPED"
	RuleFlowUnreachable    = "FLOW_UNREACHABLE"
	RuleFlowNoEnd          = "FLOW_NO_END"
	RuleFlowCallLoop       = "FLOW_CALL_LOOP"
	RuleFlowEffectNoDeny   = "FLOW_EFFECT_NO_DENY"
	RuleFlowEffectUnasked  = "FLOW_EFFECT_UNASKED"
	RuleFlowIntentTwice    = "FLOW_INTENT_TWICE"
	RuleFlowSlotUnfilled   = "FLOW_SLOT_UNFILLED"
	RuleFlowLoopFixed      = "FLOW_LOOP_FIXED"
	RuleFlowOutputUnset    = "FLOW_OUTPUT_UNSET"
	RuleFlowSlotUnused     = "FLOW_SLOT_UNUSED"
	RuleFlowUnused         = "FLOW_UNUSED"
	RuleFlowHiddenUncalled = "FLOW_HIDDEN_UNCALLED"

	// Docs and wire names.

	RuleDocMissing     = "DOC_MISSING"
	RuleDocOptional    = "DOC_OPTIONAL"
	RuleDocNearEqual   = "DOC_NEAR_EQUAL"
	RuleWireNameLength = "WIRE_NAME_LENGTH"
	RuleDeprecatedUsed = "DEPRECATED_USED"

	// Edits: why one is refused.

	RuleRefInUse     = "REF_IN_USE"
	RuleEditArgument = "EDIT_ARGUMENT"
	RuleEditLayout   = "EDIT_LAYOUT"

	// Output, schemas and bindings: found by the passes after this package.

	RuleOutInvalid         = "OUT_INVALID"
	RuleOutForeign         = "OUT_FOREIGN"
	RuleOutChanged         = "OUT_CHANGED"
	RuleOutMissing         = "OUT_MISSING"
	RuleOutLeftover        = "OUT_LEFTOVER"
	RuleOutputBroken       = "OUTPUT_BROKEN"
	RulePackageInvalid     = "GO_PACKAGE_INVALID"
	RuleImportInvalid      = "IMPORT_INVALID"
	RuleBindingCycle       = "BINDING_CYCLE"
	RuleSchemaLimit        = "SCHEMA_LIMIT"
	RulePromptTemplate     = "PROMPT_TEMPLATE"
	RuleSchemaNoStrictForm = "SCHEMA_NO_STRICT_FORM"
)
