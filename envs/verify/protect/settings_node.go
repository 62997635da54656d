package protect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"

	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// typeScriptSettings matches the settings of TypeScript's compiler.
var typeScriptSettings = regexp.MustCompile(`^[tj]sconfig(\.[\w-]+)*\.json$`)

// Keys that no test runner, compiler or bundler reads when tests run. All others steer.
var (
	packageTexts = tree.Set(strings.Fields(`$schema version description keywords license author contributors maintainers repository bugs homepage files
		dependencies devDependencies peerDependencies optionalDependencies peerDependenciesMeta bundleDependencies bundledDependencies
		engines os cpu private publishConfig funding sideEffects types typings typesVersions man bin main module unpkg jsdelivr
		lint-staged husky eslintConfig eslintIgnore stylelint prettier commitlint release`))
	compilerTexts = tree.Set(strings.Fields(`outDir declaration declarationDir declarationMap sourceMap inlineSourceMap tsBuildInfoFile incremental lib target removeComments`))
)

// packageSteering returns what steers tests in a package.json: scripts that the test
// command comes to, what names modules, and each key that is not known to be harmless. New
// names that a package gives to its modules are not among them.
func packageSteering(p protection, content []byte) map[string]any {
	file := jsonObject(content)
	if file == nil {
		return nil
	}
	found := map[string]any{}
	for key, value := range file {
		switch {
		case packageTexts[key]:
		case key == "scripts":
			all, _ := value.(map[string]any)
			for name := range reachedScripts(p.commands, all) {
				found["scripts."+name] = all[name]
			}
		case key == "exports":
			exportSteering(p, found, value)
		default:
			found[key] = value
		}
	}
	return found
}

// exportSteering adds the names that a package gives to its modules: those that the base
// has, and all where the base gives names by pattern, as others go before these.
func exportSteering(p protection, found map[string]any, value any) {
	for name, target := range exportNames(value) {
		if p.exported[name] || p.exported["*"] {
			found["exports."+name] = target
		}
	}
}

// exportsOf returns the names of a package.json at the base, and "*" where one is a pattern.
func exportsOf(content []byte) map[string]bool {
	names := map[string]bool{}
	for name := range exportNames(jsonObject(content)["exports"]) {
		names[name] = true
		if strings.Contains(name, "*") || strings.HasSuffix(name, "/") {
			names["*"] = true
		}
	}
	return names
}

// exportNames returns what names lead to. What has no names is that of the package itself.
func exportNames(value any) map[string]any {
	names, _ := value.(map[string]any)
	for name := range names {
		if strings.HasPrefix(name, ".") {
			return names
		}
	}
	if value == nil {
		return nil
	}
	return map[string]any{".": value}
}

// reachedScripts returns the names of the scripts that commands come to, by npm and its kin.
func reachedScripts(commands string, scripts map[string]any) map[string]bool {
	reached := map[string]bool{}
	add := func(text string) (grown bool) {
		for _, w := range testcmd.Words(text) {
			for name := range scripts {
				if matches, _ := path.Match(w.Text, name); (matches || w.Text == name) && !reached[name] {
					reached[name], grown = true, true
				}
			}
		}
		return grown
	}
	grown := add(commands + "\ntest pretest posttest install preinstall postinstall prepare")
	for grown {
		grown = false
		for name := range reached {
			text, _ := scripts[name].(string)
			grown = add(text+"\npre"+name+" post"+name) || grown
		}
	}
	return reached
}

// typeScriptSteering returns what steers how tests are compiled, and where modules are found.
func typeScriptSteering(_ protection, content []byte) map[string]any {
	file := jsonObject(plainJSON(content))
	if file == nil {
		return nil
	}
	found := map[string]any{}
	for key, value := range file {
		switch key {
		case "$schema", "display", "include", "exclude", "files":
		case "compilerOptions":
			options, _ := value.(map[string]any)
			for option, value := range options {
				if !compilerTexts[option] {
					found["compilerOptions."+option] = value
				}
			}
		default:
			found[key] = value
		}
	}
	return found
}

// jsonObject reads a JSON object; nil where content is none, or gives a key twice, which
// readers take differently.
func jsonObject(content []byte) map[string]any {
	var object map[string]any
	if json.Unmarshal(content, &object) != nil || !uniqueKeys(content) {
		return nil
	}
	return object
}

// uniqueKeys reports whether no object of a JSON text gives a key twice.
func uniqueKeys(content []byte) bool {
	type level struct {
		keys  map[string]bool // nil in an array
		value bool            // a value comes next, and no key
	}
	levels := []level{{}}
	for d := json.NewDecoder(bytes.NewReader(content)); ; {
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		top := &levels[len(levels)-1]
		if key, ok := token.(string); ok && top.keys != nil && !top.value {
			if top.keys[key] {
				return false
			}
			top.keys[key], top.value = true, true
			continue
		}
		top.value = false
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{keys: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		}
	}
}

// jsonParts finds strings, comments, and commas before a closing bracket.
var jsonParts = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?:\s|//[^\n]*|/\*.*?\*/)*[}\]]`)

// plainJSON leaves out of a JSON text what compilers allow besides: comments and commas
// after the last value.
func plainJSON(content []byte) []byte {
	return jsonParts.ReplaceAllFunc(content, func(part []byte) []byte {
		switch part[0] {
		case '"':
			return part
		case ',':
			return part[len(part)-1:]
		}
		return []byte(" ")
	})
}
