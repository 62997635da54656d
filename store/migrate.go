package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"relabel"
	"relabel/migrations"
)

// oldestPostgres is the first major version that compresses columns with lz4.
const oldestPostgres = 14

// versionTable holds the version of a schema's migrations.
const versionTable = "relabel_schema_version"

// Migrate brings the schema, with River's tables, to this binary's version. Any number of
// processes may call it at once: one migrates, the others wait. CodeConflict, without a change,
// if the schema is newer than the binary or was made by other migration texts; CodeUnavailable
// if Postgres is older than 14 or built without lz4.
func (s *Store) Migrate(ctx context.Context) error {
	// The lock belongs to a session outside the pool: a pool may have only one connection, and
	// the lock always ends with its session.
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return classify(err)
	}
	defer func() {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
		defer cancel()
		_ = conn.Close(undo) // what was done is committed
	}()
	if err := checkServer(ctx, conn); err != nil {
		return err
	}
	const lock = "SELECT pg_advisory_lock(hashtextextended('relabel migrations of ' || $1, 0))"
	if _, err := conn.Exec(ctx, lock, s.schema); err != nil {
		return classify(err)
	}
	if err := makeSchema(ctx, conn, s.schema); err != nil {
		return err
	}
	if err := migrateTables(ctx, conn); err != nil {
		return err
	}
	if err := s.migrateRiver(ctx); err != nil {
		return err
	}
	return s.measureBenchmarks(ctx)
}

func checkServer(ctx context.Context, conn *pgx.Conn) error {
	var major int
	var lz4 bool
	err := conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int / 10000,
		EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals))`).Scan(&major, &lz4)
	switch {
	case err != nil:
		return classify(err)
	case major < oldestPostgres:
		return relabel.Errorf(relabel.CodeUnavailable, "this is PostgreSQL %d; relabel needs %d or newer", major, oldestPostgres)
	case !lz4:
		return relabel.Errorf(relabel.CodeUnavailable, "this PostgreSQL was built without lz4, which relabel requires; install a build with lz4")
	}
	return nil
}

// makeSchema creates a missing schema. CREATE SCHEMA IF NOT EXISTS would require the right to
// create one even if it exists.
func makeSchema(ctx context.Context, conn *pgx.Conn, schema string) error {
	there, err := readValue[bool](ctx, conn, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", schema)
	if err == nil && !there {
		_, err = conn.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize())
	}
	return classify(err)
}

// migrateTables checks the applied migrations before it applies further ones. The caller holds
// the lock.
func migrateTables(ctx context.Context, conn *pgx.Conn) error {
	m, err := migrate.NewMigrator(ctx, conn, versionTable)
	if err != nil {
		return classify(err)
	}
	if err := m.LoadMigrations(migrations.FS); err != nil {
		return relabel.Errorf(relabel.CodeInternal, "the migrations cannot be read").Because(err)
	}
	version, err := m.GetCurrentVersion(ctx)
	if err != nil {
		return classify(err)
	}
	if int(version) > len(m.Migrations) {
		return relabel.Errorf(relabel.CodeConflict,
			"the database is newer than this relabel: its schema is at version %d, this binary knows %d; use the newer relabel",
			version, len(m.Migrations))
	}
	known := textsOf(m.Migrations)
	if err := checkTexts(ctx, conn, known[:version]); err != nil {
		return err
	}
	for i, k := range known {
		m.Migrations[i].UpSQL += k.insert()
	}
	return classify(m.Migrate(ctx))
}

func (s *Store) migrateRiver(ctx context.Context) error {
	m, err := rivermigrate.New(riverpgxv5.New(s.pool), &rivermigrate.Config{Schema: s.schema, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return classify(err)
	}
	if _, err := m.ExistingVersions(ctx); err != nil {
		if strings.Contains(err.Error(), "not found in migrator bundle") {
			return relabel.Errorf(relabel.CodeConflict, "the database's job queue is newer than this relabel; use the newer relabel").Because(err)
		}
		return classify(err)
	}
	if _, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return classify(err)
	}
	_, err = s.pool.Exec(ctx, dueTrigger)
	return classify(err)
}

// dueTrigger makes jobs due by Postgres's clock.
const dueTrigger = `DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'relabel_due' AND tgrelid = 'river_job'::regclass) THEN
		CREATE TRIGGER relabel_due BEFORE INSERT ON river_job FOR EACH ROW WHEN (NEW.state = 'available') EXECUTE FUNCTION due_at_once();
	END IF;
END $$`

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
	kept, err := readValue[bool](ctx, conn, "SELECT to_regclass('relabel_schema_texts') IS NOT NULL")
	if err != nil {
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
	return relabel.Errorf(relabel.CodeConflict, "the database was created by another build of relabel: %s. Nothing was changed. "+
		"Use the relabel that made it, or begin with a new data folder (--data) or an empty database; pg_dump --data-only keeps what it holds", what)
}
