package api

// ScalingQuery names the runs that a scaling report compares.
type ScalingQuery struct {
	Runs      []string `query:"runs,explode" required:"true" arg:"" name:"run" minItems:"1" maxItems:"8" doc:"Ids or names of the runs, at most 8; given once for each."`
	Benchmark string   `query:"benchmark" placeholder:"BENCHMARK" maxLength:"200" doc:"Id or name of the benchmark of all points. Default: the one on which most of the runs have evaluations."`
}
