package taskbuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Labels of the images that builds make.
const (
	LabelBuild = "relabel.tasks.build" // the id of the output folder
	LabelKey   = "relabel.tasks.key"   // the key of what is in it
)

// images makes the images of a build and bounds their size. It is safe for concurrent use.
type images struct {
	engine  Engine
	options Options
	folder  *folder

	mu          sync.Mutex
	shared      map[string]*sharedImage // by name
	dockerfiles map[string]dockerfile   // by path
}

// sharedImage is an image with dependencies that several candidates start from.
type sharedImage struct {
	done    chan struct{}
	refusal *Refusal // why it cannot be made
	err     error
	users   int // running candidates
}

func newImages(engine Engine, o Options, f *folder) *images {
	return &images{engine: engine, options: o, folder: f, shared: map[string]*sharedImage{}, dockerfiles: map[string]dockerfile{}}
}

// identity names what the image that a recipe starts from is made of.
func (m *images) identity(r Recipe) string {
	if r.Dockerfile == "" {
		return r.Image
	}
	return m.dockerfileOf(r).key
}

// make makes the image of a trial, and the images below it that do not exist. It returns why one cannot
// be made; the error ends the whole build.
func (m *images) make(ctx context.Context, t *trial) (*Refusal, error) {
	from, release, refusal, err := m.base(ctx, t)
	if release != nil {
		defer release()
	}
	if err != nil || refusal != nil {
		return refusal, err
	}
	if t.dependencies != "" {
		var done func()
		from, done, refusal, err = m.withDependencies(ctx, t, from)
		defer done()
		if err != nil || refusal != nil {
			return refusal, err
		}
	}
	t.from = from
	tree, err := m.export(ctx, t.candidate, t.candidate.Base)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tree)
	facts, err := about(ctx, t.candidate.Repository, t.candidate.Base)
	if err != nil {
		return nil, err
	}
	spec := ImageSpec{
		Name: t.line.Image, From: from, Workdir: t.recipe.Workdir, Files: tarOf(tree, t.recipe.Workdir), Script: t.recipe.buildScript(facts),
		Timeout: t.recipe.buildTime(), Environment: t.recipe.Environment, Labels: map[string]string{LabelBuild: m.folder.id, LabelKey: t.key},
	}
	return m.create(ctx, t, spec, "build", ReasonImage)
}

// create makes an image with a log, and returns a failed command as a refusal.
func (m *images) create(ctx context.Context, t *trial, spec ImageSpec, log string, reason Reason) (*Refusal, error) {
	file, err := t.logFile(t.candidate.ID, log)
	if err != nil {
		return nil, err
	}
	spec.Log, spec.Variables = file, m.options.Variables
	err = errors.Join(m.engine.MakeImage(ctx, spec), file.Close())
	return refusalOf(err, reason)
}

// refusalOf returns a refusal for a command that failed, and other errors unchanged.
func refusalOf(err error, reason Reason) (*Refusal, error) {
	var failed *CommandError
	if errors.As(err, &failed) {
		return &Refusal{Reason: reason, Detail: failed.Error()}, nil
	}
	return nil, err
}

// Error tells how the command ended, with the end of its output.
func (e *CommandError) Error() string {
	how := fmt.Sprintf("exit code %d", e.Exit)
	if e.TimedOut {
		how = "it did not end in time"
	}
	return how + ": " + lastLines([]byte(e.Output), 3)
}

// withDependencies returns the image with the dependencies of a trial. release must be called in any case.
func (m *images) withDependencies(ctx context.Context, t *trial, from string) (name string, release func(), refusal *Refusal, err error) {
	key, err := m.dependencyKey(ctx, t, from)
	if err != nil {
		return "", func() {}, nil, err
	}
	name = sharedName(t.candidate, m.folder.id, "dependencies", key)
	release, refusal, err = m.share(ctx, name, key, func(labels map[string]string) (*Refusal, error) {
		tree, err := m.export(ctx, t.candidate, t.dependencies)
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(tree)
		facts, err := about(ctx, t.candidate.Repository, t.dependencies)
		if err != nil {
			return nil, err
		}
		return m.create(ctx, t, ImageSpec{
			Name: name, From: from, Workdir: t.recipe.Workdir, Files: tarOf(tree, t.recipe.Workdir), Script: t.recipe.dependencyScript(facts),
			Timeout: t.recipe.buildTime(), Environment: t.recipe.Environment, Labels: labels,
		}, "dependencies", ReasonDependencies)
	})
	return name, release, refusal, err
}

