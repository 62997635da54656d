package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/registry"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"relabel"
)

// maxManifest is the largest manifest that is read, in bytes.
const maxManifest = 4 << 20

// Describe implements envs.Engine. This process asks the registry, from the image's mirror if it has one,
// with the same credentials as pulls.
func (h *Host) Describe(ctx context.Context, name string) (relabel.ImageFacts, error) {
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	found, err := h.client.ImageInspect(call, name)
	switch {
	case err == nil:
		layers, err := h.layersOf(call, found)
		return relabel.ImageFacts{State: relabel.ImagePresent, Layers: layers, Digest: digestOf(name, found.RepoDigests)}, err
	case errdefs.IsInvalidArgument(err):
		return relabel.ImageFacts{State: relabel.ImageMissing, Problem: "the name is not the name of an image"}, nil
	case !errdefs.IsNotFound(err):
		return relabel.ImageFacts{}, failed(ctx, "look for image "+name, err)
	}
	facts, err := h.facts(ctx)
	if err != nil {
		return relabel.ImageFacts{}, err
	}
	layers, digest, err := h.readManifest(call, name, facts)
	return describe(layers, digest, err), nil
}

// digestOf returns the digest by which an image was pulled from the repository of its name; "" if it was not pulled.
func digestOf(name string, pulled []string) string {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return ""
	}
	for _, text := range pulled {
		from, err := reference.ParseNormalizedNamed(text)
		if digested, is := from.(reference.Digested); err == nil && is && from.Name() == named.Name() {
			return digested.Digest().String()
		}
	}
	return ""
}

// describe returns the facts of an image that was looked for in its registry.
func describe(layers []relabel.Layer, digest string, err error) relabel.ImageFacts {
	var answer *errcode.ErrorResponse
	refused := errors.As(err, &answer)
	switch {
	case err == nil:
		return relabel.ImageFacts{State: relabel.ImageAvailable, Layers: layers, Digest: digest}
	case errors.Is(err, errdef.ErrNotFound):
		return relabel.ImageFacts{State: relabel.ImageMissing, Problem: "the registry does not have it"}
	case errors.Is(err, errPlatform):
		return relabel.ImageFacts{State: relabel.ImageMissing, Problem: err.Error()}
	case refused && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden), errors.Is(err, auth.ErrBasicCredentialNotFound):
		return relabel.ImageFacts{State: relabel.ImageMissing, Problem: "the registry denies access: it does not have the image, or needs other credentials"}
	}
	return relabel.ImageFacts{State: relabel.ImageUnknown, Problem: "the registry cannot be asked: " + err.Error()}
}

// readManifest returns the layers of an image in its registry, for the engine's platform, and the digest that its
// name has there.
func (h *Host) readManifest(ctx context.Context, name string, facts engineFacts) (layers []relabel.Layer, digest string, err error) {
	repository, tag, err := h.repository(name, facts)
	if err != nil {
		return nil, "", err
	}
	manifest, digest, err := fetchManifest(ctx, repository, tag)
	if err != nil {
		return nil, "", err
	}
	if manifest.Manifests != nil {
		i := slices.IndexFunc(manifest.Manifests, func(d ocispec.Descriptor) bool {
			return d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == facts.architecture
		})
		if i < 0 {
			return nil, "", fmt.Errorf("%w linux/%s", errPlatform, facts.architecture)
		}
		if manifest, _, err = fetchManifest(ctx, repository, manifest.Manifests[i].Digest.String()); err != nil {
			return nil, "", err
		}
	}
	layers = make([]relabel.Layer, len(manifest.Layers))
	for i, l := range manifest.Layers {
		layers[i] = relabel.Layer{Digest: l.Digest.String(), Bytes: max(l.Size, 0)}
	}
	return layers, digest, nil
}

var errPlatform = errors.New("the registry has no image for the engine's platform")

// repository returns the client of the repository that has an image, and the image's tag or digest there.
func (h *Host) repository(name string, facts engineFacts) (*remote.Repository, string, error) {
	from, err := h.images.source(name)
	if err != nil {
		return nil, "", err
	}
	named, err := reference.ParseNormalizedNamed(from)
	if err != nil {
		return nil, "", err
	}
	repository, err := remote.NewRepository(named.Name())
	if err != nil {
		return nil, "", err
	}
	domain := reference.Domain(named)
	repository.PlainHTTP = facts.insecure(domain)
	repository.Client = &auth.Client{Cache: auth.NewCache(), Credential: func(context.Context, string) (auth.Credential, error) {
		return h.images.credential(domain)
	}}
	switch full := reference.TagNameOnly(named).(type) {
	case reference.Digested:
		return repository, full.Digest().String(), nil
	case reference.Tagged:
		return repository, full.Tag(), nil
	}
	return nil, "", fmt.Errorf("%s has neither a tag nor a digest", name)
}

// credential returns the credentials for a registry; empty ones if there are none.
func (i Images) credential(domain string) (auth.Credential, error) {
	if i.Credentials == nil {
		return auth.EmptyCredential, nil
	}
	c, _, err := i.Credentials(domain)
	return auth.Credential{Username: c.User, Password: c.Password, RefreshToken: c.IdentityToken}, err
}

// manifest is an image's manifest, or the index of those of several platforms.
type manifest struct {
	Manifests []ocispec.Descriptor `json:"manifests"`
	Layers    []ocispec.Descriptor `json:"layers"`
}

func fetchManifest(ctx context.Context, repository *remote.Repository, tag string) (m manifest, digest string, err error) {
	descriptor, body, err := repository.Manifests().FetchReference(ctx, tag)
	if err != nil {
		return m, "", err
	}
	defer body.Close()
	if descriptor.Size > maxManifest {
		return m, "", fmt.Errorf("the manifest has %d bytes; at most %d are read", descriptor.Size, maxManifest)
	}
	text, err := content.ReadAll(body, descriptor)
	if err != nil {
		return m, "", err
	}
	return m, descriptor.Digest.String(), json.Unmarshal(text, &m)
}

// insecureBy returns the function that tells which registries the engine asks without TLS.
func insecureBy(c *registry.ServiceConfig) func(domain string) bool {
	return func(domain string) bool {
		if c == nil {
			return false
		}
		if index, known := c.IndexConfigs[domain]; known {
			return !index.Secure
		}
		host, _, err := net.SplitHostPort(domain)
		if err != nil {
			host = domain
		}
		ip := net.ParseIP(host)
		if host == "localhost" {
			ip = net.IPv4(127, 0, 0, 1)
		}
		return ip != nil && slices.ContainsFunc(c.InsecureRegistryCIDRs, func(n *registry.NetIPNet) bool {
			return (*net.IPNet)(n).Contains(ip)
		})
	}
}
