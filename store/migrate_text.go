package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"relabel"
)

// migrationText identifies the text of a migration.
type migrationText struct {
	Version int32
	Name    string // of its file
	SHA256  string // of what it does, without what undoes it; hex
}

// textsOf returns the texts of this binary's migrations, in order.
func textsOf(all []*migrate.Migration) []migrationText {
	texts := make([]migrationText, len(all))
	for i, m := range all {
		sum := sha256.Sum256([]byte(m.UpSQL))
		texts[i] = migrationText{Version: m.Sequence, Name: m.Name, SHA256: hex.EncodeToString(sum[:])}
	}
	return texts
}

// insert is SQL to append to the migration, in its transaction.
func (t migrationText) insert() string {
	return fmt.Sprintf("\n;\nINSERT INTO relabel_schema_texts (version, name, sha256) VALUES (%d, '%s', '%s');", t.Version, t.Name, t.SHA256)
}

// checkTexts refuses a schema that was made by other texts than known. A version alone does not
// reveal a changed text.
func checkTexts(ctx context.Context, conn *pgx.Conn, known []migrationText) error {
	if len(known) == 0 {
		return nil // an empty schema
	}
	var kept bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('relabel_schema_texts') IS NOT NULL").Scan(&kept); err != nil {
		return classify(err)
	}
	if !kept {
		return otherBuild("it does not say which migrations made it")
	}
	applied, err := readAll[migrationText](ctx, conn,
		"SELECT version, name, sha256 FROM relabel_schema_texts ORDER BY version")
	if err != nil {
		return classify(err)
	}
	for i, k := range known {
		switch {
		case i >= len(applied) || applied[i].Version != k.Version:
			return otherBuild(fmt.Sprintf("it does not say which text its migration %s had", k.Name))
		case applied[i].SHA256 != k.SHA256:
			return otherBuild(fmt.Sprintf("its migration %s has another text (SHA-256 %.12s…) than this binary's %s (%.12s…)",
				applied[i].Name, applied[i].SHA256, k.Name, k.SHA256))
		}
	}
	return nil
}

func otherBuild(what string) error {
	return relabel.Errorf(relabel.CodeConflict, "the database was made by another build of relabel: %s. Nothing was changed. "+
		"Use the relabel that made it, or begin with a new data folder (--data) or an empty database; pg_dump --data-only keeps what it holds", what)
}
