package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"relabel/store"
)

// catalog describes a schema's tables, indexes, constraints, triggers and functions.
const catalog = `SELECT string_agg(line, E'\n' ORDER BY line) FROM (
	SELECT format('%s.%s %s %s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attcompression, a.attgenerated,
		pg_get_expr(d.adbin, d.adrelid)) AS line
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (c.oid, a.attnum)
	WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'S', 'v')
	UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
	UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
	UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger
		WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
	UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prokind = 'f'
	UNION ALL SELECT format('%s %s', relname, reloptions) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND reloptions IS NOT NULL) l`

func TestARestoredSchemaIsTheMigratedOne(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address := Schema(t)
	must(t, migrate(address))
	migrated, restored := Open(t, address), New(t)
	for what, sql := range map[string]string{
		"catalog":  catalog,
		"versions": "SELECT string_agg(v::text, E'\n') FROM relabel_schema_version v",
		"River's":  "SELECT string_agg(format('%s %s', line, version), E'\n' ORDER BY version) FROM river_migration",
	} {
		want, got := lines(t, migrated, sql), lines(t, restored, sql)
		if len(want) == 0 {
			t.Errorf("%s: nothing is compared", what)
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("%s: not restored: %s", what, line)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d lines restored, %d migrated", what, len(got), len(want))
		}
	}
	one, err := migrated.Instance(ctx)
	must(t, err)
	other, err := restored.Instance(ctx)
	must(t, err)
	third, err := New(t).Instance(ctx)
	must(t, err)
	if one == other || other == third {
		t.Errorf("databases have the ids %s, %s and %s, which differ in reality", one, other, third)
	}
	must(t, restored.Migrate(ctx)) // which compares the texts that were applied
}

// lines reads lines of text without the schema's name.
func lines(t *testing.T, s *store.Store, sql string) []string {
	t.Helper()
	var text string
	must(t, s.Pool().QueryRow(context.Background(), sql).Scan(&text))
	text = strings.ReplaceAll(text, s.Schema()+".", "")
	return strings.Split(strings.ReplaceAll(text, s.Schema(), "the schema"), "\n")
}
