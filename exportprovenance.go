package relabel

// ManifestProvenance says where the labels of an export come from.
type ManifestProvenance struct {
	Relabel string          `json:"relabel"` // version of the program that wrote it
	Runs    []ProvenanceRun `json:"runs"`    // the export's own run first, then those of further sources of a mix
	// Conversations are the conversation sets of a mix; absent without one.
	Conversations []ProvenanceConversations `json:"conversations,omitempty"`
	Policies      []ProvenancePolicy        `json:"policies"` // teachers and students, by name and version
	// Weights are those of the students by run and iteration; nil in exports of versions that did not keep them.
	Weights []ProvenanceWeights `json:"weights,omitempty"`
	Tasks   int                 `json:"tasks"` // with an exported label
	// Repositories count these tasks by repository and licence, in the order of their names.
	Repositories []ProvenanceRepository `json:"repositories"`
	Images       ProvenanceImages       `json:"images"`
	// Benchmarks are the named benchmarks and exclusion lists that the tasks were compared with, by name.
	Benchmarks []ProvenanceBenchmark `json:"benchmarks"`
}

// ProvenanceConversations describes a conversation set that gave labels.
type ProvenanceConversations struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // of the imported file
}

// ProvenanceRun describes a run that gave labels.
type ProvenanceRun struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Recipe   Recipe            `json:"recipe"`
	Scaffold string            `json:"scaffold"`
	Taskset  ProvenanceTaskset `json:"taskset"`
	Prompts  ProvenancePrompts `json:"prompts"`
}

// ProvenanceTaskset is the task set of a run.
type ProvenanceTaskset struct {
	Name     string `json:"name"`
	Revision int    `json:"revision"`
	Digest   string `json:"digest"` // SHA-256 of the file that it was first imported from
}

// ProvenancePrompts are hashes (SHA-256) of the texts of a run's scaffold.
type ProvenancePrompts struct {
	System string `json:"system"` // of the system message
	First  string `json:"first"`  // of the first message with its fields
	Tools  string `json:"tools"`  // of the tools as tools_json has them
}

// ProvenancePolicy is a policy that acted or labelled.
type ProvenancePolicy struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Version  int      `json:"version"`
	Model    string   `json:"model"`
	Roles    []Role   `json:"roles"`
	Sampling Sampling `json:"sampling"`
}

// ProvenanceRepository counts tasks of a repository under one licence.
type ProvenanceRepository struct {
	Name    string `json:"name"`    // "": the tasks name none
	Licence string `json:"licence"` // as the data set names it; "": it names none
	Tasks   int    `json:"tasks"`
}

// ProvenanceImages describes the container images of the tasks.
type ProvenanceImages struct {
	Count  int `json:"count"`  // distinct images
	Pinned int `json:"pinned"` // of these, those named by a digest; the others are named by a tag, which may move
	Known  int `json:"known"`  // those whose digest is known: named by it, or found by a check of the image
	// List has the first images in alphabetical order, at most 1000; SHA256 is the hash of the names of all, one per line.
	List   []ProvenanceImage `json:"list"`
	SHA256 string            `json:"sha256"`
}

// ProvenanceImage is a container image of a task.
type ProvenanceImage struct {
	Name string `json:"name"`
	// Digest is that in its name, else the one that a worker found when it checked the image last; "": not known.
	Digest string `json:"digest"`
}

// ProvenanceBenchmark is a named benchmark or an exclusion list that an export's tasks were compared with.
type ProvenanceBenchmark struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`     // benchmark or exclusions
	Size     int    `json:"size"`     // its tasks, or its entries
	Exported int    `json:"exported"` // exported tasks that it reserves; 0 unless the selection allows it
}

// The kinds of a ProvenanceBenchmark.
const (
	ProvenanceOfBenchmark  = "benchmark"
	ProvenanceOfExclusions = "exclusions"
)
