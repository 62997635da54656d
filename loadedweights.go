package relabel

import "regexp"

// WeightsKind is what was loaded.
type WeightsKind string

// The kinds.
const (
	WeightsAdapter    WeightsKind = "adapter"    // a LoRA adapter beside the base model
	WeightsCheckpoint WeightsKind = "checkpoint" // all weights, in the place of the server's
)

// LoadedWeights are weights that relabel loaded into the servers of a policy version.
type LoadedWeights struct {
	SHA256 string      `json:"sha256" doc:"SHA-256 of the output of sha256sum for the files of the folder that change what the model computes, in the order of their names, in hex."`
	Kind   WeightsKind `json:"kind" enum:"adapter,checkpoint" doc:"adapter: a LoRA adapter. checkpoint: all weights, in the place of those that the server had."`
	Path   string      `json:"path" doc:"The folder, as the servers name it."`
}

// LoadedName begins the names of what relabel loads.
const LoadedName = "relabel-"

// Name is the name of the weights on servers: it depends on their content alone, so that no other weights ever
// have it.
func (w LoadedWeights) Name() string { return LoadedName + w.SHA256[:32] }

var hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Validate returns a CodeInvalid error on the first wrong field, or nil.
func (w LoadedWeights) Validate() error {
	switch {
	case !hexSHA256.MatchString(w.SHA256):
		return Errorf(CodeInvalid, "is not a SHA-256 in lower-case hex").On("sha256")
	case w.Kind != WeightsAdapter && w.Kind != WeightsCheckpoint:
		return Errorf(CodeInvalid, "%q is not adapter or checkpoint", w.Kind).On("kind")
	case w.Path == "":
		return Errorf(CodeInvalid, "is missing: the folder as the servers name it").On("path")
	}
	return nil
}

// CheckLoading refuses, with CodeInvalid on policy, a policy whose kind of server cannot load weights.
func CheckLoading(p Policy) error {
	if p.Server == ServerVLLM || p.Server == ServerSGLang {
		return nil
	}
	return Errorf(CodeInvalid, "%s cannot load weights: its server is of kind %s; vllm and sglang can", p.Name, p.Server).On("policy")
}
