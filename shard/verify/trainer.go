package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"relabel"
)

// checkTrainer compares the files of the export's trainer with their hashes, and adds them to named.
func (c *check) checkTrainer(t relabel.ManifestFor, named map[string]bool) {
	if !slices.Contains(c.manifest.Views, t.View) {
		c.complain("for names the view %s, which the export does not have", t.View)
	}
	for _, f := range t.Files {
		if named[f.Path] || !filepath.IsLocal(f.Path) {
			c.refuse("manifest", f.Path, "", "for lists it twice, or not by its path in the export")
			continue
		}
		named[f.Path] = true
		raw, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(f.Path)))
		if err != nil {
			c.refuse("trainer", f.Path, "", "is in the manifest, but cannot be read")
			continue
		}
		if hash := sha256.Sum256(raw); hex.EncodeToString(hash[:]) != f.SHA256 {
			c.refuse("trainer", f.Path, "", "has the SHA-256 %x, %s in the manifest", hash, f.SHA256)
		}
	}
}
