package hubtest

import (
	"bufio"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// repo is a repository.
type repo struct {
	name     string
	private  bool
	branches map[string]string // the hashes of their commits
	commits  map[string]snapshot
}

// snapshot is the files of a commit by their paths.
type snapshot map[string]file

// file is a file of a commit. One in LFS has its object's hash instead of bytes.
type file struct {
	bytes  []byte
	object string
	size   int64
}

func (f file) gitObject() string {
	text := f.bytes
	if f.object != "" {
		text = fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", f.object, f.size)
	}
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...))
	return hex.EncodeToString(sum[:])
}

// CreateRepo creates a repository as the Hub does, with one commit.
func (s *Server) CreateRepo(name string, private bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newRepo(name, private)
}

func (s *Server) newRepo(name string, private bool) {
	r := &repo{name: name, private: private, branches: map[string]string{}, commits: map[string]snapshot{}}
	text := []byte("*.parquet filter=lfs diff=lfs merge=lfs -text\n")
	r.add("main", "", snapshot{".gitattributes": {bytes: text, size: int64(len(text))}}, "initial commit")
	s.repos[name] = r
}

// add adds a commit to a branch and returns its hash.
func (r *repo) add(branch, parent string, files snapshot, summary string) string {
	hash := sha1.New()
	fmt.Fprintln(hash, r.name, len(r.commits), parent, summary)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintln(hash, name, files[name].gitObject())
	}
	commit := hex.EncodeToString(hash.Sum(nil))
	r.commits[commit], r.branches[branch] = files, commit
	return commit
}

// at returns the commit of a revision.
func (r *repo) at(revision string) (commit string, files snapshot, is bool) {
	commit = revision
	if at, is := r.branches[revision]; is {
		commit = at
	}
	files, is = r.commits[commit]
	return commit, files, is
}

// found is at for a request, which it answers if there is no such revision.
func (r *repo) found(w http.ResponseWriter, q *http.Request) (commit string, files snapshot, is bool) {
	revision := q.PathValue("rev")
	if revision == "" {
		revision = "main"
	}
	if commit, files, is = r.at(revision); !is {
		fail(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+revision)
	}
	return commit, files, is
}

// Head returns the commit of a branch and the number of commits of the repository.
func (s *Server) Head(name, branch string) (commit string, commits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[name]
	if r == nil {
		return "", 0
	}
	return r.branches[branch], len(r.commits)
}

// Files returns the bytes of the files of a revision; those that are always there are not among them.
func (s *Server) Files(name, revision string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	_, files, _ := s.repos[name].at(revision)
	for path, f := range files {
		if path != ".gitattributes" {
			all[path] = string(s.bytesOf(f))
		}
	}
	return all
}

// Stored lists the objects in LFS by their hashes.
func (s *Server) Stored() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Private reports whether a repository is private.
func (s *Server) Private(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repos[name].private
}

// Write commits a file as somebody else would.
func (s *Server) Write(name, branch, path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[name]
	files := maps.Clone(r.commits[r.branches[branch]])
	files[path] = file{bytes: []byte(text), size: int64(len(text))}
	r.add(branch, r.branches[branch], files, "write "+path)
}

func (s *Server) bytesOf(f file) []byte {
	if f.object != "" {
		return s.objects[f.object]
	}
	return f.bytes
}

func (s *Server) createRepo(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Name, Organization, Type string
		Private                  bool
		Visibility               string // what newer clients send instead
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Type != "dataset" {
		fail(w, http.StatusBadRequest, "", "Invalid request")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := asked.Organization + "/" + asked.Name
	switch {
	case bearer(r) != Token || asked.Organization != Organisation:
		fail(w, http.StatusForbidden, "", "You don't have the rights to create a dataset under the namespace \""+asked.Organization+"\"")
	case s.repos[name] != nil:
		fail(w, http.StatusConflict, "", "You already created this dataset repo")
	default:
		s.newRepo(name, asked.Private || asked.Visibility == "private")
		answer(w, http.StatusOK, map[string]string{"url": s.URL + "/datasets/" + name})
	}
}

// cardProblem says what is wrong with a card; "" if nothing is.
func cardProblem(text string) string {
	head, _, closed := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !strings.HasPrefix(text, "---\n") || !closed {
		return ""
	}
	for _, line := range strings.Split(head, "\n") {
		if link, is := strings.CutPrefix(line, "license_link: "); is && link != "LICENSE" && !strings.Contains(link, "://") {
			return `"license_link" must be one of [LICENSE, LICENSE.md] or a valid uri`
		}
	}
	return ""
}

func validateCard(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Content, RepoType string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.RepoType != "dataset" {
		fail(w, http.StatusBadRequest, "", "Invalid request")
		return
	}
	problems, status := []map[string]string{}, http.StatusOK
	if problem := cardProblem(asked.Content); problem != "" {
		problems, status = append(problems, map[string]string{"message": problem}), http.StatusBadRequest
	}
	answer(w, status, map[string]any{"errors": problems, "warnings": []string{}})
}

func (s *Server) showRevision(w http.ResponseWriter, q *http.Request, r *repo) {
	commit, files, is := r.found(w, q)
	if !is {
		return
	}
	siblings := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		siblings = append(siblings, map[string]string{"rfilename": name})
	}
	answer(w, http.StatusOK, map[string]any{"id": r.name, "_id": "1", "author": path.Dir(r.name), "sha": commit, "private": r.private, "disabled": false, "gated": false,
		"downloads": 0, "likes": 0, "tags": []string{}, "lastModified": "2026-01-01T00:00:00.000Z", "createdAt": "2026-01-01T00:00:00.000Z", "siblings": siblings})
}

