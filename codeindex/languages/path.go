// Package languages knows the language of a path and the parser of a language.
package languages

import (
	"path"
	"strings"

	"relabel/codeindex"
)

var byExtension = map[string]codeindex.Language{
	".py": codeindex.Python, ".pyi": codeindex.Python, ".pyw": codeindex.Python,
	".go": codeindex.Go,
	".js": codeindex.JavaScript, ".jsx": codeindex.JavaScript, ".mjs": codeindex.JavaScript, ".cjs": codeindex.JavaScript,
	".ts": codeindex.TypeScript, ".tsx": codeindex.TypeScript, ".mts": codeindex.TypeScript, ".cts": codeindex.TypeScript,
	".java": codeindex.Java,
	".rs":   codeindex.Rust,
	".c":    codeindex.C, ".h": codeindex.C,
	".cpp": codeindex.CPP, ".cc": codeindex.CPP, ".cxx": codeindex.CPP, ".c++": codeindex.CPP, ".C": codeindex.CPP,
	".hpp": codeindex.CPP, ".hh": codeindex.CPP, ".hxx": codeindex.CPP, ".h++": codeindex.CPP, ".H": codeindex.CPP,
	".ipp": codeindex.CPP, ".tpp": codeindex.CPP, ".inl": codeindex.CPP,
	".rb": codeindex.Ruby, ".rake": codeindex.Ruby, ".gemspec": codeindex.Ruby, ".ru": codeindex.Ruby,
	".php": codeindex.PHP, ".phtml": codeindex.PHP,
}

var byName = map[string]codeindex.Language{
	"Brewfile": codeindex.Ruby, "Capfile": codeindex.Ruby, "Fastfile": codeindex.Ruby, "Gemfile": codeindex.Ruby,
	"Guardfile": codeindex.Ruby, "Podfile": codeindex.Ruby, "Rakefile": codeindex.Ruby, "Vagrantfile": codeindex.Ruby,
}

// Of returns the language of a path, which its name tells, and whether it has one. A header (.h) is C:
// see InRepository.
func Of(name string) (codeindex.Language, bool) {
	base := path.Base(name)
	if l, ok := byName[base]; ok {
		return l, true
	}
	extension := path.Ext(base)
	if l, ok := byExtension[extension]; ok {
		return l, true
	}
	l, ok := byExtension[strings.ToLower(extension)]
	return l, ok
}

// InRepository returns what Of is in a repository with these paths: its headers (.h) are C++ if it has
// a file that is C++ by its name.
func InRepository(paths []string) func(path string) (codeindex.Language, bool) {
	for _, p := range paths {
		if l, _ := Of(p); l == codeindex.CPP {
			return ofCPP
		}
	}
	return Of
}

func ofCPP(name string) (codeindex.Language, bool) {
	if strings.EqualFold(path.Ext(name), ".h") {
		return codeindex.CPP, true
	}
	return Of(name)
}