// share makes an image that several candidates use, once. Until release is called it is not removed.
func (m *images) share(ctx context.Context, name, key string, create func(labels map[string]string) (*Refusal, error)) (release func(), refusal *Refusal, err error) {
	m.mu.Lock()
	s, there := m.shared[name]
	if !there {
		s = &sharedImage{done: make(chan struct{})}
		m.shared[name] = s
	}
	s.users++
	m.mu.Unlock()
	release = func() {
		m.mu.Lock()
		s.users--
		m.mu.Unlock()
	}
	if there {
		select {
		case <-s.done:
		case <-ctx.Done():
			return release, nil, ctx.Err()
		}
		return release, s.refusal, s.err
	}
	defer close(s.done)
	var labels map[string]string
	if labels, s.err = m.engine.Labels(ctx, LabelKey, []string{name}); s.err == nil && labels[name] != key {
		s.refusal, s.err = create(map[string]string{LabelBuild: m.folder.id, LabelKey: key})
	}
	return release, s.refusal, s.err
}

// noRoom says why no further image may be made; "" if one may. It removes shared images that nobody uses
// before it gives up.
func (m *images) noRoom(ctx context.Context) (why string, err error) {
	for range 2 {
		if why, err = m.full(ctx); err != nil || why == "" {
			return why, err
		}
		if err := m.removeIdle(ctx, nil); err != nil {
			return "", err
		}
	}
	return why, nil
}

// full compares the use of the disk with the limits.
func (m *images) full(ctx context.Context) (why string, err error) {
	free, err := m.engine.Free(ctx)
	if err != nil {
		return "", err
	}
	if free >= 0 && free < m.options.MinFree {
		return fmt.Sprintf("only %d MiB are free on the disk of the images, and %d MiB must stay free", free>>20, m.options.MinFree>>20), nil
	}
	if m.options.MaxDisk == 0 {
		return "", nil
	}
	sizes, err := m.engine.ImagesWith(ctx, LabelBuild, m.folder.id)
	used := int64(0)
	for _, bytes := range sizes {
		used += bytes
	}
	if used >= m.options.MaxDisk {
		why = fmt.Sprintf("the images of this build use %d MiB of the allowed %d MiB", used>>20, m.options.MaxDisk>>20)
	}
	return why, err
}

// removeIdle removes the shared images that no running candidate uses, except the named ones.
func (m *images) removeIdle(ctx context.Context, except map[string]bool) error {
	m.mu.Lock()
	defer m.mu.Unlock() // nobody may begin to use one meanwhile
	for name, s := range maps.Clone(m.shared) {
		if s.users > 0 || except[name] || s.refusal != nil {
			continue
		}
		if err := m.engine.RemoveImage(ctx, name); err != nil {
			return err
		}
		delete(m.shared, name)
	}
	return nil
}

// remove removes the image of a candidate.
func (m *images) remove(ctx context.Context, name string) error {
	return m.engine.RemoveImage(ctx, name)
}

// removeUnused removes all images of the output folder but those of the tasks, and those that they were made from.
func (m *images) removeUnused(ctx context.Context, tasks []Entry) error {
	sizes, err := m.engine.ImagesWith(ctx, LabelBuild, m.folder.id)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, e := range tasks {
		keep[e.Task.Image], keep[e.From] = true, true
	}
	for name := range sizes {
		if !keep[name] {
			if err := m.engine.RemoveImage(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// export writes the repository at a commit into a temporary folder.
func (m *images) export(ctx context.Context, c Candidate, commit string) (dir string, err error) {
	if dir, err = m.folder.tempDir(); err != nil {
		return "", err
	}
	if err = exportCommit(ctx, c.Repository, commit, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// dependencyKey identifies the content of an image with dependencies: the image below, the commands, and
// the manifests.
func (m *images) dependencyKey(ctx context.Context, t *trial, from string) (string, error) {
	manifests, err := manifestsAt(ctx, t.candidate.Repository, t.dependencies, t.recipe.Manifests)
	if err != nil {
		return "", err
	}
	parts, err := json.Marshal([]any{from, t.recipe.Workdir, t.recipe.Dependencies, t.recipe.Environment, manifests})
	return keyOf(string(parts)), err
}

func keyOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// buildTime bounds the commands of one image.
func (r Recipe) buildTime() time.Duration { return time.Duration(r.BuildSeconds) * time.Second }

// notInNames are the characters that names of images do not have.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// imageName is the name of a candidate's image.
func imageName(c Candidate, build, key string) string {
	return "relabel-tasks/" + slug(c.Repo) + "-" + build + ":" + key[:12]
}

// sharedName is the name of an image that candidates start from.
func sharedName(c Candidate, build, what, key string) string {
	return "relabel-tasks/" + slug(c.Repo) + "-" + build + "-" + what + ":" + key[:12]
}

// slug returns a name as a part of the name of an image.
func slug(name string) string {
	name = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(name) > 60 {
		name = strings.Trim(name[:60], "-")
	}
	if name == "" {
		return "repository"
	}
	return name
}
