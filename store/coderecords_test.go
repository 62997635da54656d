package store_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"relabel"
	"relabel/codeindex"
	"relabel/store/storetest"
)

// codeKey is the key of the n-th content.
func codeKey(n int) codeindex.Key {
	return codeindex.Key{Blob: fmt.Sprintf("%040x", n), Language: codeindex.Python, Version: 1}
}

func TestCodeRecordsAreFoundByBlobLanguageAndVersion(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	one, sha256 := codeKey(1), codeindex.Key{Blob: fmt.Sprintf("%064x", 1), Language: codeindex.Go, Version: 1}
	must(t, s.SaveCodeRecords(ctx, map[codeindex.Key][]byte{one: []byte("\x00\xff"), sha256: {}}))
	must(t, s.SaveCodeRecords(ctx, nil))
	other, newer := one, one
	other.Language, newer.Version = codeindex.Ruby, 2
	found, err := s.FindCodeRecords(ctx, []codeindex.Key{one, sha256, other, newer, codeKey(2)})
	must(t, err)
	if len(found) != 2 || !bytes.Equal(found[one], []byte("\x00\xff")) || len(found[sha256]) != 0 {
		t.Errorf("%v", found)
	}
	if found, err := s.FindCodeRecords(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	must(t, s.SaveCodeRecords(ctx, map[codeindex.Key][]byte{one: []byte("mended")}))
	found, err = s.FindCodeRecords(ctx, []codeindex.Key{one})
	if err != nil || string(found[one]) != "mended" {
		t.Errorf("%v, %v", found, err)
	}
	_, err = s.FindCodeRecords(ctx, []codeindex.Key{{Blob: "main"}})
	wantCode(t, err, relabel.CodeInvalid)
	wantCode(t, s.SaveCodeRecords(ctx, map[codeindex.Key][]byte{{Blob: "x"}: nil}), relabel.CodeInvalid)
}

func TestCodeRecordsAreMarkedAsUsedOnceADay(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	must(t, s.SaveCodeRecords(ctx, map[codeindex.Key][]byte{codeKey(1): {1}, codeKey(2): {2}}))
	exec(t, s, "UPDATE code_records SET used_on = used_on - 3")
	const versions = "SELECT string_agg(xmin::text, ' ' ORDER BY blob) FROM code_records"
	find := func() {
		t.Helper()
		found, err := s.FindCodeRecords(ctx, []codeindex.Key{codeKey(1)})
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
	}
	find()
	days := value[string](t, s, "SELECT string_agg(((clock_timestamp() AT TIME ZONE 'UTC')::date - used_on)::text, ' ' ORDER BY blob) FROM code_records")
	if days != "0 3" {
		t.Errorf("they were used %s days ago", days)
	}
	before := value[string](t, s, versions)
	find()
	if after := value[string](t, s, versions); after != before {
		t.Error("they were written again on the same day")
	}
}

func TestTheLeastRecentlyUsedCodeRecordsArePurged(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	all := map[codeindex.Key][]byte{}
	for n := range 12_000 {
		all[codeKey(n)] = bytes.Repeat([]byte{byte(n)}, 300)
	}
	must(t, s.SaveCodeRecords(ctx, all))
	exec(t, s, "UPDATE code_records SET used_on = used_on - 5 WHERE blob >= decode($1, 'hex')", codeKey(1000).Blob)
	most := watchDeletes(t, s, "code_records")
	if purged, err := s.PurgeCodeRecords(ctx, 1<<30); err != nil || purged != 0 {
		t.Errorf("%d purged, %v", purged, err)
	}
	purged, err := s.PurgeCodeRecords(ctx, 1_000_000)
	if err != nil || purged != 10_000 || most("code_records") > 5_000 {
		t.Errorf("%d purged, at most %d at once, %v", purged, most("code_records"), err)
	}
	if n := value[int](t, s, "SELECT count(*)::int FROM code_records WHERE blob < decode($1, 'hex')", codeKey(1000).Blob); n != 1000 {
		t.Errorf("%d of the 1000 that were used last are left", n)
	}
	if purged, err := s.PurgeCodeRecords(ctx, 1_000_000); err != nil || purged != 0 {
		t.Errorf("%d purged, %v", purged, err)
	}
	if purged, err := s.PurgeCodeRecords(ctx, 0); err != nil || purged != 2000 {
		t.Errorf("%d purged, %v", purged, err)
	}
}

func TestCodeRecordsAreSavedAndUsedAtOnce(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	var keys []codeindex.Key
	all := map[codeindex.Key][]byte{}
	for n := range 500 {
		keys = append(keys, codeKey(n))
		all[codeKey(n)] = []byte{byte(n)}
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := s.SaveCodeRecords(ctx, all); err != nil {
				t.Error(err)
			}
			if _, err := s.Pool().Exec(ctx, "UPDATE code_records SET used_on = used_on - 1 WHERE blob = decode($1, 'hex')", keys[0].Blob); err != nil {
				t.Error(err)
			}
			if found, err := s.FindCodeRecords(ctx, keys); err != nil || len(found) < 400 {
				t.Errorf("%d found, %v", len(found), err)
			}
			if _, err := s.PurgeCodeRecords(ctx, 500*201-300); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
