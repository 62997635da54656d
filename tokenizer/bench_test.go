package tokenizer

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSourceText encodes Python's standard library on one core, in turn with the
// reference: as most call it, and without its bookkeeping of places in the text. What is
// measured is time of the processor, collecting garbage included.
func BenchmarkSourceText(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	texts := standardLibrary(b)
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	for _, name := range []string{"qwen3", "llama3_1", "deepseek_v3", "gpt4o"} {
		b.Run(name, func(b *testing.B) {
			tk := open(b, tokenizerFile(b, name))
			ref := startReference(b)
			ref.open(tokenizerFile(b, name))
			if err := ref.ask(map[string]any{"load": texts}, new([]int)); err != nil {
				b.Fatal(err)
			}
			var ours, theirs, fast time.Duration
			rounds := 0
			for b.Loop() {
				ours += timeOwn(tk, texts)
				theirs += ref.time("encode")
				fast += ref.time("encode_batch_fast")
				rounds++
			}
			rate := func(d time.Duration) float64 { return float64(size) * float64(rounds) / 1e6 / d.Seconds() }
			b.ReportMetric(rate(ours), "MB/s")
			b.ReportMetric(rate(theirs), "MB/s-reference")
			b.ReportMetric(rate(fast), "MB/s-reference-fast")
			b.ReportMetric(fast.Seconds()/ours.Seconds(), "times-as-fast")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func timeOwn(tk *Tokenizer, texts []string) time.Duration {
	start := processorTime()
	var ids []int32
	for _, t := range texts {
		ids = tk.Encode(ids[:0], t)
	}
	return processorTime() - start
}

// processorTime returns how long this process has kept processors busy.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// time returns how long the reference takes for the texts it was loaded with.
func (r *reference) time(method string) time.Duration {
	var seconds float64
	if err := r.ask(map[string]any{"time": method}, &seconds); err != nil {
		r.t.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// BenchmarkOpen reads a tokenizer.json.
func BenchmarkOpen(b *testing.B) {
	name := tokenizerFile(b, "qwen3")
	for b.Loop() {
		open(b, name)
	}
}
