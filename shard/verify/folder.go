package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"relabel"
)

// The files of an export outside of its views.
const (
	manifestName = "manifest.json"
	readmeName   = "README.md"
)

// ReadManifest reads the manifest.json of an export's folder strictly: a missing or unknown
// field is an error.
func ReadManifest(dir string) (m relabel.Manifest, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, relabel.Errorf(relabel.CodeNotFound, "%s has no %s: it is not a finished export", dir, manifestName).Because(err)
	}
	if err != nil {
		return m, relabel.Errorf(relabel.CodeInvalid, "%s cannot be read", filepath.Join(dir, manifestName)).Because(err)
	}
	raw = relabel.RenameManifestFields(raw)
	if err := readStrictly(raw, &m); err != nil {
		return m, relabel.Errorf(relabel.CodeInvalid, "%s: %v", manifestName, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return m, relabel.Errorf(relabel.CodeInvalid, "%s: %v", manifestName, err)
	}
	for _, name := range fieldsOf(reflect.TypeFor[relabel.Manifest]()) {
		if fields[name] == nil {
			return m, relabel.Errorf(relabel.CodeInvalid, "%s: the field %q is missing", manifestName, name)
		}
	}
	return m, nil
}

// fieldsOf lists the JSON names of a struct's fields that are never omitted.
func fieldsOf(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); options == "" {
			names = append(names, name)
		}
	}
	return names
}

// readStrictly decodes one JSON value and refuses unknown fields.
func readStrictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data follows the end")
	}
	return nil
}

// readManifest reads the manifest; false if the check cannot continue.
func (c *check) readManifest() bool {
	var err error
	if c.manifest, err = ReadManifest(c.dir); err != nil {
		c.refuse("manifest", manifestName, "", "%s", said(err))
		return false
	}
	if v := c.manifest.SchemaVersion; v != 1 {
		c.refuse("manifest", manifestName, "", "schema_version is %d: this program supports 1", v)
		return false
	}
	c.excludedName = "excluded.jsonl"
	if _, err := os.Stat(filepath.Join(c.dir, c.excludedName)); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(c.dir, relabel.EarlierExcludedName)); err == nil {
			c.excludedName = relabel.EarlierExcludedName
		}
	}
	return true
}

// said returns an error's own message, without its code.
func said(err error) string {
	var e *relabel.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// checkFolder compares the existing files with those that the manifest names.
func (c *check) checkFolder() {
	named := map[string]bool{manifestName: true, c.excludedName: true, readmeName: true}
	if c.manifest.For != nil {
		c.checkTrainer(*c.manifest.For, named)
	}
	for _, f := range c.manifest.Files {
		if named[f.Path] {
			c.refuse("manifest", f.Path, "", "is listed twice")
		}
		named[f.Path] = true
		if view, _, _ := strings.Cut(f.Path, "/"); view != string(f.View) {
			c.refuse("manifest", f.Path, "", "is listed in the view %s", f.View)
		}
	}
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(c.dir, path)
		name = filepath.ToSlash(name)
		switch {
		case err == nil && d.IsDir() && isForeign(name, named):
			return fs.SkipDir
		case err == nil && !d.IsDir() && !named[name]:
			c.refuse("manifest", name, "", "is not in the manifest")
		}
		return err
	})
	if err != nil {
		c.refuse("manifest", "", "", "the folder cannot be read: %v", err)
	}
	c.checkViewsNamed()
	c.checkReadme()
	c.checkProvenance()
}

// isForeign reports whether a folder of the export has neither listed files nor the name of a view. Training in the
// export's folder makes such ones: checkpoints, prepared data, __pycache__. No loader takes their files for rows.
func isForeign(folder string, named map[string]bool) bool {
	if strings.Contains(folder, "/") || folder == "." || slices.Contains(relabel.AllViews, relabel.View(folder)) {
		return false
	}
	for name := range named {
		if strings.HasPrefix(name, folder+"/") {
			return false
		}
	}
	return true
}

// checkViewsNamed compares the manifest's views with its files.
func (c *check) checkViewsNamed() {
	views := c.manifest.Views
	for i, v := range views {
		if !slices.Contains(relabel.AllViews, v) || slices.Contains(views[:i], v) {
			c.refuse("manifest", manifestName, "", "views contains %q, which is unknown or a duplicate", v)
		}
		if !slices.ContainsFunc(c.manifest.Files, func(f relabel.ManifestFile) bool { return f.View == v }) {
			c.refuse("manifest", manifestName, "", "views contains %s, which has no file", v)
		}
	}
	for _, f := range c.manifest.Files {
		if !slices.Contains(views, f.View) {
			c.refuse("manifest", f.Path, "", "belongs to a view that is missing in views")
		}
	}
}

// checkReadme checks that load_dataset would find each view.
func (c *check) checkReadme() {
	raw, err := os.ReadFile(filepath.Join(c.dir, readmeName))
	if err != nil {
		c.refuse("readme", readmeName, "", "cannot be read: %v", err)
		return
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "---\n"), "\n---\n")
	for _, v := range c.manifest.Views {
		if v.IsParquet() && !strings.Contains(head+"\n", "config_name: "+string(v)+"\n") {
			c.refuse("readme", readmeName, "", "its header has no config_name %s: load_dataset would not find the view", v)
		}
	}
}
