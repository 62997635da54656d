package protect

import (
	"slices"
	"testing"
)

func TestProgramsOfScriptsThatTheTestCommandComesTo(t *testing.T) {
	const file = `{"scripts": {"test": "eslint src/index.js && node scripts/test.js --verbose", "pretest": "./prepare", "build": "node build.js"}}`
	got := nodePrograms([]byte(file), "npm test -- --verbose")
	slices.Sort(got)
	if want := []string{"prepare", "scripts/test.js"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
