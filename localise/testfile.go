package localise

import (
	"path"
	"regexp"
	"strings"
)

var (
	testFolder = regexp.MustCompile(`(?:^|/)(?:test|tests|testing|spec|__tests__)(?:/|$)`)
	testName   = regexp.MustCompile(`^(?:test_.*\.py|.*_test\.(?:py|go)|.*\.(?:test|spec)\..*|.*Test\.java|conftest\.py)$`)
)

// IsTest reports whether a file is one of tests by its path. Such files are no gold.
func IsTest(file string) bool {
	return testFolder.MatchString(file) || testName.MatchString(strings.ReplaceAll(path.Base(file), "\n", " "))
}
