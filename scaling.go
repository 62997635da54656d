package relabel

// MaxScalingRuns bounds the runs of a ScalingReport: a chart with more lines cannot be read.
const MaxScalingRuns = 8

// ScalingReport compares runs by how much their students were trained (paper 4.3). All its points are
// evaluations on one benchmark.
type ScalingReport struct {
	BenchmarkID     *ID                `json:"benchmark_id,omitempty" doc:"The benchmark of all points; absent if the runs have no evaluations."`
	Benchmark       string             `json:"benchmark,omitempty" doc:"Name of the benchmark; absent: it has none."`
	Runs            []ScalingSeries    `json:"runs" nullable:"false" doc:"The runs in the order of the request."`
	Excluded        []ScalingExcluded  `json:"excluded" nullable:"false" doc:"Evaluations of the runs on the benchmark that are not points, each with its reason."`
	OtherBenchmarks []ScalingBenchmark `json:"other_benchmarks" nullable:"false" doc:"Other benchmarks with evaluations of the runs, which are not points."`
}

// ScalingSeries are the points of a run: its evaluations, and those of the policy versions that its
// students were trained from, in any run, unless this one evaluated them.
type ScalingSeries struct {
	RunID  ID             `json:"run_id" doc:"The run."`
	Run    string         `json:"run" doc:"Its name."`
	Recipe Recipe         `json:"recipe" doc:"Its recipe."`
	Points []ScalingPoint `json:"points" nullable:"false" doc:"The points by effective samples, then by time."`
}

// ScalingPoint is an evaluation of a policy version whose training is known.
type ScalingPoint struct {
	Effective  EffectiveSamples `json:"effective" doc:"How much the student was trained."`
	Evaluation Results          `json:"evaluation" doc:"The evaluation, which may be of another run."`
}

// ScalingExcluded is an evaluation that is not a point.
type ScalingExcluded struct {
	RunID       ID            `json:"run_id" doc:"The run of the evaluation."`
	Run         string        `json:"run" doc:"Its name."`
	IterationID ID            `json:"iteration_id" doc:"The evaluation."`
	Number      int           `json:"number" doc:"Its number."`
	StudentID   ID            `json:"student_id" doc:"The checkpoint."`
	Student     string        `json:"student" doc:"Name and version of the checkpoint."`
	Reason      ScalingReason `json:"reason" enum:"training_unknown,running,cancelled,not_graded" doc:"training_unknown: the training of unknown is not given. running: it has not ended. cancelled: it does not have all tasks. not_graded: no trajectory is graded."`
	Unknown     string        `json:"unknown,omitempty" doc:"Name and version of the policy, the checkpoint or one before it, whose training is not given."`
}

// ScalingReason says why an evaluation is not a point.
type ScalingReason string

// The reasons, in the order in which they are checked.
const (
	ScalingRunning         ScalingReason = "running"          // it has not ended: short trajectories end first
	ScalingCancelled       ScalingReason = "cancelled"        // it lacks tasks of the benchmark
	ScalingTrainingUnknown ScalingReason = "training_unknown" // not 0: see Training
	ScalingNotGraded       ScalingReason = "not_graded"       // the infrastructure failed every trajectory
)

// ScalingBenchmark counts the evaluations of the runs on another benchmark.
type ScalingBenchmark struct {
	BenchmarkID ID     `json:"benchmark_id" doc:"The benchmark."`
	Benchmark   string `json:"benchmark,omitempty" doc:"Its name; absent: it has none."`
	Evaluations int    `json:"evaluations" doc:"Evaluations of the runs on it."`
}

// ScalingAxis is a measure of training.
type ScalingAxis string

// The axes.
const (
	AxisTrajectories ScalingAxis = "trajectories" // effective samples
	AxisStates       ScalingAxis = "states"       // effective labels
)

// On returns the value on an axis.
func (e EffectiveSamples) On(axis ScalingAxis) float64 {
	if axis == AxisStates {
		return e.States
	}
	return e.Trajectories
}
