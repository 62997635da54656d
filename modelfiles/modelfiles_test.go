package modelfiles

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"relabel"
)

// folder makes a folder with the files given.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheUsedFilesOfAFolderAreRead(t *testing.T) {
	dir := folder(t, map[string]string{"tokenizer.json": "{}", "config.json": "{}", "model.safetensors": "weights",
		"additional_chat_templates/rag.jinja": "x", "additional_chat_templates/notes.txt": "y"})
	files, err := ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 || files["model.safetensors"] != nil || string(files["additional_chat_templates/rag.jinja"]) != "x" {
		t.Errorf("%v", files.List())
	}
	if _, err := ReadFolder(filepath.Join(dir, "absent")); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("an absent folder: %v", err)
	}
}

// hostile makes folders with a hostile file named tokenizer.json.
func hostile(t *testing.T, root string) map[string]string {
	t.Helper()
	places := map[string]string{}
	add := func(name string, do func(path string) error) {
		dir := filepath.Join(root, name)
		if err := errors.Join(os.Mkdir(dir, 0o755), do(filepath.Join(dir, "tokenizer.json"))); err != nil {
			t.Fatal(err)
		}
		places[name] = dir
	}
	add("device", func(path string) error { return os.Symlink("/dev/zero", path) })
	add("pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) })
	add("folder", func(path string) error { return os.Mkdir(path, 0o755) })
	add("huge", func(path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 10<<30))
	})
	return places
}

func TestHostileFilesAreRefusedUnread(t *testing.T) {
	for name, dir := range hostile(t, t.TempDir()) {
		if files, err := ReadFolder(dir); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%s: %d bytes, %v", name, files.Bytes(), err)
		}
	}
	for _, path := range []string{"/dev/zero", "/proc/self/mem", "/"} {
		if _, err := ReadFile(path, 1000); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

func TestNothingOutsideOfTheRootIsReadAndErrorsAreTheSame(t *testing.T) {
	top := folder(t, map[string]string{"secret/tokenizer.json": "{}", "models/good/tokenizer.json": "{}", "models/file": "x", "models/empty/x": ""})
	models := filepath.Join(top, "models")
	hostile(t, models)
	for name, to := range map[string]string{"out": filepath.Join(top, "secret"), "inside": filepath.Join(models, "good"), "relative": "good"} {
		if err := os.Symlink(to, filepath.Join(models, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(models)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, path := range []string{"good", "./good", filepath.Join(models, "good"), "relative"} {
		if files, err := ReadBelow(root, path); err != nil || string(files["tokenizer.json"]) != "{}" {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"", "..", "../secret", filepath.Join(top, "secret"), "out", "absent", "file", "empty", "device", "pipe", "folder", "huge",
		"/dev", "/dev/zero", "/etc/passwd", "good\x00", "good/../../secret"} {
		_, folderError := ReadBelow(root, path)
		_, templateError := ReadTemplateBelow(root, path)
		for what, err := range map[string]error{"folder": folderError, "template": templateError} {
			if what == "template" && path == "file" {
				continue // a file is what a template is
			}
			var shown *relabel.Error
			if !errors.As(err, &shown) || shown.Message != Unreadable().Message || shown.Field != "" {
				t.Errorf("%s %q: %v", what, path, err)
			}
		}
	}
}
