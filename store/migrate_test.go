package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/migrations"
	"relabel/store/storetest"
)

func TestFourProcessesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	url := storetest.Schema(t)
	var g errgroup.Group
	for range 4 {
		s := storetest.Open(t, url) // a pool of its own, as a process has
		g.Go(func() error { return s.Migrate(context.Background()) })
	}
	must(t, g.Wait())
	s := storetest.Open(t, url)
	if n := value[int](t, s, "SELECT count(*) FROM relabel_schema_version"); n != 1 {
		t.Errorf("%d rows say which version the schema has", n)
	}
	storetest.Seed(t, s, 1) // the schema works
}

func TestMigratingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Seed(t, s, 2)
	before := fingerprint(t, s, rolloutTables...)
	must(t, s.Migrate(context.Background()))
	for table, sum := range fingerprint(t, s, rolloutTables...) {
		if before[table] != sum {
			t.Errorf("%s changed", table)
		}
	}
}

func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	exec(t, s, "UPDATE relabel_schema_version SET version = 99")
	err := s.Migrate(context.Background())
	wantCode(t, err, relabel.CodeConflict)
	if !strings.Contains(err.Error(), "newer than this relabel") || !strings.Contains(err.Error(), "99") {
		t.Errorf("the message does not say so: %v", err)
	}
	if v := value[int](t, s, "SELECT version FROM relabel_schema_version"); v != 99 {
		t.Errorf("the newer schema was touched: version %d", v)
	}
}

func TestANewerJobQueueIsRefused(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	exec(t, s, "INSERT INTO river_migration (line, version) VALUES ('main', 999)")
	wantCode(t, s.Migrate(context.Background()), relabel.CodeConflict)
}

func TestASchemaMadeByOtherTextsIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spoil, says string }{
		"another text":             {"UPDATE relabel_schema_texts SET sha256 = repeat('0', 64) WHERE version = 2", "002_trajectories.sql"},
		"another text, old schema": {"UPDATE relabel_schema_texts SET sha256 = repeat('0', 64) WHERE version = 1; UPDATE relabel_schema_version SET version = 1", "001_schema.sql"},
		"no word of one of them":   {"DELETE FROM relabel_schema_texts WHERE version = 1", "001_schema.sql"},
		"no word of any":           {"DROP TABLE relabel_schema_texts", "which migrations made it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			exec(t, s, c.spoil)
			exec(t, s, "DROP TABLE river_migration CASCADE") // no further step is taken: it stays away
			version := value[int](t, s, "SELECT version FROM relabel_schema_version")
			err := s.Migrate(context.Background())
			wantCode(t, err, relabel.CodeConflict)
			for _, word := range []string{c.says, "another build of relabel", "--data"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("no word of %s: %v", word, err)
				}
			}
			if value[int](t, s, "SELECT version FROM relabel_schema_version") != version || value[bool](t, s, "SELECT to_regclass('river_migration') IS NOT NULL") {
				t.Error("the schema was changed")
			}
		})
	}
}

func TestEveryMigrationLeavesItsTextsHash(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	if n := value[int](t, s, "SELECT count(*) FROM relabel_schema_texts"); n != value[int](t, s, "SELECT version FROM relabel_schema_version") {
		t.Errorf("%d migrations left a hash", n)
	}
	text, err := fs.ReadFile(migrations.FS, "003_service.sql")
	must(t, err)
	up, _, _ := strings.Cut(string(text), "---- create above")
	sum := sha256.Sum256([]byte(strings.TrimSpace(up)))
	if got := value[string](t, s, "SELECT sha256 FROM relabel_schema_texts WHERE name = '003_service.sql'"); got != hex.EncodeToString(sum[:]) {
		t.Errorf("003_service.sql left %s", got)
	}
}

func TestAPoolOfOneMigrates(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	s := storetest.Open(t, strings.Replace(storetest.Schema(t), "pool_max_conns=8", "pool_max_conns=1", 1))
	must(t, s.Migrate(ctx))
	must(t, s.Migrate(ctx))
}

func TestLongTextIsCompressedWithLZ4(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	// Every bytea, json and array column that may grow long.
	plain := value[int](t, s, `SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND a.attcompression <> 'l'
		AND (c.relname, a.attname) IN (('tasks', 'problem_statement'), ('tasks', 'patch'), ('tasks', 'test_patch'), ('runs', 'prompts'),
			('patches', 'patch'), ('actions', 'raw'), ('actions', 'token_ids'), ('actions', 'prompt_rest'), ('actions', 'logprobs'),
			('observations', 'content'), ('calls', 'error_body'), ('verdicts', 'output'), ('verdicts', 'tests'))`)
	if plain != 0 {
		t.Errorf("%d long columns are not compressed with lz4", plain)
	}
}
