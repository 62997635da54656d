package python

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"relabel/envs/verify/canary"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
	"relabel/testlog"
)

// neighbour is a file of the task's tests in Python.
type neighbour struct {
	file    string
	content []byte // empty if it cannot be read
}

const (
	maxNeighbourBytes = 2 << 20 // bytes of all neighbours but the first
	maxTried          = 500     // names of files that are looked for
)

// pythonNeighbours returns the files of the task's tests: those that FAIL_TO_PASS names, then
// those of the test patch, otherwise the first that the task names.
func pythonNeighbours(g canary.Garden) []neighbour {
	files := testFilesOf(g)
	if len(files) == 0 {
		if first := firstTestFile(g); first != "" {
			files = []string{first}
		}
	}
	var neighbours []neighbour
	total := 0
	for _, file := range files[:min(len(files), canary.MaxNeighbours)] {
		content, _ := g.Read(file)
		if total += len(content); total > maxNeighbourBytes && len(neighbours) > 0 {
			break
		}
		neighbours = append(neighbours, neighbour{file, content})
	}
	return neighbours
}

// testFilesOf returns the files that FAIL_TO_PASS names, then those of the test patch, each once.
func testFilesOf(g canary.Garden) []string {
	var files []string
	tried := map[string]bool{}
	add := func(file string) bool {
		if file == "" || tree.UnsafePath(file) || tried[file] {
			return slices.Contains(files, file)
		}
		tried[file] = true
		if !g.Has(file) {
			return false
		}
		files = append(files, file)
		return true
	}
	for _, id := range g.Task.FailToPass {
		if add(testcmd.FileOf(id+"::")) || len(files) >= canary.MaxNeighbours {
			continue
		}
		if class := dottedClass(id); !tried[class] && len(tried) < maxTried {
			tried[class] = true
			_ = slices.ContainsFunc(dottedFiles(class), add) // adds the first that exists
		}
	}
	for _, file := range g.PatchedTests(testcmd.TestModule) {
		add(file)
	}
	return files
}

// dottedClass returns the class or module of a test id such as tests.test_add.AddTest.test_add
// or test_add (adding.tests.AddTest).
func dottedClass(id string) string {
	if m := testlog.UnittestID.FindStringSubmatch(id); m != nil {
		return strings.TrimSuffix(m[2], "."+m[1])
	}
	if at := strings.LastIndexByte(id, '.'); at > 0 {
		return id[:at]
	}
	return id
}

// dottedFiles returns the files that may contain a class or module of a dotted name.
func dottedFiles(dotted string) []string {
	var files []string
	for parts := strings.Split(dotted, "."); len(parts) > 0; parts = parts[:len(parts)-1] {
		for _, root := range []string{".", "tests", "src"} {
			files = append(files, path.Join(root, strings.Join(parts, "/")+".py"))
		}
	}
	return files
}

// contentOf joins the contents of files.
func contentOf(neighbours []neighbour) []byte {
	var all [][]byte
	for _, n := range neighbours {
		all = append(all, n.content)
	}
	return bytes.Join(all, []byte("\n"))
}

// takesBelow reports whether canaries may be at the end of the file.
func (n neighbour) takesBelow(g canary.Garden) bool {
	return len(n.content) > 0 && !g.Left[canary.BelowKey]
}

// below is the file with code at its end.
func (n neighbour) below(g canary.Garden, names *canary.Namer, code []string) canary.File {
	return g.Below(names, n.file, n.content, "\n\n"+strings.Join(code, "\n\n"))
}

// firstTestFile is the first file that the task's ids name; "" if they name none.
func firstTestFile(g canary.Garden) string {
	for _, list := range [][]string{g.Task.FailToPass, g.Task.PassToPass, testcmd.Files(g.Task)} {
		for _, id := range list {
			if file := testcmd.FileOf(id + "::"); file != "" && g.Has(file) {
				return file
			}
		}
	}
	return ""
}

// canaryFile draws a name for a file beside neighbour, with the same prefix or suffix.
func canaryFile(g canary.Garden, n *canary.Namer, neighbour string) string {
	for {
		name := "test_" + n.Snake() + ".py"
		if strings.HasSuffix(neighbour, "_test.py") {
			name = n.Snake() + "_test.py"
		}
		if file := path.Join(path.Dir(neighbour), name); !g.Has(file) {
			return file
		}
	}
}
