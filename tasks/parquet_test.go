package tasks

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"relabel"
)

// FuzzParquet reads altered Parquet files: each is read or refused, and what is read is checked as any row.
func FuzzParquet(f *testing.F) {
	rows := parquetRows(f, 4)
	for _, options := range [][]parquet.WriterOption{nil, {parquet.Compression(&parquet.Snappy)}, {parquet.Compression(&parquet.Zstd)}, {parquet.DataPageVersion(1), parquet.MaxRowsPerRowGroup(2)}} {
		f.Add(parquetOf(f, rows, options...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte("PAR1"), data[min(len(data), 4):]...) // what makes it Parquet is not altered
		tasks, err := readTasks(bytes.NewReader(data), FormatAuto)
		if err != nil && (tasks != nil || relabel.CodeOf(err) != relabel.CodeInvalid) {
			t.Fatalf("refused with %v, but returned %v", err, tasks)
		}
		for _, task := range tasks {
			if !instanceID.MatchString(task.InstanceID) || !validImage(task.Image) || len(task.FailToPass) == 0 {
				t.Fatalf("took %+v", task)
			}
		}
	})
}

// TestDamagedParquetTakesLittleMemory reads files with random bytes in their place: sizes in headers may claim anything.
func TestDamagedParquetTakesLittleMemory(t *testing.T) {
	whole := parquetOf(t, parquetRows(t, 20), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(7))
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		data := bytes.Clone(whole)
		for range 1 + random.IntN(4) {
			data[4+random.IntN(len(data)-12)] = byte(random.IntN(256))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readTasks(bytes.NewReader(data), FormatAuto)
		runtime.ReadMemStats(&after)
		if err != nil && relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("it is refused with %v", err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<20 {
			t.Errorf("it takes %d MiB: %v", grown>>20, err)
		}
	}
}

func TestDamageIsNamedWithFileAndRow(t *testing.T) {
	rows := parquetRows(t, 4)
	whole := string(parquetOf(t, rows))
	damaged := []byte(whole)
	for i := range 200 {
		damaged[len(damaged)/4+i] ^= 0x55
	}
	type counts struct {
		InstanceID string  `parquet:"instance_id"`
		Fail       []int64 `parquet:"FAIL_TO_PASS,list"`
		Setup      string  `parquet:"environment_setup_commit"`
	}
	for want, second := range map[string]string{
		"data/b.parquet: is a Parquet file that is cut off":                                 whole[:len(whole)*2/3],
		"data/b.parquet: is damaged":                                                        string(damaged),
		"data/b.parquet: row 1: FAIL_TO_PASS: item 1 is not a string":                       string(parquetOf(t, []counts{{"x__y-1", []int64{1}, "a"}})),
		`data/b.parquet: row 1: instance_id: "a__b-0" is that of data/a.parquet: row 1 too`: whole,
	} {
		set := must(Open(archiveOf(t, "data/a.parquet", whole, "data/b.parquet", second), Options{}))
		if _, err := set.Check(); err == nil || !strings.Contains(err.Error(), want) || strings.Count(strings.SplitN(err.Error(), "\n", 2)[0], "b.parquet") != 1 {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