func (s *Server) createBranch(w http.ResponseWriter, q *http.Request, r *repo) {
	branch := q.PathValue("rev")
	if _, is := r.branches[branch]; is {
		fail(w, http.StatusConflict, "", "Reference already exists")
		return
	}
	r.branches[branch] = r.branches["main"]
	answer(w, http.StatusOK, map[string]any{})
}

func (s *Server) preupload(w http.ResponseWriter, q *http.Request, r *repo) {
	var asked struct {
		Files []struct {
			Path   string `json:"path"`
			Sample string `json:"sample"`
			Size   int64  `json:"size"`
		} `json:"files"`
	}
	_, files, is := r.found(w, q)
	if !is {
		return
	}
	if err := json.NewDecoder(q.Body).Decode(&asked); err != nil {
		fail(w, http.StatusBadRequest, "", "Invalid JSON")
		return
	}
	told := []map[string]any{}
	for _, f := range asked.Files {
		sample, _ := base64.StdEncoding.DecodeString(f.Sample)
		mode := "regular"
		if strings.HasSuffix(f.Path, ".parquet") || f.Size > 10<<20 || strings.Contains(string(sample), "\x00") {
			mode = "lfs"
		}
		ignored := strings.Contains(string(files[".gitignore"].bytes), path.Base(f.Path))
		told = append(told, map[string]any{"path": f.Path, "uploadMode": mode, "shouldIgnore": ignored, "oid": nil})
	}
	answer(w, http.StatusOK, map[string]any{"files": told})
}

// operation is a line of a commit.
type operation struct {
	Key   string `json:"key"`
	Value struct {
		Summary, ParentCommit         string
		Path, Content, Encoding, Algo string
		OID                           string `json:"oid"`
		Size                          int64
	} `json:"value"`
}

func (s *Server) commit(w http.ResponseWriter, q *http.Request, r *repo) {
	head, old, is := r.found(w, q)
	if !is {
		return
	}
	files, summary := maps.Clone(old), ""
	lines := bufio.NewScanner(q.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var o operation
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			fail(w, http.StatusBadRequest, "", "Invalid JSON")
			return
		}
		if o.Key == "header" {
			summary = o.Value.Summary
		}
		if o.Key == "header" && o.Value.ParentCommit != "" && o.Value.ParentCommit != head {
			fail(w, http.StatusPreconditionFailed, "", "A commit has happened since. Please refresh and try again.")
			return
		}
		if problem := s.apply(files, o); problem != "" {
			fail(w, http.StatusBadRequest, "", problem)
			return
		}
	}
	if summary == "" || lines.Err() != nil {
		fail(w, http.StatusBadRequest, "", "The commit has no summary")
		return
	}
	commit := r.add(q.PathValue("rev"), head, files, summary)
	answer(w, http.StatusOK, map[string]any{"success": true, "commitOid": commit, "commitUrl": s.URL + "/datasets/" + r.name + "/commit/" + commit, "hookOutput": ""})
}

// apply applies an operation to the files, or says why it cannot.
func (s *Server) apply(files snapshot, o operation) string {
	switch o.Key {
	case "header":
	case "file":
		text, err := base64.StdEncoding.DecodeString(o.Value.Content)
		if err != nil || o.Value.Encoding != "base64" {
			return "Invalid content of " + o.Value.Path
		}
		if problem := cardProblem(string(text)); o.Value.Path == "README.md" && problem != "" {
			return problem
		}
		files[o.Value.Path] = file{bytes: text, size: int64(len(text))}
	case "lfsFile":
		text, is := s.objects[o.Value.OID]
		if !is || int64(len(text)) != o.Value.Size || o.Value.Algo != "sha256" {
			return "Your push was rejected because an LFS pointer pointed to a file that does not exist: " + o.Value.Path
		}
		files[o.Value.Path] = file{object: o.Value.OID, size: o.Value.Size}
	case "deletedFile":
		if _, is := files[o.Value.Path]; !is {
			return "A file with this name doesn't exist: " + o.Value.Path
		}
		delete(files, o.Value.Path)
	default:
		return "Unknown operation " + o.Key
	}
	return ""
}

func sha(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
