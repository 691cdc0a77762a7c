package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNames(t *testing.T) {
	tests := []struct{ key, goName, wire, display string }{
		{"discoveryOrchestrator", "DiscoveryOrchestrator", "DISCOVERY_ORCHESTRATOR",
			"Discovery Orchestrator"},
		{"contextId", "ContextID", "CONTEXT_ID", "Context ID"},
		{"urlIds", "URLIDs", "URL_IDS", "URL IDs"},
		{"httpServer", "HTTPServer", "HTTP_SERVER", "HTTP Server"},
		{"JSONFile", "JSONFile", "JSON_FILE", "JSON File"},
		{"user_escape", "UserEscape", "USER_ESCAPE", "User Escape"},
		{"HUMAN_REVIEW", "HumanReview", "HUMAN_REVIEW", "Human Review"},
		{"apiary", "Apiary", "APIARY", "Apiary"},
		{"ideology", "Ideology", "IDEOLOGY", "Ideology"},
		{"version2Beta", "Version2Beta", "VERSION2_BETA", "Version2 Beta"},
		{"a", "A", "A", "A"},
		{"status", "Status", "STATUS", "Status"},
		{"gps", "Gps", "GPS", "Gps"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.goName, GoName(tt.key), "Go name of %s", tt.key)
		assert.Equal(t, tt.wire, WireName(tt.key), "wire name of %s", tt.key)
		assert.Equal(t, tt.display, DisplayName(tt.key), "display name of %s", tt.key)
	}
}
