package taskbuild

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// maxManifestCommits bounds how far back dependencyCommit looks.
const maxManifestCommits = 100

// dependencyCommit returns the oldest commit up to the base since which the manifests of the recipe have not changed,
// apart from the repository's own version in those of npm. So what is installed in its tree is not later than the base.
// "" if the recipe installs nothing.
func dependencyCommit(ctx context.Context, c Candidate, r Recipe) (string, error) {
	if len(r.Dependencies) == 0 {
		return "", nil
	}
	base, err := manifestsAt(ctx, c.Repository, c.Base, r.Manifests)
	if err != nil {
		return "", err
	}
	out, err := Git(ctx, c.Repository, append([]string{"log", "-n", fmt.Sprint(maxManifestCommits), "--format=%H", c.Base, "--"}, pathspecs(r.Manifests)...)...)
	if err != nil {
		return "", err
	}
	oldest := c.Base
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		at, err := manifestsAt(ctx, c.Repository, lines.Text(), r.Manifests)
		if err != nil {
			return "", err
		}
		if at != base {
			break
		}
		oldest = lines.Text()
	}
	return oldest, nil
}

// manifestsAt lists the manifests at a commit, each with what identifies its content.
func manifestsAt(ctx context.Context, repository, commit string, patterns []string) (string, error) {
	out, err := Git(ctx, repository, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return "", err
	}
	var found []string
	for _, entry := range strings.Split(string(out), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		if !ok || !MatchAny(patterns, name) {
			continue
		}
		switch words := strings.Fields(about); path.Base(name) {
		case "package.json", "package-lock.json", "npm-shrinkwrap.json":
			content, err := Git(ctx, repository, "cat-file", words[1], words[2])
			if err != nil {
				return "", err
			}
			entry = name + "\t" + keyOf(withoutVersion(content))
		}
		found = append(found, entry)
	}
	return strings.Join(found, "\n"), nil
}

// withoutVersion returns a manifest of npm without the version of the package itself, which changes with each release.
func withoutVersion(content []byte) string {
	var manifest map[string]any
	if json.Unmarshal(content, &manifest) != nil {
		return string(content)
	}
	delete(manifest, "version")
	if packages, ok := manifest["packages"].(map[string]any); ok {
		if itself, ok := packages[""].(map[string]any); ok {
			delete(itself, "version")
		}
	}
	plain, err := json.Marshal(manifest)
	if err != nil {
		return string(content)
	}
	return string(plain)
}
