#!/usr/bin/awk -f
# Shows what `go test -bench` prints with one figure a line; leaves out packages without benchmarks.
/^(goos|goarch|PASS|\?)/ || /no test files/ { next }
/^ok / { if (shown) print $1, $2, $3 "\n"; shown = 0; next }
/^pkg:/ { package = $2; next }
/^cpu:/ { next }
/^Benchmark/ {
	name = $1
	sub(/-[0-9]+$/, "", name)
	if (NF == 1) next # its figures follow
	printf "%s  %s, %s times\n", package, name, $2
	for (i = 3; i < NF; i += 2) printf "    %14s %s\n", $i, $(i + 1)
	shown = 1
	fflush()
	next
}
{ print; fflush() }
