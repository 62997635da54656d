package docker

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/registry"

	"relabel"
)

// Images has the settings of pulls and of the images that are kept.
type Images struct {
	AtOnce  int      // maximum number of concurrent pulls; 0 means 2
	Mirrors []Mirror // the one with the longest matching From is used
	// Credentials, if set, finds the credentials of registries.
	Credentials Finder
	// Ledger records the images that were pulled; without one no image is removed.
	Ledger Ledger
	// Budget bounds the size of the pulled images, in bytes; 0 means no limit.
	Budget int64
}

// Mirror is another source of images, which keep their names. It is not used for an image that is
// named by its digest.
type Mirror struct{ From, To string } // e.g. docker.io/swebench, mirror.example:5000/swebench

// Credentials give access to a registry.
type Credentials struct{ User, Password, IdentityToken string }

// Finder returns the credentials for a registry, e.g. docker.io or registry.example:5000; false if
// there are none. They are never logged.
type Finder func(registry string) (c Credentials, found bool, err error)

// ParseMirror reads FROM=TO. Errors are CodeInvalid.
func ParseMirror(text string) (Mirror, error) {
	from, to, ok := strings.Cut(text, "=")
	if m := (Mirror{strings.Trim(from, "/"), strings.Trim(to, "/")}); ok && m.From != "" && m.To != "" {
		return m, nil
	}
	return Mirror{}, relabel.Errorf(relabel.CodeInvalid, "%q is not a mirror: write FROM=TO, for example docker.io=mirror.example:5000", text)
}

// source returns the reference that an image is pulled by.
func (i Images) source(name string) (string, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", err
	}
	if _, byDigest := named.(reference.Digested); byDigest {
		return name, nil
	}
	full, best := reference.TagNameOnly(named).String(), Mirror{}
	for _, m := range i.Mirrors {
		if strings.HasPrefix(full, m.From+"/") && len(m.From) > len(best.From) {
			best = m
		}
	}
	if best.From == "" {
		return name, nil
	}
	return best.To + strings.TrimPrefix(full, best.From), nil
}

// authFor returns the credentials for a reference in the engine's encoding; "" if there are none.
func (i Images) authFor(from string) (string, error) {
	if i.Credentials == nil {
		return "", nil
	}
	named, err := reference.ParseNormalizedNamed(from)
	if err != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "%s is not the name of an image", from).Because(err)
	}
	c, found, err := i.Credentials(reference.Domain(named))
	if err != nil || !found {
		return "", err
	}
	auth, err := registry.EncodeAuthConfig(registry.AuthConfig{Username: c.User, Password: c.Password, IdentityToken: c.IdentityToken, ServerAddress: reference.Domain(named)})
	if err != nil {
		return "", fmt.Errorf("encode the credentials of %s: %w", reference.Domain(named), err)
	}
	return auth, nil
}
