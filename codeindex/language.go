package codeindex

import (
	"cmp"
	"path"
	"strings"
)

// extensions are the languages of files by the end of their names.
var extensions = map[string]Language{
	".py": Python, ".pyi": Python, ".pyw": Python,
	".go": Go,
	".js": JavaScript, ".jsx": JavaScript, ".mjs": JavaScript, ".cjs": JavaScript,
	".ts": TypeScript, ".tsx": TypeScript, ".mts": TypeScript, ".cts": TypeScript,
	".java": Java,
	".rs":   Rust,
	".c":    C, ".h": C,
	".cc": CPP, ".cpp": CPP, ".cxx": CPP, ".c++": CPP, ".C": CPP, ".hh": CPP, ".hpp": CPP, ".hxx": CPP, ".h++": CPP, ".H": CPP,
	".inl": CPP, ".ipp": CPP, ".tpp": CPP,
	".rb": Ruby, ".gemspec": Ruby, ".rake": Ruby, ".ru": Ruby,
	".php": PHP, ".phtml": PHP,
}

// names are the languages of files by their whole names.
var names = map[string]Language{
	"Brewfile": Ruby, "Capfile": Ruby, "Fastfile": Ruby, "Gemfile": Ruby, "Guardfile": Ruby, "Podfile": Ruby, "Rakefile": Ruby, "Vagrantfile": Ruby,
}

// LanguageOf returns the language of a file by its name, "" for none. Headers that end with .h are C
// here, though they are C++ in many repositories.
func LanguageOf(name string) Language {
	extension := path.Ext(name)
	return cmp.Or(names[path.Base(name)], extensions[extension], extensions[strings.ToLower(extension)])
}
