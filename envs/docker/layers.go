package docker

import (
	"context"
	"slices"

	"github.com/docker/docker/api/types/image"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/identity"

	"relabel"
)

// emptyLayer is the digest of a layer without files.
const emptyLayer = "sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"

// layersOf returns the layers of an image on the engine, with their size on disk, the base first. The digest
// of a layer covers those below it too (its chain id), since engines share only equal beginnings.
func (h *Host) layersOf(ctx context.Context, found image.InspectResponse) ([]relabel.Layer, error) {
	history, err := h.client.ImageHistory(ctx, found.ID)
	if err != nil {
		return nil, failed(ctx, "list the layers of image "+found.ID, err)
	}
	var sizes []int64
	for _, step := range slices.Backward(history) {
		if step.Size > 0 {
			sizes = append(sizes, step.Size)
		}
	}
	if len(found.RootFS.Layers) == 0 {
		return []relabel.Layer{}, nil
	}
	return sizedLayers(found.RootFS.Layers, sizes), nil
}

// sizedLayers joins the digests of layers with the sizes of the steps that wrote files. The engine does not
// say which steps made a layer without files, so a size may belong to a neighbour of its layer, but the sum
// is that of the image.
func sizedLayers(digests []string, sizes []int64) []relabel.Layer {
	chain := make([]digest.Digest, len(digests))
	for i, d := range digests {
		chain[i] = digest.Digest(d)
	}
	layers := make([]relabel.Layer, len(digests))
	for i, id := range identity.ChainIDs(chain) {
		layers[i].Digest = id.String()
		if digests[i] != emptyLayer && len(sizes) > 0 {
			layers[i].Bytes, sizes = sizes[0], sizes[1:]
		}
	}
	for _, rest := range sizes {
		layers[len(layers)-1].Bytes += rest
	}
	return layers
}
