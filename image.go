package relabel

import (
	"context"
	"time"
)

// ImageState is what a check found about an image.
type ImageState string

// The states of an image. A check of an image that an engine has does not ask its registry.
const (
	ImagePending   ImageState = "pending"   // no worker has checked it yet
	ImagePresent   ImageState = "present"   // on an engine of the worker that checked it
	ImageAvailable ImageState = "available" // in its registry
	ImageMissing   ImageState = "missing"   // neither on an engine nor in its registry, or access is denied
	ImageUnknown   ImageState = "unknown"   // the engines and the registry could not be asked
)

// ImageStates lists every ImageState.
var ImageStates = []ImageState{ImagePending, ImagePresent, ImageAvailable, ImageMissing, ImageUnknown}

// Layer is a layer of an image. Images share layers of the same digest.
type Layer struct {
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
}

// ImageFacts is the result of a check of an image.
type ImageFacts struct {
	State ImageState
	// Layers are those on the engine with their size on disk, or those in the registry with their
	// compressed size, the base first; nil if the image is neither.
	Layers []Layer
	// Digest is that of the image's manifest in its registry (sha256:…); "" if it is not known, as of an image that was built here.
	Digest  string
	Problem string // why the image is missing or unknown
}

// ImageNeed is an image that tasks need, with the result of its last check.
type ImageNeed struct {
	Image     string     `json:"image" doc:"The name of the image."`
	Tasks     int        `json:"tasks" doc:"How many tasks need it."`
	State     ImageState `json:"state" doc:"present (on an engine of the worker that checked it), available (in its registry), missing, unknown (it could not be checked), pending (not checked yet) or empty: no check was requested."`
	Bytes     int64      `json:"bytes" doc:"Size: on the disk of the engine if it is present, compressed if it is available; 0 if unknown."`
	Problem   string     `json:"problem" doc:"Why it is missing or unknown; else empty."`
	CheckedAt *time.Time `json:"checked_at" doc:"When a worker checked it last; null: never."`
	Layers    []Layer    `json:"-"`
}

// ImageSums are the sums of the images that tasks need.
type ImageSums struct {
	Images    int                `json:"images" doc:"How many images the tasks need."`
	Tasks     int                `json:"tasks" doc:"How many tasks need an image."`
	States    map[ImageState]int `json:"states" doc:"Images by state; an image without a check is not counted."`
	Present   int64              `json:"present_bytes" doc:"Disk space of the present images, each layer counted once."`
	Available int64              `json:"available_bytes" doc:"Compressed size of the images that must be pulled, each layer counted once."`
	Separate  int64              `json:"separate_bytes" doc:"The sum of the sizes of all images, with shared layers counted for each image."`
}

// SumImages returns the sums of needs. It counts each layer once among the present images, and once
// among the available ones.
func SumImages(needs []ImageNeed) ImageSums {
	s := ImageSums{Images: len(needs), States: map[ImageState]int{}}
	present, available := LayerSet{}, LayerSet{}
	for _, n := range needs {
		s.Tasks += n.Tasks
		s.Separate += n.Bytes
		if n.State != "" {
			s.States[n.State]++
		}
		switch n.State {
		case ImagePresent:
			s.Present += present.Add(n.Layers)
		case ImageAvailable:
			s.Available += available.Add(n.Layers)
		}
	}
	return s
}

// LayerSet counts, by digest, the images that have a layer.
type LayerSet map[string]int

// Add adds the layers of an image. It returns the bytes of those that the set did not have.
func (s LayerSet) Add(layers []Layer) (added int64) {
	for _, l := range layers {
		if s[l.Digest] == 0 {
			added += l.Bytes
		}
		s[l.Digest]++
	}
	return added
}

// Remove removes the layers of an image. It returns the bytes of those that the set no longer has.
func (s LayerSet) Remove(layers []Layer) (removed int64) {
	for _, l := range layers {
		if s[l.Digest]--; s[l.Digest] <= 0 {
			delete(s, l.Digest)
			removed += l.Bytes
		}
	}
	return removed
}

// PulledImage is an image that relabel pulled and may remove.
type PulledImage struct {
	Engine   string // the engine's unique id
	Image    string // its name, as tasks give it
	ID       string // its id when it was pulled
	Bytes    int64
	Layers   []Layer // with their size on disk; nil for an image that an earlier version pulled
	PulledAt time.Time
	UsedAt   time.Time
}

// Parts are the layers of the image; of one whose layers are unknown, a single layer that no other has.
func (p PulledImage) Parts() []Layer {
	if p.Layers != nil {
		return p.Layers
	}
	return []Layer{{Digest: p.ID, Bytes: p.Bytes}}
}

// ImageStore stores what workers found about the images that tasks need.
type ImageStore interface {
	// RequestImageChecks asks workers to check every image of a taskset, again if it was checked before.
	RequestImageChecks(ctx context.Context, taskset ID) error
	// ListTasksetImages lists the images that the tasks of a taskset need, in the byte order of their
	// names; with a state only those in it. CodeInvalid for an invalid page.
	ListTasksetImages(ctx context.Context, taskset ID, state ImageState, p Page) (needs []ImageNeed, next string, err error)
	// SumTasksetImages returns the sums of these images.
	SumTasksetImages(ctx context.Context, taskset ID) (ImageSums, error)
}
