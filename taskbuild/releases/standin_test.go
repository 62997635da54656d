package releases

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// standIn is a local stand-in for the registries: it speaks the parts of their protocols that their clients
// need to download a package. It has two releases of one package in each ecosystem.
type standIn struct {
	url   string
	mu    sync.Mutex
	files map[string][]byte // by path
}

// startStandIn starts the registries and points their clients to them.
func startStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{files: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		content, ok := s.files[r.URL.Path]
		content = slices.Clone(content)
		s.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/simple/demo/" {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	ensureCargo(t)
	for name, value := range map[string]string{
		"PIP_INDEX_URL": s.url + "/simple", "PIP_CONFIG_FILE": "/dev/null", "PIP_NO_CACHE_DIR": "1", "PIP_FIND_LINKS": "",
		"npm_config_registry": s.url + "/npm/", "npm_config_cache": t.TempDir(),
		"GOPROXY": s.url + "/go", "GONOSUMDB": "*", "GONOSUMCHECK": "1", "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(),
		"CARGO_HOME": s.cargoHome(t), "NO_PROXY": "127.0.0.1",
	} {
		t.Setenv(name, value)
	}
	return s
}

// cargoHome makes a folder with the settings of cargo.
func (s *standIn) cargoHome(t *testing.T) string {
	dir := t.TempDir()
	settings := "[source.crates-io]\nreplace-with = \"stand-in\"\n[source.stand-in]\nregistry = \"sparse+" + s.url + "/index/\"\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sum is the SHA-256 of a file in hexadecimal.
func (s *standIn) sum(path string) string {
	sum := sha256.Sum256(s.files[path])
	return hex.EncodeToString(sum[:])
}

// tree are the files of a release.
type tree map[string]string

// with returns the tree with other files.
func (f tree) with(more tree) tree {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// members are the files below a folder, as an archive has them.
func (f tree) members(folder string) []member {
	var list []member
	for _, name := range slices.Sorted(maps.Keys(f)) {
		list = append(list, member{name: folder + name, content: f[name], mode: 0o644})
	}
	return list
}

// backend is the build backend of the package of PyPI: pip asks it for the name of the package.
const backend = `import os
def prepare_metadata_for_build_wheel(folder, settings=None):
    os.mkdir(folder + "/demo-VERSION.dist-info")
    open(folder + "/demo-VERSION.dist-info/METADATA", "w").write("Metadata-Version: 2.1\nName: demo\nVersion: VERSION\n")
    return "demo-VERSION.dist-info"
`

// publish adds a release of the package demo to a registry, and returns the hash of its archive.
func (s *standIn) publish(t *testing.T, e Ecosystem, version string, files tree) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e {
	case PyPI:
		path := "/files/demo-" + version + ".tar.gz"
		s.files[path] = tarGz(t, files.members("demo-"+version+"/")...)
		s.files["/simple/demo/"] = fmt.Appendf(s.files["/simple/demo/"], "<a href=\"%s#sha256=%s\">demo-%s.tar.gz</a>\n", path, s.sum(path), version)
		return s.sum(path)
	case NPM:
		return s.publishNPM(t, version, files)
	case Crates:
		return s.publishCrate(t, version, files)
	}
	path := "/go/example.com/demo/@v/" + version
	s.files[path+".info"] = fmt.Appendf(nil, `{"Version": %q, "Time": "2020-01-01T00:00:00Z"}`, version)
	s.files[path+".mod"] = []byte(files["go.mod"])
	s.files[path+".zip"] = zipOf(t, files.members("example.com/demo@"+version+"/")...)
	return s.sum(path + ".zip")
}

func (s *standIn) publishNPM(t *testing.T, version string, files tree) string {
	path := "/npm/demo/-/demo-" + version + ".tgz"
	s.files[path] = tarGz(t, files.members("package/")...)
	sum := sha512.Sum512(s.files[path])
	document := map[string]any{"name": "demo", "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{}}
	if old := s.files["/npm/demo"]; old != nil {
		if err := json.Unmarshal(old, &document); err != nil {
			t.Fatal(err)
		}
	}
	document["versions"].(map[string]any)[version] = map[string]any{"name": "demo", "version": version,
		"dist": map[string]string{"tarball": s.url + path, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	s.files["/npm/demo"] = text
	return s.sum(path)
}

func (s *standIn) publishCrate(t *testing.T, version string, files tree) string {
	path := "/crates/demo/" + version + "/download"
	s.files[path] = tarGz(t, files.members("demo-"+version+"/")...)
	s.files["/index/config.json"] = fmt.Appendf(nil, `{"dl": "%s/crates"}`, s.url)
	s.files["/index/de/mo/demo"] = fmt.Appendf(s.files["/index/de/mo/demo"],
		`{"name":"demo","vers":"%s","deps":[],"cksum":"%s","features":{},"yanked":false}`+"\n", version, s.sum(path))
	return s.sum(path)
}

// cargoStandIn does what `cargo fetch` does with a package that has one dependency, on machines without cargo.
const cargoStandIn = `#!/usr/bin/env python3
import hashlib, json, os, re, sys, urllib.request

assert sys.argv[1:] == ["fetch", "--quiet"], sys.argv
home = os.environ["CARGO_HOME"]
with open(os.path.join(home, "config.toml")) as file:
    index = re.search(r'"sparse\+(.*)"', file.read()).group(1)
with open("Cargo.toml") as file:
    name, version = re.search(r'\[dependencies\]\n(.*) = "=(.*)"', file.read()).groups()

def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()

for line in get(f"{index}{name[:2]}/{name[2:4]}/{name}").splitlines():
    crate = json.loads(line)
    if crate["vers"] == version:
        content = get(f"{json.loads(get(index + 'config.json'))['dl']}/{name}/{crate['vers']}/download")
        assert hashlib.sha256(content).hexdigest() == crate["cksum"]
        cache = os.path.join(home, "registry", "cache", "stand-in")
        os.makedirs(cache, exist_ok=True)
        with open(os.path.join(cache, f"{name}-{crate['vers']}.crate"), "wb") as file:
            file.write(content)
        sys.exit()
sys.exit(f"error: no version {version} of {name}")
`

// ensureCargo puts the stand-in on the PATH if cargo is not installed.
func ensureCargo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("cargo"); err == nil {
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cargo"), []byte(cargoStandIn), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
