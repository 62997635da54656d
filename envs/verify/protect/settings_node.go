package protect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// typeScriptSettings matches settings of the TypeScript compiler.
var typeScriptSettings = regexp.MustCompile(`^[tj]sconfig(\.[\w-]+)*\.json$`)

// Keys that no test runner, compiler or bundler reads when tests run. All others control the tests.
var (
	packageTexts = tree.Set(strings.Fields(`$schema version description keywords license author contributors maintainers repository bugs homepage files
		dependencies devDependencies peerDependencies optionalDependencies peerDependenciesMeta bundleDependencies bundledDependencies
		engines os cpu private publishConfig funding sideEffects types typings typesVersions man bin main module unpkg jsdelivr
		lint-staged husky eslintConfig eslintIgnore stylelint prettier commitlint release`))
	compilerTexts = tree.Set(strings.Fields(`outDir declaration declarationDir declarationMap sourceMap inlineSourceMap tsBuildInfoFile incremental lib target removeComments`))
)

// packageSteering returns the settings of a package.json that control the tests: scripts that the
// test command reaches, names of modules, and each key that is not known to be harmless. New
// exports do not control tests.
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
			for name, target := range exportNames(value) {
				if p.exported[name] || p.exported["*"] { // patterns of the base come after other names
					found["exports."+name] = target
				}
			}
		default:
			found[key] = value
		}
	}
	return found
}

// exportsOf returns the exported names of a package.json, and "*" if one is a pattern.
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

// exportNames returns the targets of exported names. A target without a name is the package's own.
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

// reachedScripts returns the scripts that commands reach by npm or similar programs, by name.
func reachedScripts(commands string, scripts map[string]any) map[string]string {
	reached := map[string]string{}
	queue := []string{commands + "\ntest pretest posttest install preinstall postinstall prepare"}
	for len(queue) > 0 {
		words := testcmd.Words(queue[0])
		queue = queue[1:]
		for name := range scripts {
			named := func(w testcmd.Word) bool {
				matches, _ := path.Match(w.Text, name)
				return matches || w.Text == name
			}
			if _, known := reached[name]; !known && slices.ContainsFunc(words, named) {
				reached[name], _ = scripts[name].(string)
				queue = append(queue, reached[name]+"\npre"+name+" post"+name)
			}
		}
	}
	return reached
}

// typeScriptSteering returns the settings that control how tests are compiled and modules found.
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

// jsonObject reads a JSON object. It is nil if content is broken or repeats a key, which readers
// treat differently.
func jsonObject(content []byte) map[string]any {
	var object map[string]any
	if json.Unmarshal(content, &object) != nil || !uniqueKeys(content) {
		return nil
	}
	return object
}

// uniqueKeys reports whether no object of a JSON text repeats a key.
func uniqueKeys(content []byte) bool {
	type level struct {
		keys  map[string]bool // nil in an array
		value bool            // a value comes next, not a key
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

// jsonParts matches strings, comments, and commas before a closing bracket.
var jsonParts = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?:\s|//[^\n]*|/\*.*?\*/)*[}\]]`)

// plainJSON removes comments and trailing commas, which compilers allow, from a JSON text.
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
