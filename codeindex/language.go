package codeindex

import (
	"path"
	"strings"
)

// extensions are the languages of files by the end of their names.
var extensions = map[string]Language{
	".py": Python, ".pyi": Python,
	".go": Go,
	".js": JavaScript, ".jsx": JavaScript, ".mjs": JavaScript, ".cjs": JavaScript,
	".ts": TypeScript, ".tsx": TypeScript, ".mts": TypeScript, ".cts": TypeScript,
	".java": Java,
	".rs":   Rust,
	".c":    C, ".h": C,
	".cc": CPP, ".cpp": CPP, ".cxx": CPP, ".hh": CPP, ".hpp": CPP, ".hxx": CPP,
	".rb":  Ruby,
	".php": PHP,
}

// LanguageOf returns the language of a file by its name, "" for none. Headers that end with .h are C
// here, though they are C++ in many repositories.
func LanguageOf(name string) Language { return extensions[strings.ToLower(path.Ext(name))] }
