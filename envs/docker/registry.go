package docker

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/registry"

	"relabel"
)

// Images says where images come from and how many are kept.
type Images struct {
	AtOnce  int      // pulls at once; 0 means 2
	Mirrors []Mirror // the longest From that fits an image's name is taken
	// Credentials, if set, returns the credentials for a registry, e.g. docker.io or
	// registry.example:5000; false where none exist. They are never logged.
	Credentials func(registry string) (c Credentials, found bool, err error)
	// Ledger remembers which images were pulled; without one none is ever removed.
	Ledger Ledger
	// Budget is how many bytes the images that were pulled may take; 0: any number.
	Budget int64
}

// Mirror takes images from another place than their names say; their names stay. An image
// that is named by its digest is not looked for there.
type Mirror struct{ From, To string } // e.g. docker.io/swebench, mirror.example:5000/swebench

// Credentials open a registry.
type Credentials struct{ User, Password, IdentityToken string }

// ParseMirror reads FROM=TO. Errors are CodeInvalid.
func ParseMirror(text string) (Mirror, error) {
	from, to, ok := strings.Cut(text, "=")
	if m := (Mirror{strings.Trim(from, "/"), strings.Trim(to, "/")}); ok && m.From != "" && m.To != "" {
		return m, nil
	}
	return Mirror{}, relabel.Errorf(relabel.CodeInvalid, "no mirror is %q: write FROM=TO, as in docker.io=mirror.example:5000", text)
}

func (i Images) atOnce() int {
	if i.AtOnce <= 0 {
		return 2
	}
	return i.AtOnce
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
		if (strings.HasPrefix(full, m.From+"/")) && len(m.From) > len(best.From) {
			best = m
		}
	}
	if best.From == "" {
		return name, nil
	}
	return best.To + strings.TrimPrefix(full, best.From), nil
}

// authFor returns the credentials for a reference as the engine wants them; "" where there
// are none.
func (i Images) authFor(from string) (string, error) {
	if i.Credentials == nil {
		return "", nil
	}
	named, err := reference.ParseNormalizedNamed(from)
	if err != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "%s is no name of an image", from).Because(err)
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
